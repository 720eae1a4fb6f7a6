//! Tests of the store of tasks, with processes that are killed while they save.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use redb::StorageBackend;
use redb::backends::InMemoryBackend;

use mcp_proto::tasks::{NewTask, Requestor, TaskLimits, TaskProtocol, TaskTable, TaskTime};

use super::*;

/// The environment variable that names the file of [`other_process`].
const PATH: &str = "MCP_TASK_STORE_PATH";

/// A file that is removed with its test.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("mcp-task-store-{}-{number}", std::process::id());
        let directory = env::temp_dir().join(name);
        let _absent = fs::remove_dir_all(&directory);
        fs::create_dir(&directory).unwrap();
        Self(directory.join("tasks"))
    }

    fn open(&self) -> FileTaskStore {
        FileTaskStore::open(&self.0).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _absent = fs::remove_dir_all(self.0.parent().unwrap());
    }
}

fn id(number: u8) -> TaskId {
    TaskId::from_random([number; 16])
}

/// Creates a record whose result contains `count`, and pages of other text.
fn record_at(unix_ms: u64, task: u8, count: usize) -> TaskRecord {
    let time = TaskTime { unix_ms, ..TaskTime::default() };
    let mut table = TaskTable::new(TaskLimits::default());
    let requestor = Requestor { principal: None, protocol: TaskProtocol::Extension };
    table.create(time, requestor, id(task), NewTask::default()).unwrap();
    let text = format!(r#"{{"count":{count},"text":"{}"}}"#, "x".repeat(count * 97 % 20_000));
    table.complete(time, id(task), Raw::from_text(&text).unwrap()).unwrap();
    table.record(id(task)).unwrap()
}

fn record(task: u8, count: usize) -> TaskRecord {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    // Whole days, so that two processes create equal records.
    record_at(now.as_secs() / 86_400 * 86_400_000 + 86_400_000, task, count)
}

fn loaded(store: &FileTaskStore) -> BTreeMap<TaskId, TaskRecord> {
    store.load().unwrap().into_iter().map(|record| (record.id(), record)).collect()
}

#[test]
fn records_survive_replacement_removal_and_reopening() {
    let scratch = Scratch::new();
    let store = scratch.open();
    for (task, count) in [(1, 1), (2, 2), (3, 3), (2, 200)] {
        store.save(&record(task, count)).unwrap();
    }
    store.remove(id(1)).unwrap();
    store.remove(id(9)).unwrap();
    drop(store);
    let expected = [record(2, 200), record(3, 3)].map(|record| (record.id(), record));
    assert_eq!(loaded(&scratch.open()), BTreeMap::from(expected));
}

#[test]
fn the_file_is_private_and_alone() {
    let scratch = Scratch::new();
    drop(scratch.open());
    assert_eq!(fs::metadata(&scratch.0).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(scratch.0.parent().unwrap()).unwrap().count(), 1);

    fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o640)).unwrap();
    let error = FileTaskStore::open(&scratch.0).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    assert!(error.to_string().contains("mode 640"), "{error}");

    let link = scratch.0.with_extension("link");
    symlink(&scratch.0, &link).unwrap();
    FileTaskStore::open(link).unwrap_err();
    FileTaskStore::open(scratch.0.parent().unwrap()).unwrap_err();
    let error = FileTaskStore::open(scratch.0.with_file_name("absent").join("tasks")).unwrap_err();
    assert!(error.to_string().contains("create its directory"), "{error}");
}

#[test]
fn a_file_of_another_kind_is_refused_and_kept() {
    let scratch = Scratch::new();
    fs::write(&scratch.0, "notes".repeat(1000)).unwrap();
    fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o600)).unwrap();
    let error = FileTaskStore::open(&scratch.0).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    assert_eq!(fs::read_to_string(&scratch.0).unwrap(), "notes".repeat(1000));
}

#[test]
fn unreadable_records_are_skipped_and_kept() {
    let scratch = Scratch::new();
    let store = scratch.open();
    store.save(&record(1, 1)).unwrap();
    let version_2 = record(2, 2).to_json().as_str().replace("\"version\":1", "\"version\":2");
    let stored = [(id(2), version_2.as_bytes()), (id(3), b"\xff{"), (id(4), b"[]")];
    let misplaced = record(1, 1).to_json();
    let stored = stored.into_iter().chain([(id(5), misplaced.as_bytes())]);
    for (id, bytes) in stored {
        store.write(|table| table.insert(&*id.to_text(), bytes).map(drop)).unwrap();
    }
    for _ in 0..2 {
        assert_eq!(loaded(&store), BTreeMap::from([(id(1), record(1, 1))]));
    }
    assert_eq!(store.write(|table| Ok(table.iter()?.count())).unwrap(), 5);
}

