//! What processes that tests start do on signals.

/// Makes the processes that this process starts from now on handle each signal by default.
///
/// A process inherits the signals that its parent ignores: shells ignore SIGINT in background jobs,
/// and `nohup` ignores SIGHUP. What the parent handles, however, is handled by default in a new
/// program. So each ignored signal gets a handler here that does nothing, which makes no difference
/// for this process. (The standard library unblocks all signals in a new process, and stops
/// ignoring SIGPIPE.)
///
/// Does nothing on systems other than Linux, which report what is ignored to unsafe code only.
#[cfg(target_os = "linux")]
pub fn reset_signals() {
    static RESET: std::sync::Once = std::sync::Once::new();
    RESET.call_once(|| {
        let ignored = ignored();
        if ignored.is_empty() {
            return;
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        let runtime = runtime.expect("a runtime without threads can be created");
        let _entered = runtime.enter();
        for signal in ignored {
            // The handler stays when its receiver is dropped. None is possible for SIGILL, SIGFPE
            // and SIGSEGV.
            let _dropped =
                tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(signal));
        }
    });
}

#[cfg(not(target_os = "linux"))]
#[allow(missing_docs, reason = "documented for Linux")]
pub fn reset_signals() {}

/// Returns the standard signals that this process ignores, except SIGPIPE, which each Rust program
/// ignores.
#[cfg(target_os = "linux")]
fn ignored() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let is_ignored = |signal: &i32| mask & (1 << (signal - 1)) != 0;
    (1..32).filter(|signal| *signal != SIGPIPE).filter(is_ignored).collect()
}

#[cfg(target_os = "linux")]
const SIGPIPE: i32 = nix::sys::signal::Signal::SIGPIPE as i32;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use crate::Process;

    /// Makes [`ignores_nothing`] report instead of pass.
    const INNER: &str = "MCP_IGNORED_SIGNALS";

    /// Runs in the processes that the other test starts, which ignore signals.
    #[test]
    fn ignores_nothing() {
        if std::env::var_os(INNER).is_none() {
            return;
        }
        let mut status = Command::new("grep");
        status.args(["^Sig[BI]", "/proc/self/status"]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut status = Process::start(&mut status);
        let said = std::io::read_to_string(status.stdout.take().unwrap()).unwrap();
        let masks = said.lines().map(|line| line.split_once(":\t").unwrap());
        for (name, mask) in masks {
            // The C library ignores two real-time signals in processes that it starts.
            let standard = u64::from_str_radix(mask, 16).unwrap() & 0x7fff_ffff;
            assert_eq!(standard, 0, "{name}");
        }
    }

    #[test]
    fn processes_ignore_no_signal_although_the_test_does() {
        let program = std::env::current_exe().unwrap();
        for ignored in ["INT", "HUP", "TERM", "INT HUP QUIT TERM PIPE USR1 USR2 ALRM TTIN TTOU"] {
            let mut command = Command::new("sh");
            let script = format!("trap '' {ignored}; exec \"$0\" \"$@\"");
            command.args(["-c", &script]).arg(&program);
            command.args(["--exact", "signals::tests::ignores_nothing"]).env(INNER, "1");
            command.stdin(Stdio::null()).stdout(Stdio::piped());
            let mut inner = Process::start(&mut command);
            let said = std::io::read_to_string(inner.stdout.take().unwrap()).unwrap();
            assert!(inner.wait().success(), "{ignored}: {said}");
            assert!(said.contains("1 passed"), "{ignored}: {said}");
        }
    }
}
