//! Checks how many crates a package depends on, and which compiler version they need.
//!
//! Reads the output of `cargo tree` and `cargo metadata`; running them is up to the caller.

use crate::Breach;
use serde_json::Value;
use std::collections::BTreeSet;

/// Returns a breach if a package's `cargo tree --prefix none` has more crates than the budget,
/// itself included.
#[must_use]
pub fn over_budget(package: &str, tree: &str, crates_max: usize) -> Option<Breach> {
    let crates = crates(tree);
    let list: Vec<&str> = crates.iter().map(String::as_str).collect();
    let what = format!("{} crates, budget {crates_max}: {}", crates.len(), list.join(", "));
    (crates.len() > crates_max).then(|| Breach { place: package.to_owned(), what })
}

/// Returns the crates of a tree, each name and version once.
fn crates(tree: &str) -> BTreeSet<String> {
    let words = tree.lines().map(|line| line.split_whitespace().take(2).collect::<Vec<&str>>());
    words.filter(|words| words.len() == 2).map(|words| words.join(" ")).collect()
}

/// Finds run-time dependencies of these packages that need a newer compiler than the package
/// declares.
///
/// `metadata` is the output of `cargo metadata --format-version 1`, which covers every platform.
///
/// # Errors
///
/// If `metadata` is not valid output of cargo, or lacks one of the packages.
pub fn too_new(metadata: &str, packages: &[&str]) -> Result<Vec<Breach>, String> {
    let metadata: Value = serde_json::from_str(metadata).map_err(|error| error.to_string())?;
    let mut breaches = Vec::new();
    for package in packages {
        let root = find(&metadata["packages"], "name", package)?;
        let Some(ours) = root["rust_version"].as_str() else {
            let what = "has no `rust-version`".to_owned();
            breaches.push(Breach { place: (*package).to_owned(), what });
            continue;
        };
        for id in run_time_closure(&metadata, text(root, "id")?)? {
            let dependency = find(&metadata["packages"], "id", &id)?;
            let theirs = dependency["rust_version"].as_str().unwrap_or("1.0");
            if version(theirs)? > version(ours)? {
                let place =
                    format!("{} {}", text(dependency, "name")?, text(dependency, "version")?);
                let what = format!("needs Rust {theirs}, `{package}` promises {ours}");
                breaches.push(Breach { place, what });
            }
        }
    }
    Ok(breaches)
}

/// Returns the ids of a package and of everything it reaches over normal edges.
fn run_time_closure(metadata: &Value, root: &str) -> Result<BTreeSet<String>, String> {
    let mut reached = BTreeSet::new();
    let mut ahead = vec![root.to_owned()];
    while let Some(id) = ahead.pop() {
        let node = find(&metadata["resolve"]["nodes"], "id", &id)?;
        if !reached.insert(id) {
            continue;
        }
        for edge in array(&node["deps"])? {
            // A normal edge has the kind null; `dev` and `build` edges are named.
            if array(&edge["dep_kinds"])?.iter().any(|kind| kind["kind"].is_null()) {
                ahead.push(text(edge, "pkg")?.to_owned());
            }
        }
    }
    Ok(reached)
}

fn find<'a>(list: &'a Value, key: &str, value: &str) -> Result<&'a Value, String> {
    let found = array(list)?.iter().find(|item| item[key] == value);
    found.ok_or_else(|| format!("cargo metadata has no {key} {value}"))
}

fn array(value: &Value) -> Result<&[Value], String> {
    value
        .as_array()
        .map(Vec::as_slice)
        .ok_or_else(|| format!("cargo metadata has no list at {value}"))
}

fn text<'a>(object: &'a Value, key: &str) -> Result<&'a str, String> {
    object[key].as_str().ok_or_else(|| format!("cargo metadata has no {key} in {object}"))
}

/// Parses a version; `1.88` and `1.88.0` are equal.
fn version(text: &str) -> Result<[u32; 3], String> {
    let mut version = [0; 3];
    for (part, digits) in version.iter_mut().zip(text.split('.')) {
        *part = digits.parse().map_err(|_| format!("`{text}` is not a Rust version"))?;
    }
    Ok(version)
}

#[cfg(test)]
mod tests {
    use super::{over_budget, too_new};
    use serde_json::{Value, json};

    #[test]
    fn a_crate_counts_once_per_version() {
        let tree = "core v0.1.0 (/x)\nserde v1.0.0\nderive v1.0.0 (proc-macro)\n\
                    serde v1.0.0 (*)\nserde v2.0.0\n\n";
        assert_eq!(over_budget("core", tree, 4), None);
        assert_eq!(over_budget("core", tree, 3).unwrap().to_string(), {
            "core: 4 crates, budget 3: core v0.1.0, derive v1.0.0, serde v1.0.0, serde v2.0.0"
        });
    }

    /// Builds metadata of a root that uses `a`, which uses `b`; `tool` is only a `dev` and `build`
    /// dependency.
    fn metadata(ours: Value, b: Value) -> String {
        let package = |name: &str, rust_version: Value| {
            let id = format!("{name}#1");
            json!({ "id": id, "name": name, "version": "1.0.0", "rust_version": rust_version })
        };
        let edge = |name: &str, kinds: &[Value]| {
            let kinds: Vec<Value> = kinds.iter().map(|kind| json!({ "kind": kind })).collect();
            json!({ "pkg": format!("{name}#1"), "dep_kinds": kinds })
        };
        let (normal, dev, build) = (Value::Null, json!("dev"), json!("build"));
        json!({
            "packages": [
                package("root", ours),
                package("a", Value::Null),
                package("b", b),
                package("tool", json!("1.99")),
            ],
            "resolve": { "nodes": [
                { "id": "root#1", "deps": [
                    edge("a", &[dev.clone(), normal.clone()]), edge("tool", &[dev])
                ] },
                { "id": "a#1", "deps": [edge("b", &[normal]), edge("tool", &[build])] },
                { "id": "b#1", "deps": [] },
                { "id": "tool#1", "deps": [] },
            ] },
        })
        .to_string()
    }

    #[test]
    fn a_dependency_that_needs_a_newer_compiler_is_reported() {
        let found = |ours, b| too_new(&metadata(ours, b), &["root"]).unwrap();
        assert_eq!(found(json!("1.88"), json!("1.88.0")), []);
        assert_eq!(found(json!("1.88"), json!("1.9")), []);
        let breaches = found(json!("1.88"), json!("1.88.1"));
        assert_eq!(breaches.len(), 1);
        assert_eq!(breaches[0].to_string(), "b 1.0.0: needs Rust 1.88.1, `root` promises 1.88");
    }

    #[test]
    fn a_package_without_rust_version_is_reported() {
        assert_eq!(too_new(&metadata(Value::Null, Value::Null), &["root"]).unwrap().len(), 1);
    }

    #[test]
    fn metadata_that_lacks_a_package_is_an_error() {
        assert!(too_new(&metadata(json!("1.88"), Value::Null), &["absent"]).is_err());
        assert!(too_new("{}", &["root"]).is_err());
    }
}
