//! Opens URLs in the browser of the system.

use std::io;

/// Opens a URL that was checked.
#[cfg(windows)]
pub(super) fn open(url: &str) -> io::Result<()> {
    // With its feature `shellexecute-on-windows`, the crate calls the system and no shell.
    open::that_detached(url).map_err(|error| unopened(error.kind()))
}

/// Opens a URL that was checked.
#[cfg(not(windows))]
pub(super) fn open(url: &str) -> io::Result<()> {
    launch(open::commands(url))
}

/// Runs the first of these programs that works.
#[cfg(not(windows))]
fn launch(programs: Vec<std::process::Command>) -> io::Result<()> {
    let mut kind = io::ErrorKind::NotFound;
    // AUT-54: no shell. The crate offers PowerShell in the Windows Subsystem for Linux.
    for program in programs.into_iter().filter(|program| program.get_program() != POWERSHELL) {
        match start(program) {
            Ok(()) => return Ok(()),
            Err(error) => kind = error.kind(),
        }
    }
    Err(unopened(kind))
}

/// Runs a program as its own process, and returns once it has succeeded or runs for a while.
#[cfg(not(windows))]
fn start(mut program: std::process::Command) -> io::Result<()> {
    use std::process::Stdio;
    use std::sync::mpsc::sync_channel;
    use std::thread;

    // The program outlives this process: signals of its terminal must not end a browser.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut program, 0);
    program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = program.spawn()?;
    let (ended, end) = sync_channel(1);
    // Without this thread, the program would leave a zombie.
    thread::Builder::new().name("mcp-browser".into()).spawn(move || {
        let _nothing_waits = ended.send(child.wait());
    })?;
    match end.recv_timeout(STARTED_AFTER) {
        Ok(Ok(status)) if !status.success() => Err(io::ErrorKind::Other.into()),
        Ok(Err(error)) => Err(error),
        Ok(Ok(_)) | Err(_) => Ok(()),
    }
}

#[cfg(not(windows))]
const POWERSHELL: &str = "powershell.exe";

/// How long a program runs before it counts as working. One without a browser ends sooner.
#[cfg(not(windows))]
const STARTED_AFTER: std::time::Duration = std::time::Duration::from_secs(1);

/// Returns the error of a URL that was not opened. The crate's own errors would contain the URL.
fn unopened(kind: io::ErrorKind) -> io::Error {
    io::Error::new(kind, "no browser could be started: open the URL by hand")
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::*;

    // AUT-54
    #[test]
    fn urls_are_arguments_of_programs_and_no_shell_is_one() {
        let url = "https://as.example/?state=hunter2";
        let programs = open::commands(url);
        for program in programs.iter().filter(|program| program.get_program() != POWERSHELL) {
            let name = program.get_program().to_str().unwrap().to_owned();
            let is_shell = ["sh", "bash", "cmd.exe", "pwsh"].iter().any(|shell| name == *shell);
            assert!(!is_shell, "{name}");
            assert!(program.get_args().any(|argument| argument == url), "{name}");
        }
    }

    #[test]
    fn the_first_program_that_works_is_used() {
        let absent = || Command::new("/absent/hunter2");
        launch(vec![absent(), Command::new("false"), Command::new("true"), absent()]).unwrap();
        for programs in [vec![], vec![absent()], vec![Command::new(POWERSHELL)]] {
            let error = launch(programs).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
            assert!(!format!("{error:?}").contains("hunter2"));
        }
    }

    #[test]
    fn a_program_that_runs_on_is_not_waited_for() {
        let mut endless = Command::new("sleep");
        endless.arg("8");
        let started = Instant::now();
        launch(vec![endless]).unwrap();
        assert!(started.elapsed() < Duration::from_secs(7));
    }
}
