//! Keeps a folder free of `cfg` conditions on a transport's feature, features few, and what they
//! add documented.

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

/// The features of an adapter, at most. What costs neither crates nor bytes is no feature.
pub const FEATURES_MAX: usize = 8;

/// Returns the features in the text of a `Cargo.toml`, without `default`.
#[must_use]
pub fn names(manifest: &str) -> Vec<&str> {
    let section = manifest.lines().skip_while(|line| *line != "[features]").skip(1);
    let names = section.take_while(|line| !line.starts_with('[')).filter_map(|line| {
        let (name, _) = line.split_once(" = ")?;
        (name != "default").then_some(name)
    });
    names.collect()
}

/// Finds public functions with a condition on a feature that their summaries do not name:
/// the documentation of stable Rust shows no conditions.
#[must_use]
pub fn unnamed(files: &[SourceFile]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for file in files.iter().filter(|file| !file.is_test) {
        let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
        for (at, line) in lines.iter().enumerate() {
            let condition = line.strip_prefix("#[cfg(feature = \"");
            let Some(feature) = condition.and_then(|rest| rest.strip_suffix("\")]")) else {
                continue;
            };
            let item = lines[at..].iter().find(|line| !line.starts_with("#["));
            if !item.is_some_and(|item| item.starts_with("pub ") && item.contains("fn ")) {
                continue;
            }
            let is_above = |line: &&&str| line.starts_with("///") || line.starts_with("#[");
            let mut above: Vec<&str> =
                lines[..at].iter().rev().take_while(is_above).copied().collect();
            above.reverse();
            let summary: Vec<&str> = above
                .iter()
                .filter_map(|line| line.strip_prefix("///"))
                .map(str::trim)
                .take_while(|line| !line.is_empty())
                .collect();
            let name = format!("(feature `{feature}`)");
            if !summary.join(" ").contains(&name) {
                breaches.push(file.breach(at + 1, format!("the summary must contain \"{name}\"")));
            }
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::{conditions, names, unnamed};
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

    #[test]
    fn features_are_read_from_a_manifest() {
        let manifest = "[package]\nname = \"a\"\n\n[features]\ndefault = [\"b\"]\nb = []\n\
                        # A comment.\nc-d = [\n    \"dep:e\",\n]\n\n[dependencies]\nf = \"1\"\n";
        assert_eq!(names(manifest), ["b", "c-d"]);
        assert!(names("[package]\nname = \"a\"\n").is_empty());
    }

    #[test]
    fn functions_name_their_feature() {
        for (text, breaches) in [
            ("/// Adds (feature `a`).\n#[cfg(feature = \"a\")]\npub fn f() {}", 0),
            ("/// Adds (feature\n/// `a`).\n#[cfg(feature = \"a\")]\npub fn f() {}", 0),
            ("/// Adds.\n#[cfg(feature = \"a\")]\npub fn f() {}", 1),
            ("/// Adds.\n#[cfg(feature = \"a\")]\n#[must_use]\npub const fn f() {}", 1),
            ("/// Adds.\n///\n/// (feature `a`)\n#[cfg(feature = \"a\")]\npub fn f() {}", 1),
            ("/// Adds (feature `b`).\n#[cfg(feature = \"a\")]\npub fn f() {}", 1),
            ("/// Adds.\n#[cfg(feature = \"a\")]\npub(crate) fn f() {}", 0),
            ("/// Adds.\n#[cfg(feature = \"a\")]\nmod b;", 0),
        ] {
            assert_eq!(unnamed(&planted(&[("a.rs", text)])).len(), breaches, "{text}");
        }
    }
}
