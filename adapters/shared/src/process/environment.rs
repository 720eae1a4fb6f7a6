//! The environment variables of child processes.

use std::ffi::{OsStr, OsString};
use std::process::Command;

/// The variables that a child needs to find programs, files and its user. The official SDKs pass
/// these.
#[cfg(not(windows))]
const SAFE: &[&str] = &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// The variables that a child needs to find programs, files and its user. The official SDKs pass
/// these; without `PATHEXT`, a child could not find programs such as `npm.cmd`.
#[cfg(windows)]
const SAFE: &[&str] = &[
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
];

/// Makes `command` pass on the safe variables only, besides those that it sets itself.
// F-43: the environment of a host often holds credentials.
pub(crate) fn restrict(command: &mut Command) {
    restrict_to(command, |name| std::env::var_os(name));
}

fn restrict_to(command: &mut Command, value_of: impl Fn(&str) -> Option<OsString>) {
    let own: Vec<(OsString, Option<OsString>)> = command
        .get_envs()
        .map(|(name, value)| (name.to_owned(), value.map(OsStr::to_owned)))
        .collect();
    command.env_clear();
    for name in SAFE {
        // A shell would run the value of an exported function.
        if let Some(value) = value_of(name).filter(|value| !is_shell_function(value)) {
            command.env(name, value);
        }
    }
    for (name, value) in own {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
}

fn is_shell_function(value: &OsStr) -> bool {
    value.as_encoded_bytes().starts_with(b"()")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn restricted(command: &mut Command, inherited: &[(&str, &str)]) -> Vec<(String, String)> {
        restrict_to(command, |name| {
            inherited.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
        });
        let set = command.get_envs().filter_map(|(name, value)| {
            Some((name.to_str()?.to_owned(), value?.to_str()?.to_owned()))
        });
        set.collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn only_safe_variables_and_those_of_the_command_remain() {
        let inherited = [("PATH", "/bin"), ("API_KEY", "secret")];
        let mut command = Command::new("server");
        command.env("LANG", "C");
        let expected = pairs(&[("LANG", "C"), ("PATH", "/bin")]);
        assert_eq!(restricted(&mut command, &inherited), expected);
        assert_eq!(restricted(&mut command, &inherited), expected, "a restart changes nothing");
    }

    #[test]
    fn a_command_replaces_and_removes_safe_variables() {
        let inherited = [("PATH", "/bin"), ("TEMP", "/tmp"), ("TERM", "xterm")];
        let mut command = Command::new("server");
        command.env("PATH", "/usr/bin").env_remove("TERM").env_remove("TEMP");
        assert_eq!(restricted(&mut command, &inherited), pairs(&[("PATH", "/usr/bin")]));
    }

    #[test]
    fn functions_of_shells_are_left_out() {
        let mut command = Command::new("server");
        assert_eq!(restricted(&mut command, &[("PATH", "() { evil; }")]), []);
    }
}
