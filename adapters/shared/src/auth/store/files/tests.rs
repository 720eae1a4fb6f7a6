//! Tests of the store of files, with several processes.

#![cfg(unix)]

use std::env;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const SOON: Duration = Duration::from_secs(40);

/// A directory that is removed with its test.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("mcp-file-store-{}-{number}", std::process::id());
        let path = env::temp_dir().join(name);
        let _absent = fs::remove_dir_all(&path);
        Self(path)
    }

    fn store(&self) -> FileStore {
        FileStore::new(&self.0)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(file_name(&key(name)))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _absent = fs::remove_dir_all(&self.0);
    }
}

fn key(name: &str) -> RecordKey {
    RecordKey::grant("https://mcp.example/../mcp?a=b \u{7}", name, [])
}

fn save(store: &FileStore, name: &str, record: &str) {
    store.acquire(&key(name), SOON).unwrap().save(&record.into()).unwrap();
}

fn read(store: &FileStore, name: &str) -> io::Result<Option<Secret>> {
    store.acquire(&key(name), SOON).unwrap().read()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o777
}

// AUT-58: confidential at rest.
#[test]
fn records_are_private_and_named_by_digests() {
    let scratch = Scratch::new();
    let name = "../../hunter2";
    assert_eq!(read(&scratch.store(), name).unwrap(), None);
    save(&scratch.store(), name, "one");
    save(&scratch.store(), name, "two");
    save(&scratch.store(), "other", "three");
    assert_eq!(read(&scratch.store(), name).unwrap(), Some("two".into()));
    assert_eq!(mode(&scratch.0), 0o700);
    let files: Vec<_> = fs::read_dir(&scratch.0).unwrap().map(|file| file.unwrap()).collect();
    assert_eq!(files.len(), 4, "two records and their locks");
    for file in files {
        let name = file.file_name().into_string().unwrap();
        let (digest, extension) = name.split_once('.').unwrap();
        assert!(digest.starts_with("grant-") && digest.len() == 49, "{name}");
        assert!(["json", "lock"].contains(&extension), "{name}");
        assert_eq!(mode(&file.path()), 0o600, "{name}");
    }
}

#[test]
fn a_locked_record_is_waited_for() {
    let scratch = Scratch::new();
    let held = scratch.store().acquire(&key("a"), SOON).unwrap();
    let error = scratch.store().acquire(&key("a"), Duration::from_millis(20)).err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert!(error.to_string().contains("20ms"), "{error}");
    assert_eq!(read(&scratch.store(), "b").unwrap(), None);
    drop(held);
    assert_eq!(read(&scratch.store(), "a").unwrap(), None);
}

#[test]
fn a_directory_of_others_is_refused() {
    let scratch = Scratch::new();
    save(&scratch.store(), "a", "one");
    fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o750)).unwrap();
    let error = scratch.store().acquire(&key("a"), SOON).err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    assert!(error.to_string().contains("(mode 750): set its mode to 700"), "{error}");
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let scratch = Scratch::new();
    fs::write(&scratch.0, "a file").unwrap();
    let below = scratch.0.join("below");
    let error = FileStore::new(&below).acquire(&key("a"), SOON).err().unwrap().to_string();
    fs::remove_file(&scratch.0).unwrap();
    assert!(error.contains(below.to_str().unwrap()), "{error}");
    assert!(error.contains("choose a writable directory"), "{error}");
    for kind in [io::ErrorKind::StorageFull, io::ErrorKind::ReadOnlyFilesystem] {
        let error = explain("cannot write", &below, &kind.into());
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().contains(": free space") || error.to_string().contains("writab"));
    }
}

#[test]
fn links_are_not_followed() {
    let (scratch, outside) = (Scratch::new(), Scratch::new());
    save(&scratch.store(), "a", "one");
    save(&outside.store(), "a", "outside");
    let (file, target) = (scratch.file("a"), outside.file("a"));
    fs::remove_file(&file).unwrap();
    symlink(&target, &file).unwrap();
    let error = read(&scratch.store(), "a").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    assert!(error.to_string().contains("not a regular file: delete it"), "{error}");

    symlink(&target, file.with_extension("new")).unwrap();
    save(&scratch.store(), "a", "two");
    assert_eq!(read(&scratch.store(), "a").unwrap(), Some("two".into()));
    assert_eq!(read(&outside.store(), "a").unwrap(), Some("outside".into()));

    let lock = file.with_extension("lock");
    fs::remove_file(&lock).unwrap();
    symlink(&target, &lock).unwrap();
    scratch.store().acquire(&key("a"), SOON).err().unwrap();
}

