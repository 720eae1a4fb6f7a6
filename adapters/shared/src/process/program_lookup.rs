//! Finds programs as the command prompt of Windows does: `npx` may be `npx.cmd`.
//!
//! The standard library looks for `.exe` only.

#[cfg(windows)]
pub(crate) use windows::resolve;

/// Returns the file of the program that `name` names, unless the standard library finds it itself.
///
/// `path` and `extensions` are the values of `PATH` and `PATHEXT`. A name with an extension is left
/// to the standard library. A name without a directory is looked up in the directories of `path`
/// only, never in the current one, where a stranger may have put a program. In each directory, the
/// extensions are tried in their order.
#[cfg(any(windows, test))]
fn find(
    name: &str,
    path: &str,
    extensions: Option<&str>,
    is_file: impl Fn(&str) -> bool,
) -> Option<String> {
    let is_separator = |character| matches!(character, '\\' | '/' | ':');
    let file_name = name.rsplit(is_separator).next().unwrap_or(name);
    if file_name.is_empty() || file_name.contains('.') {
        return None;
    }
    let extensions = extensions.filter(|list| !list.is_empty()).unwrap_or(EXTENSIONS);
    let with_extension = |base: &str| {
        let extensions = extensions.split(';').map(str::trim);
        let extensions = extensions.filter(|one| one.len() > 1 && one.starts_with('.'));
        extensions
            .map(|extension| format!("{base}{}", extension.to_ascii_lowercase()))
            .find(|file| is_file(file))
    };
    let found = if file_name.len() < name.len() {
        with_extension(name)
    } else {
        let directories = path.split(';').map(|directory| directory.trim().trim_matches('"'));
        let mut directories = directories.filter(|directory| !directory.is_empty());
        directories.find_map(|directory| {
            with_extension(&format!("{}\\{name}", directory.trim_end_matches(['\\', '/'])))
        })
    };
    found.filter(|file| !file.ends_with(".exe"))
}

/// The extensions of programs if `PATHEXT` is not set.
#[cfg(any(windows, test))]
const EXTENSIONS: &str = ".COM;.EXE;.BAT;.CMD";

#[cfg(windows)]
mod windows {
    use std::path::Path;
    use std::process::Command;

    /// Returns `command` with the file of its program, if only `PATHEXT` leads to it.
    ///
    /// Keeps the arguments, the directory and the variables that the command sets or removes.
    pub(crate) fn resolve(command: &Command) -> Option<Command> {
        let name = command.get_program().to_str()?;
        let variable = |name: &str| {
            let own = command.get_envs().find(|(key, _)| key.eq_ignore_ascii_case(name));
            own.map_or_else(|| std::env::var_os(name), |(_, value)| value.map(Into::into))
        };
        let path = variable("PATH").unwrap_or_default();
        let extensions = variable("PATHEXT").unwrap_or_default();
        let is_file = |file: &str| Path::new(file).is_file();
        let file = super::find(name, path.to_str()?, extensions.to_str(), is_file)?;
        let mut resolved = Command::new(file);
        resolved.args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => resolved.env(name, value),
                None => resolved.env_remove(name),
            };
        }
        if let Some(directory) = command.get_current_dir() {
            resolved.current_dir(directory);
        }
        Some(resolved)
    }
}

#[cfg(test)]
mod tests {
    use super::find;

    const PATH: &str = r#"C:\tools\;"C:\Program Files\node";;D:\bin"#;

    fn found(name: &str, files: &[&str]) -> Option<String> {
        find(name, PATH, Some(".COM;.EXE;.BAT;.CMD"), |file| files.contains(&file))
    }

    #[test]
    fn a_script_is_found_by_its_extension() {
        let npx = r"C:\Program Files\node\npx.cmd";
        assert_eq!(found("npx", &[npx, r"D:\bin\npx.cmd"]).as_deref(), Some(npx));
        assert_eq!(found("npx", &[r"D:\bin\npx.bat"]).as_deref(), Some(r"D:\bin\npx.bat"));
        assert_eq!(found("npx", &[r"C:\tools\npx"]), None);
    }

    #[test]
    fn what_the_standard_library_finds_is_left_to_it() {
        let files = [r"C:\tools\npx.exe", r"C:\tools\npx.cmd", r"D:\bin\other.cmd"];
        assert_eq!(found("npx", &files), None, "`.exe` precedes `.cmd` in one directory");
        assert_eq!(found("npx.cmd", &files), None);
        assert_eq!(found("", &files), None);
    }

    #[test]
    fn a_path_is_completed_where_it_is() {
        let files = [r"C:\my\run.cmd", r"C:\tools\my\run.cmd", "./run.bat", "C:run.cmd"];
        for (name, file) in [
            (r"C:\my\run", Some(r"C:\my\run.cmd")),
            ("./run", Some("./run.bat")),
            ("C:run", Some("C:run.cmd")),
            (r"my\run", None),
            (r"C:\my\", None),
        ] {
            assert_eq!(found(name, &files).as_deref(), file, "{name}");
        }
    }

    #[test]
    fn programs_of_the_current_directory_are_not_found() {
        assert_eq!(find("npx", "", None, |file| file == "npx.cmd" || file == r"\npx.cmd"), None);
    }

    #[test]
    fn the_extensions_of_the_system_decide() {
        let is_file = |file: &str| matches!(file, r"C:\a.cmd" | r"C:\a.py");
        let find = |extensions| find("a", r"C:\", extensions, is_file);
        assert_eq!(find(Some(".PY; .CMD")).as_deref(), Some(r"C:\a.py"));
        assert_eq!(find(Some("PY;.;.CMD")).as_deref(), Some(r"C:\a.cmd"));
        assert_eq!(find(Some("")).as_deref(), Some(r"C:\a.cmd"));
        assert_eq!(find(None).as_deref(), Some(r"C:\a.cmd"));
    }
}
