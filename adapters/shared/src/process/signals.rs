//! Signs that a process is to end: SIGINT, SIGTERM, and the end of its parent; knows nothing of
//! what is closed then.

use std::io;
use std::sync::{Mutex, OnceLock, PoisonError, Weak};

/// Something that can be closed.
pub(crate) trait Closeable: Send + Sync {
    fn close(&self);
}

type Listeners = Mutex<Vec<Weak<dyn Closeable>>>;

static LISTENERS: OnceLock<Listeners> = OnceLock::new();

/// Closes `target` at SIGINT or SIGTERM, for as long as it lives.
///
/// A program that handles one of these signals itself, or was started with one ignored, keeps them
/// all as they are, and nothing happens here. Once nothing that was to be closed is left, the
/// signals end the process at once, with exit code 130.
pub(crate) fn close_on_signal(target: Weak<dyn Closeable>) {
    let listeners = LISTENERS.get_or_init(|| {
        let _taken_by_the_program = ctrlc::try_set_handler(close_all);
        Listeners::default()
    });
    let mut listeners = listeners.lock().unwrap_or_else(PoisonError::into_inner);
    listeners.retain(|listener| listener.strong_count() > 0);
    listeners.push(target);
}

fn close_all() {
    let listening: Vec<_> = match LISTENERS.get() {
        Some(listeners) => {
            let listeners = listeners.lock().unwrap_or_else(PoisonError::into_inner);
            listeners.iter().filter_map(Weak::upgrade).collect()
        }
        None => Vec::new(),
    };
    if listening.is_empty() {
        std::process::exit(130);
    }
    for listener in listening {
        listener.close();
    }
}

/// Closes `target` once the process that started this one is gone, for as long as it lives. Looks
/// twice a second.
///
/// # Errors
/// When there is no thread for it.
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
            thread::sleep(LOOK);
        }
    };
    thread::Builder::new().name("mcp-parent".into()).spawn(watch).map(drop)
}

/// Other systems do not say.
#[cfg(not(unix))]
pub(crate) fn close_with_parent(_: Weak<dyn Closeable>) -> io::Result<()> {
    Ok(())
}

/// How long the end of a parent may go unnoticed.
#[cfg(unix)]
const LOOK: std::time::Duration = std::time::Duration::from_millis(500);
