//! Runs cargo in the workspace, without the network where it can; knows nothing of what it is
//! asked.

use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs cargo in this directory: first offline, then, should that fail, with the network.
///
/// A failure of cargo's own is in the output's status.
///
/// # Errors
///
/// When cargo cannot be started.
pub fn run(directory: &Path, arguments: &[&str]) -> io::Result<Output> {
    let cargo = |network: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(directory).args(network).args(arguments).stdin(Stdio::null()).output()
    };
    let offline = cargo(&["--offline"])?;
    if offline.status.success() { Ok(offline) } else { cargo(&[]) }
}