/// A file on a disk that is full once it is `is_full`.
#[derive(Debug)]
struct Disk {
    bytes: InMemoryBackend,
    is_full: Arc<AtomicBool>,
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        self.bytes.len()
    }

    fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        self.bytes.read(offset, length)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.bytes.set_len(length)
    }

    fn sync_data(&self, eventual: bool) -> io::Result<()> {
        self.bytes.sync_data(eventual)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if self.is_full.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.write(offset, data)
    }
}

#[test]
fn records_are_saved_again_after_the_disk_was_full() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let is_full = Arc::new(AtomicBool::new(false));
    let disk = Disk { bytes: InMemoryBackend::new(), is_full: Arc::clone(&is_full) };
    let full = Database::builder().create_with_backend(disk).unwrap();
    *store.database.lock().unwrap() = Some(full);
    store.save(&record(1, 1)).unwrap();
    is_full.store(true, Ordering::SeqCst);
    let error = store.save(&record(2, 2)).unwrap_err();
    assert!(error.to_string().contains("free space on the disk"), "{error}");
    // Opened again: the file of this test is on another disk.
    store.save(&record(3, 3)).unwrap();
    assert_eq!(loaded(&store), BTreeMap::from([(id(3), record(3, 3))]));
}

#[test]
fn expired_records_are_removed() {
    let scratch = Scratch::new();
    let store = scratch.open();
    store.save(&record_at(1, 1, 1)).unwrap();
    store.save(&record(2, 2)).unwrap();
    assert_eq!(loaded(&store), BTreeMap::from([(id(2), record(2, 2))]));
    assert_eq!(store.write(|table| Ok(table.iter()?.count())).unwrap(), 1);
}

/// Starts this test program as another process that saves records until it is killed.
fn spawn(scratch: &Scratch) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "tasks::file_store::tests::other_process", "--nocapture"])
        .env(PATH, &scratch.0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs in the processes that another test starts: reports each save that returned.
#[test]
fn other_process() {
    let Some(path) = env::var_os(PATH) else { return };
    let store = FileTaskStore::open(PathBuf::from(path)).unwrap();
    let saved = loaded(&store);
    let first = saved.values().map(count).max().unwrap_or(0) + 1;
    let mut output = io::stdout().lock();
    // Ends by itself if the test fails to end it.
    for count in first..first + 100_000 {
        store.save(&record(u8::try_from(count % 8).unwrap(), count)).unwrap();
        writeln!(output, "\nsaved {count}").unwrap();
        output.flush().unwrap();
    }
}

fn count(record: &TaskRecord) -> usize {
    record.to_json().member("result").unwrap().member("count").unwrap().parse().unwrap()
}

#[test]
fn what_was_saved_survives_a_killed_process() {
    let scratch = Scratch::new();
    let mut acknowledged = 0;
    for round in 0..20 {
        let mut other = spawn(&scratch);
        let lines = BufReader::new(other.stdout.take().unwrap()).lines();
        let saves = lines.filter_map(|line| line.unwrap().strip_prefix("saved ")?.parse().ok());
        let mut saves = saves.inspect(|count: &usize| acknowledged = *count);
        // The process is killed immediately after a save, which mostly meets the next one.
        assert!(saves.nth(round % 7).is_some());
        assert_eq!(FileTaskStore::open(&scratch.0).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        other.kill().unwrap();
        saves.for_each(drop);
        other.wait().unwrap();

        let store = scratch.open();
        let records = loaded(&store);
        // At most one save took effect without a report.
        let last = records.values().map(count).max().unwrap();
        assert!((acknowledged..=acknowledged + 1).contains(&last), "{last}, not {acknowledged}");
        for found in records.values() {
            let count = count(found);
            assert_eq!(*found, record(u8::try_from(count % 8).unwrap(), count));
        }
        let kept: Vec<usize> = records.values().map(count).collect();
        let expected = (last.saturating_sub(7).max(1)..=last).count();
        assert_eq!((kept.len(), kept.iter().min()), (expected, Some(&(last + 1 - expected))));
    }
}
