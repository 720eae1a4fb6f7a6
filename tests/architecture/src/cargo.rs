//! Runs cargo in the workspace, offline where possible.

use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs cargo in this directory: first offline, and if that fails, with network access.
///
/// If cargo itself fails, the output's status says so.
///
/// # Errors
///
/// If cargo cannot be started.
pub fn run(directory: &Path, arguments: &[&str]) -> io::Result<Output> {
    let cargo = |network: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(directory).args(network).args(arguments).stdin(Stdio::null()).output()
    };
    let offline = cargo(&["--offline"])?;
    if offline.status.success() { Ok(offline) } else { cargo(&[]) }
}
