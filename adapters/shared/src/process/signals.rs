//! Closing connections on SIGINT, SIGTERM and SIGHUP, and on the console events of Windows.
//!
//! A signal that was ignored when the process started stays ignored: shells ignore SIGINT for
//! background jobs, and `nohup` ignores SIGHUP.

#[cfg(unix)]
use std::sync::OnceLock;
use std::sync::{Mutex, Once, PoisonError, Weak};

/// A target that a signal closes.
pub(crate) trait Closeable: Send + Sync {
    fn close(&self);
}

static TARGETS: Mutex<Vec<Weak<dyn Closeable>>> = Mutex::new(Vec::new());

/// Closes `target` when a signal arrives, as long as it is alive.
///
/// Once no target is left, a signal ends the process with exit code 130.
pub(crate) fn close_on_signal(target: Weak<dyn Closeable>) {
    let mut targets = TARGETS.lock().unwrap_or_else(PoisonError::into_inner);
    targets.retain(|target| target.strong_count() > 0);
    targets.push(target);
}

/// Receives the signals on a thread, for adapters whose runtime does not receive signals.
///
/// Does nothing in a program that handles one of the signals itself.
pub(crate) fn receive_signals() {
    static RECEIVED: Once = Once::new();
    RECEIVED.call_once(system::receive);
}

#[cfg(not(windows))]
mod system {
    use super::{close_on_received_signal, dispositions};

    pub(super) fn receive() {
        #[cfg(unix)]
        super::ignores_hangup();
        // Fails if one of the signals is ignored or handled.
        if ctrlc::try_set_handler(close_on_received_signal).is_err() && dispositions::keep_ignored()
        {
            let _signals_end_the_process = ctrlc::set_handler(close_on_received_signal);
        }
    }
}

/// Ctrl-C, Ctrl-Break, and the end of the console, of the session or of the system.
///
/// The system ends a process as soon as its handler of one of the last three events returns. The
/// handlers of tokio do not return, so that the program has the time that the system grants (5 s by
/// default). They need no runtime of tokio.
#[cfg(windows)]
mod system {
    use std::future::poll_fn;
    use std::io;
    use std::task::Poll;
    use std::thread;

    use futures_lite::future::block_on;
    use tokio::signal::windows;

    use super::close_on_received_signal;

    /// Without a thread, or without handlers, the events end the process.
    pub(super) fn receive() {
        let Ok(mut received) = Events::new() else { return };
        let run = move || {
            loop {
                block_on(received.next());
                close_on_received_signal();
            }
        };
        let _unhandled = thread::Builder::new().name("mcp-signals".into()).spawn(run);
    }

    struct Events {
        interrupt: windows::CtrlC,
        interrupt_break: windows::CtrlBreak,
        close: windows::CtrlClose,
        log_off: windows::CtrlLogoff,
        shutdown: windows::CtrlShutdown,
    }

    impl Events {
        fn new() -> io::Result<Self> {
            Ok(Self {
                interrupt: windows::ctrl_c()?,
                interrupt_break: windows::ctrl_break()?,
                close: windows::ctrl_close()?,
                log_off: windows::ctrl_logoff()?,
                shutdown: windows::ctrl_shutdown()?,
            })
        }

