//! Finds programs as the command prompt of Windows does: `npx` may be `npx.cmd`.
//!
//! The standard library looks for `.exe` only.

use std::path::PathBuf;

/// Returns the file of a program, which on Windows may be a script such as `npx.cmd`.
///
/// On Windows, [`Command`](std::process::Command) finds programs, but not scripts, by a name
/// without an extension. This function looks a name up as the command prompt does, in the
/// directories of `PATH`, but not in the current directory. It tries the extensions `.com`, `.exe`,
/// `.bat` and `.cmd`, in the order of `PATHEXT`. A name with an extension or one that is not found
/// is returned unchanged, as are all names on other systems.
///
/// ```
/// use std::process::Command;
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::find_program;
///
/// let mut command = Command::new(find_program("npx"));
/// command.args(["-y", "some-server"]);
/// // Client::new("host", "1.0.0").spawn(command)
/// ```
#[must_use]
pub fn find_program(name: &str) -> PathBuf {
    #[cfg(windows)]
    {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let is_file = |file: &str| std::path::Path::new(file).is_file();
        if let Some(file) = find(name, &variable("PATH"), &variable("PATHEXT"), is_file) {
            return file.into();
        }
    }
    name.into()
}

/// Returns the file that `name` names, given the values of `PATH` and `PATHEXT`.
///
/// The current directory is left out, because another user may have put a program there.
#[cfg(any(windows, test))]
fn find(
    name: &str,
    path: &str,
    extensions: &str,
    is_file: impl Fn(&str) -> bool,
) -> Option<String> {
    let is_separator = |character| matches!(character, '\\' | '/' | ':');
    let file_name = name.rsplit(is_separator).next().unwrap_or(name);
    if file_name.is_empty() || file_name.contains('.') {
        return None;
    }
    let extensions = if extensions.is_empty() { EXTENSIONS } else { extensions };
    let with_extension = |base: &str| {
        let extensions = extensions.split(';').map(|one| one.trim().to_ascii_lowercase());
        extensions
            .filter(|one| matches!(&**one, ".com" | ".exe" | ".bat" | ".cmd"))
            .map(|extension| format!("{base}{extension}"))
            .find(|file| is_file(file))
    };
    if file_name.len() < name.len() {
        return with_extension(name);
    }
    let directories = path.split(';').map(|directory| directory.trim().trim_matches('"'));
    let mut directories = directories.filter(|directory| !directory.is_empty());
    directories.find_map(|directory| {
        with_extension(&format!("{}\\{name}", directory.trim_end_matches(['\\', '/'])))
    })
}

/// The extensions of programs if `PATHEXT` is not set.
#[cfg(any(windows, test))]
const EXTENSIONS: &str = ".COM;.EXE;.BAT;.CMD";

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = r#"C:\tools\;"C:\Program Files\node";;D:\bin"#;

    fn found(name: &str, files: &[&str]) -> Option<String> {
        find(name, PATH, EXTENSIONS, |file| files.contains(&file))
    }

    #[test]
    fn a_script_is_found_by_its_extension() {
        let npx = r"C:\Program Files\node\npx.cmd";
        assert_eq!(found("npx", &[npx, r"D:\bin\npx.cmd"]).as_deref(), Some(npx));
        assert_eq!(found("npx", &[r"D:\bin\npx.bat"]).as_deref(), Some(r"D:\bin\npx.bat"));
        assert_eq!(found("npx", &[r"C:\tools\npx"]), None);
    }

    #[test]
    fn a_program_precedes_a_script_of_its_directory() {
        let files = [r"C:\tools\npx.exe", r"C:\tools\npx.cmd"];
        assert_eq!(found("npx", &files).as_deref(), Some(files[0]));
        assert_eq!(found("npx.cmd", &files), None, "it has an extension");
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
        let is_here = |file: &str| file == "npx.cmd" || file == r"\npx.cmd";
        assert_eq!(find("npx", "", "", is_here), None);
    }

    #[test]
    fn only_what_windows_can_start_is_found_in_the_order_of_the_system() {
        let is_file = |file: &str| matches!(file, r"C:\a.cmd" | r"C:\a.py" | r"C:\a.bat");
        let find = |extensions| find("a", r"C:\", extensions, is_file);
        assert_eq!(find(".PY; .CMD;.BAT").as_deref(), Some(r"C:\a.cmd"));
        assert_eq!(find("PY;.;.BAT").as_deref(), Some(r"C:\a.bat"));
        assert_eq!(find("").as_deref(), Some(r"C:\a.bat"));
        assert_eq!(find(".PY"), None);
    }

    #[cfg(not(windows))]
    #[test]
    fn names_of_other_systems_stay_as_they_are() {
        assert_eq!(find_program("sh"), PathBuf::from("sh"));
    }
}
