//! Compiles files that contain a mistake, and reads what the compiler says first.

#![allow(clippy::missing_errors_doc, reason = "a test fails with the error")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The first error of a compilation.
#[derive(Debug)]
pub struct FirstError {
    /// The code, such as `E0277`; empty for errors of macros.
    pub code: String,
    /// The message, the labels, and the notes and helps.
    pub texts: Vec<String>,
}

/// A file with a mistake and what the compiler has to say about it.
#[derive(Debug)]
pub struct Case {
    /// The path of the file.
    pub path: PathBuf,
    /// The code of the error; empty for errors of macros.
    pub code: String,
    /// Texts of this project that the error contains: sentences, or names of types if the rest is
    /// the compiler's.
    pub texts: Vec<String>,
}

/// Reads the cases of a directory: each `name.rs` has a `name.txt` with the code in the first line
/// (`error` if there is none), and in each further line a text that the error contains.
pub fn cases(directory: &Path) -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let expected = fs::read_to_string(path.with_extension("txt"))?;
            let mut lines = expected.lines();
            let code = lines.next().unwrap_or_default();
            let code = if code == "error" { "" } else { code }.to_owned();
            cases.push(Case { path, code, texts: lines.map(str::to_owned).collect() });
        }
    }
    cases.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(cases)
}

/// Compiles a file and returns the first error; `None` if there is none.
///
/// `compiler` is the program and the arguments with which it finds the dependencies.
pub fn compile(path: &Path, compiler: &[&str], out: &Path) -> io::Result<Option<FirstError>> {
    let (program, arguments) = compiler.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let output = Command::new(program)
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "obj"])
        .args(["--error-format", "json", "--out-dir"])
        .args([out, path])
        .args(arguments)
        .stdin(Stdio::null())
        .output()?;
    let messages = String::from_utf8_lossy(&output.stderr);
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok(messages.filter(|message| message["level"] == "error").map(|it| first_error(&it)).next())
}

fn first_error(message: &Value) -> FirstError {
    let text = |of: &Value, member: &str| of[member].as_str().unwrap_or_default().to_owned();
    let mut texts = vec![text(message, "message")];
    let spans = message["spans"].as_array().into_iter().flatten();
    texts.extend(spans.map(|span| text(span, "label")));
    let children = message["children"].as_array().into_iter().flatten();
    texts.extend(children.map(|child| text(child, "message")));
    FirstError { code: text(&message["code"], "code"), texts }
}
