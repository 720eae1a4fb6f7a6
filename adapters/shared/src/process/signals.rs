//! Closing connections on SIGINT, SIGTERM and the end of the parent process.

use std::io;
use std::sync::{Mutex, OnceLock, PoisonError, Weak};

/// A target that a signal closes.
pub(crate) trait Closeable: Send + Sync {
    fn close(&self);
}

type Listeners = Mutex<Vec<Weak<dyn Closeable>>>;

static LISTENERS: OnceLock<Listeners> = OnceLock::new();

/// Closes `target` on SIGINT or SIGTERM, as long as it is alive.
///
/// Does nothing in a program that handles one of these signals itself, or was started with one
/// ignored. Once no target is left, the signals end the process with exit code 130.
pub(crate) fn close_on_signal(target: Weak<dyn Closeable>) {
    let listeners = LISTENERS.get_or_init(|| {
        let _handled_by_the_program = ctrlc::try_set_handler(close_all);
        Listeners::default()
    });
    let mut listeners = listeners.lock().unwrap_or_else(PoisonError::into_inner);
    listeners.retain(|listener| listener.strong_count() > 0);
    listeners.push(target);
}

fn close_all() {
    let targets: Vec<_> = match LISTENERS.get() {
        Some(listeners) => {
            let listeners = listeners.lock().unwrap_or_else(PoisonError::into_inner);
            listeners.iter().filter_map(Weak::upgrade).collect()
        }
        None => Vec::new(),
    };
    if targets.is_empty() {
        std::process::exit(130);
    }
    for target in targets {
        target.close();
    }
}

/// Closes `target` once the parent process has ended, as long as `target` is alive.
///
/// # Errors
/// Fails if the thread that watches the parent cannot be started.
#[cfg(unix)]
pub(crate) fn close_with_parent(target: Weak<dyn Closeable>) -> io::Result<()> {
    use std::os::unix::process::parent_id;
    use std::thread;

    let parent = parent_id();
    let watch = move || {
        while target.strong_count() > 0 {
            if parent_id() != parent {
                if let Some(target) = target.upgrade() {
                    target.close();
                }
                return;
            }
            thread::sleep(PARENT_CHECK_INTERVAL);
        }
    };
    thread::Builder::new().name("mcp-parent".into()).spawn(watch).map(drop)
}

/// Does nothing: other systems do not report a new parent.
#[cfg(not(unix))]
pub(crate) fn close_with_parent(_: Weak<dyn Closeable>) -> io::Result<()> {
    Ok(())
}

/// How often the parent is checked.
#[cfg(unix)]
const PARENT_CHECK_INTERVAL: std::time::Duration = std::time::Duration::from_millis(500);