        /// Waits for the next event.
        async fn next(&mut self) {
            poll_fn(|context| {
                let arrived = [
                    self.interrupt.poll_recv(context),
                    self.interrupt_break.poll_recv(context),
                    self.close.poll_recv(context),
                    self.log_off.poll_recv(context),
                    self.shutdown.poll_recv(context),
                ];
                if arrived.iter().any(Poll::is_ready) { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }
    }
}

/// Closes all connections and HTTP servers that react to signals.
///
/// If there are none, exits the process with code 130. Adapters whose runtime receives signals call
/// this whenever one of [`closing_signals`] arrives.
#[cfg_attr(not(unix), allow(unreachable_pub, reason = "public for the runtimes of Unix"))]
pub fn close_on_received_signal() {
    let targets: Vec<_> = {
        let targets = TARGETS.lock().unwrap_or_else(PoisonError::into_inner);
        targets.iter().filter_map(Weak::upgrade).collect()
    };
    if targets.is_empty() {
        std::process::exit(130);
    }
    for target in targets {
        target.close();
    }
}

/// An operating-system signal that makes a stdio server shut down.
#[cfg(unix)]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ClosingSignal {
    /// SIGHUP.
    Hangup,
    /// SIGINT.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

#[cfg(unix)]
impl ClosingSignal {
    const ALL: [Self; 3] = [Self::Hangup, Self::Interrupt, Self::Terminate];

    #[cfg(any(target_os = "linux", target_os = "android"))]
    const fn as_nix(self) -> nix::sys::signal::Signal {
        use nix::sys::signal::Signal;
        match self {
            Self::Hangup => Signal::SIGHUP,
            Self::Interrupt => Signal::SIGINT,
            Self::Terminate => Signal::SIGTERM,
        }
    }

    /// Returns the bit of this signal in a mask of the system.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const fn bit(self) -> u64 {
        1 << (self.as_nix() as u32 - 1)
    }
}

/// Returns the signals that an adapter must handle.
///
/// On Linux and Android, these are the signals that the process does not ignore. On other Unix
/// systems, these are always SIGINT and SIGTERM.
#[cfg(unix)]
#[must_use]
pub fn closing_signals() -> Vec<ClosingSignal> {
    ClosingSignal::ALL.into_iter().filter(|signal| !dispositions::is_ignored(*signal)).collect()
}

/// Returns whether this process ignored SIGHUP at first, as below `nohup`; false if the system does
/// not say.
#[cfg(unix)]
pub(super) fn ignores_hangup() -> bool {
    // Kept, because a signal that is received is no longer ignored.
    static IGNORES: OnceLock<bool> = OnceLock::new();
    *IGNORES.get_or_init(|| {
        cfg!(any(target_os = "linux", target_os = "android"))
            && dispositions::is_ignored(ClosingSignal::Hangup)
    })
}

/// What the process does on a signal, as Linux reports it.
#[cfg(any(target_os = "linux", target_os = "android"))]
mod dispositions {
    use nix::sys::signal::SigSet;

    use super::ClosingSignal;

    pub(super) fn is_ignored(signal: ClosingSignal) -> bool {
        mask("SigIgn:") & signal.bit() != 0
    }

    /// Prepares to handle all signals although some are ignored: blocks these in this thread and
    /// in all threads that it starts. Returns false if the program handles a signal itself.
    ///
    /// A thread that was started before still receives them; no safe function handles one signal
    /// alone.
    pub(super) fn keep_ignored() -> bool {
        let handled = mask("SigCgt:");
        if ClosingSignal::ALL.into_iter().any(|signal| handled & signal.bit() != 0) {
            return false;
        }
        let ignored = ClosingSignal::ALL.into_iter().filter(|signal| is_ignored(*signal));
        let ignored: SigSet = ignored.map(ClosingSignal::as_nix).collect();
        ignored != SigSet::empty() && ignored.thread_block().is_ok()
    }

    /// Returns a mask of signals from the status of this process; zero if it cannot be read.
    fn mask(name: &str) -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let digits = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        u64::from_str_radix(digits.trim(), 16).unwrap_or(0)
    }
}

/// Other systems do not report what is ignored without unsafe code. SIGHUP is then left alone.
#[cfg(not(any(target_os = "linux", target_os = "android", windows)))]
mod dispositions {
    #[cfg(unix)]
    pub(super) fn is_ignored(signal: super::ClosingSignal) -> bool {
        signal == super::ClosingSignal::Hangup
    }

    pub(super) fn keep_ignored() -> bool {
        false
    }
}
