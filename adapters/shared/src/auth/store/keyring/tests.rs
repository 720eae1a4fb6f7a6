//! Tests against the mock of the crate that gives access to keyrings.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::process;
use std::thread;

use keyring_core::api::CredentialStoreApi as _;
use keyring_core::mock;
use mcp_proto::Secret;

use super::*;

/// A directory that is deleted when dropped.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("mcp-keyring-{}-{name}", process::id()));
        let _none = fs::remove_dir_all(&path);
        Self(path)
    }

    fn open(&self, keyring: &mock::Store) -> io::Result<SealedStore<FileStore>> {
        SealedStore::with_keyring(FileStore::new(&self.0), keyring, "app")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _left = fs::remove_dir_all(&self.0);
    }
}

fn read(store: &SealedStore<FileStore>) -> io::Result<Option<Secret>> {
    store.acquire(&RecordKey::grant("https://mcp.example", "a", []), LOCK_TIMEOUT)?.read()
}

fn save(store: &SealedStore<FileStore>) {
    let key = RecordKey::grant("https://mcp.example", "a", []);
    store.acquire(&key, LOCK_TIMEOUT).unwrap().save(&"hunter2".into()).unwrap();
}

fn error_of<T>(outcome: io::Result<T>) -> KeyringError {
    let Err(error) = outcome else { panic!("the keyring was used") };
    error.get_ref().and_then(|error| error.downcast_ref()).cloned().unwrap()
}

#[test]
fn the_key_is_created_once_and_kept_in_the_keyring() {
    let directory = Directory::new("once");
    let keyring = mock::Store::new().unwrap();
    save(&directory.open(&keyring).unwrap());
    let key = keyring.build("app", ENTRY, None).unwrap().get_secret().unwrap();
    assert_eq!(key.len(), 32);
    assert_ne!(key, [0; 32]);
    let again = directory.open(&keyring).unwrap();
    assert_eq!(read(&again).unwrap(), Some("hunter2".into()));
    let other = directory.open(&mock::Store::new().unwrap()).unwrap();
    assert_eq!(read(&other).unwrap_err().kind(), io::ErrorKind::InvalidData);
}

#[test]
fn programs_that_start_together_create_one_key() {
    let directory = Directory::new("race");
    let keyring = mock::Store::new().unwrap();
    let keys: BTreeSet<_> = thread::scope(|scope| {
        // Each has found no key.
        let create = || {
            let entry = keyring.build("app", ENTRY, None).unwrap();
            create(&FileStore::new(&directory.0), &entry).unwrap().to_vec()
        };
        let started: Vec<_> = (0..8).map(|_| scope.spawn(create)).collect();
        started.into_iter().map(|started| started.join().unwrap()).collect()
    });
    assert_eq!(keys.len(), 1);
}

#[test]
fn a_keyring_that_cannot_be_used_is_explained() {
    let directory = Directory::new("none");
    let keyring = mock::Store::new().unwrap();
    let entry = keyring.build("app", ENTRY, None).unwrap();
    let credential = entry.as_any().downcast_ref::<mock::Cred>().unwrap();
    credential.set_error(Failure::NoStorageAccess("locked".into()));
    let error = error_of(directory.open(&keyring));
    assert!(matches!(&error, KeyringError::Unavailable { why } if why.contains("locked")));
    assert!(error.to_string().contains("SealedStore::new"), "{error}");
    assert!(!directory.0.exists(), "nothing was written");
    credential.set_error(Failure::BadDataFormat(b"hunter2".to_vec(), "hunter2".into()));
    let error = error_of(directory.open(&keyring));
    assert_eq!(error, KeyringError::Damaged);
    entry.set_secret(b"hunter2").unwrap();
    let error = error_of(directory.open(&keyring));
    assert_eq!(error, KeyringError::Damaged);
    assert!(!format!("{error} {error:?}").contains("hunter2"));
}

/// The kernel's keys need a kernel and a container that allow them.
#[cfg(target_os = "linux")]
#[test]
fn the_keyring_of_this_system_is_used_if_there_is_one() {
    let directory = Directory::new("system");
    let application = format!("mcp-keyring-test-{}", process::id());
    let opened = SealedStore::keyring(&directory.0, &application);
    let Ok(store) = opened else {
        let error = error_of(opened);
        assert!(matches!(error, KeyringError::Unavailable { .. }), "{error}");
        return;
    };
    save(&store);
    let again = SealedStore::keyring(&directory.0, &application).unwrap();
    assert_eq!(read(&again).unwrap(), Some("hunter2".into()));
    let entry = system_keyring().unwrap().build(&application, ENTRY, None).unwrap();
    entry.delete_credential().unwrap();
}
