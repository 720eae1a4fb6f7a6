//! Keeps a folder free of `cfg` conditions on a transport's feature.

use crate::Breach;
use crate::lexer::Kind;
use crate::sources::{SourceFile, reads};

/// Finds conditions on a feature in the files below a folder, tests included.
#[must_use]
pub fn conditions(files: &[SourceFile], folder: &str, feature: &str) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for file in files.iter().filter(|file| file.path.starts_with(folder)) {
        for at in 0..file.tokens.len() {
            let value = file.tokens.get(at + 2).filter(|value| value.kind == Kind::Text);
            if reads(&file.tokens, at, &["feature", "="])
                && value.is_some_and(|value| value.text == feature)
            {
                let what =
                    format!("`cfg(feature = \"{feature}\")`: `{folder}` must not depend on it");
                breaches.push(file.breach(file.tokens[at].line, what));
            }
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::conditions;
    use crate::sources::planted;

    #[test]
    fn each_condition_is_reported() {
        let found = |path, text| {
            conditions(&planted(&[(path, text)]), "mcp-proto/src/connection/", "http").len()
        };
        for (text, breaches) in [
            ("#[cfg(feature = \"http\")] fn f() {}", 1),
            ("#[cfg(any(test, feature = \"http\"))] fn f() {}", 1),
            ("#[cfg_attr(not(feature = \"http\"), allow(dead_code))] fn f() {}", 1),
            ("fn f() { if cfg!(feature = \"http\") {} }", 1),
            ("#[cfg(test)] #[cfg(feature = \"http\")] mod tests;", 1),
            ("#[cfg(feature = \"schema\")] fn f() {} // cfg(feature = \"http\")", 0),
        ] {
            assert_eq!(found("mcp-proto/src/connection/eras/mod.rs", text), breaches, "{text}");
            assert_eq!(found("mcp-proto/src/http/mod.rs", text), 0);
        }
    }
}