#[test]
fn a_damaged_record_is_reported_and_can_be_replaced() {
    let scratch = Scratch::new();
    save(&scratch.store(), "a", "one");
    let long = "x".repeat(RECORD_BYTES_MAX + 1);
    for (damage, why) in [
        (&b""[..], "an empty file"),
        (b"\xff hunter2", "not UTF-8"),
        (long.as_bytes(), "longer than 256 KiB"),
    ] {
        fs::write(scratch.file("a"), damage).unwrap();
        let error = read(&scratch.store(), "a").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        let error = error.to_string();
        assert!(error.contains(why) && error.contains("delete it to sign in again"), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
        save(&scratch.store(), "a", "two");
        assert_eq!(read(&scratch.store(), "a").unwrap(), Some("two".into()));
    }
}

#[test]
fn a_record_survives_a_failed_save() {
    let scratch = Scratch::new();
    save(&scratch.store(), "a", "one");
    // The new record cannot be written beside the old one.
    fs::create_dir(scratch.file("a").with_extension("new")).unwrap();
    let mut record = scratch.store().acquire(&key("a"), SOON).unwrap();
    let error = record.save(&"hunter2".into()).unwrap_err().to_string();
    assert!(error.contains("cannot write") && !error.contains("hunter2"), "{error}");
    record.save(&Secret::new("x".repeat(RECORD_BYTES_MAX + 1))).unwrap_err();
    assert_eq!(record.read().unwrap(), Some("one".into()));
}

#[test]
fn what_a_killed_process_was_writing_is_ignored_and_replaced() {
    let scratch = Scratch::new();
    save(&scratch.store(), "a", "one");
    fs::write(scratch.file("a").with_extension("new"), "tw").unwrap();
    assert_eq!(read(&scratch.store(), "a").unwrap(), Some("one".into()));
    save(&scratch.store(), "a", "three");
    assert_eq!(read(&scratch.store(), "a").unwrap(), Some("three".into()));
    assert!(!scratch.file("a").with_extension("new").exists());
}

#[test]
fn a_removed_record_is_gone() {
    let scratch = Scratch::new();
    save(&scratch.store(), "a", "one");
    let mut record = scratch.store().acquire(&key("a"), SOON).unwrap();
    record.remove().unwrap();
    record.remove().unwrap();
    drop(record);
    assert_eq!(read(&scratch.store(), "a").unwrap(), None);
    fs::create_dir(scratch.file("a")).unwrap();
    let error = scratch.store().acquire(&key("a"), SOON).unwrap().remove().unwrap_err();
    assert!(error.to_string().contains("cannot delete"), "{error}");
}

/// The name of the environment variable that makes [`other_process`] do something.
const TASK: &str = "MCP_FILE_STORE_TASK";

/// Starts this test program as another process that shares its files.
fn spawn(scratch: &Scratch, task: &str) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "auth::store::files::tests::other_process", "--nocapture"])
        .env(TASK, task)
        .env("MCP_FILE_STORE_DIRECTORY", &scratch.0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs in the processes that other tests start.
#[test]
fn other_process() {
    let Ok(task) = env::var(TASK) else { return };
    let store = FileStore::new(env::var("MCP_FILE_STORE_DIRECTORY").unwrap());
    if task == "hold" {
        let _held = store.acquire(&key("a"), SOON).unwrap();
        println!("\nheld");
        // The test ends this process.
        std::thread::sleep(10 * SOON);
    }
    (0..ROUNDS).for_each(|_| increment(&store));
}

const ROUNDS: usize = 60;

fn increment(store: &FileStore) {
    let mut record = store.acquire(&key("count"), SOON).unwrap();
    let count = record.read().unwrap().map_or(0, |count| count.expose().parse::<usize>().unwrap());
    record.save(&(count + 1).to_string().into()).unwrap();
}

// AUT-60: one process at a time renews a token.
#[test]
fn processes_lose_no_update() {
    let scratch = Scratch::new();
    let mut others = [spawn(&scratch, "count"), spawn(&scratch, "count")];
    (0..ROUNDS).for_each(|_| increment(&scratch.store()));
    for other in &mut others {
        assert!(other.wait().unwrap().success());
    }
    let count = read(&scratch.store(), "count").unwrap().unwrap();
    assert_eq!(count.expose(), (3 * ROUNDS).to_string());
}

#[test]
fn a_killed_process_frees_its_lock() {
    let scratch = Scratch::new();
    let mut other = spawn(&scratch, "hold");
    let mut lines = BufReader::new(other.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "held"));
    let error = scratch.store().acquire(&key("a"), Duration::ZERO).err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(read(&scratch.store(), "a").unwrap(), None);
}
