//! Commands in Markdown: the packages, targets, features and scripts they name exist.

use crate::Breach;
use serde_json::Value;

/// Finds commands that name something that does not exist.
///
/// Looks at `cargo` and `bash` commands in code spans and in blocks of shell code. `metadata` is
/// the output of `cargo metadata`; `exists` answers for paths.
///
/// # Errors
///
/// When the metadata is not JSON.
pub fn missing(
    path: &str,
    text: &str,
    metadata: &str,
    exists: impl Fn(&str) -> bool,
) -> serde_json::Result<Vec<Breach>> {
    let packages = serde_json::from_str::<Value>(metadata)?;
    let packages = packages["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let mut breaches = Vec::new();
    for (line, command) in commands(text) {
        let words: Vec<&str> = command.split_whitespace().collect();
        let unknown = match words.as_slice() {
            ["bash" | "sh", script, ..] if !exists(script) => vec![format!("script {script}")],
            ["cargo", "add", crates @ ..] => added(packages, crates),
            ["cargo", arguments @ ..] if !arguments.contains(&"--manifest-path") => {
                unknown(packages, arguments)
            }
            _ => Vec::new(),
        };
        breaches.extend(unknown.into_iter().map(|unknown| Breach {
            place: format!("{path}:{line}"),
            what: format!("`{command}` names an unknown {unknown}"),
        }));
    }
    Ok(breaches)
}

/// Returns the commands of a text and their lines.
fn commands(text: &str) -> Vec<(usize, &str)> {
    let mut commands = Vec::new();
    let mut block: Option<&str> = None;
    for (n, line) in text.lines().enumerate() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            block = if block.is_some() { None } else { Some(language) };
        } else if let Some(language) = block {
            if ["sh", "bash", "console"].contains(&language) {
                let line = line.trim().trim_start_matches("$ ");
                commands.push((n + 1, line.split(" #").next().unwrap_or(line)));
            }
        } else {
            commands.extend(line.split('`').skip(1).step_by(2).map(|span| (n + 1, span)));
        }
    }
    commands
}

/// Returns what the arguments of `cargo add` name and no package offers; other crates are free.
fn added(packages: &[Value], arguments: &[&str]) -> Vec<String> {
    let crates = arguments.iter().filter(|argument| argument.starts_with("mcp-"));
    let names: Vec<&str> = crates.copied().collect();
    let mut unknown: Vec<String> = names
        .iter()
        .filter(|name| package(packages, name).is_none())
        .map(|name| format!("package {name}"))
        .collect();
    let known = names.iter().filter_map(|name| package(packages, name));
    unknown.extend(known.flat_map(|package| unknown_features(package, arguments)));
    unknown
}

/// Returns what the arguments of another command of cargo name and does not exist.
fn unknown(packages: &[Value], arguments: &[&str]) -> Vec<String> {
    let name = value(arguments, "-p").or_else(|| value(arguments, "--package"));
    let chosen = name.map(|name| (name, package(packages, name)));
    if let Some((name, None)) = chosen {
        return vec![format!("package {name}")];
    }
    let chosen = chosen.and_then(|(_, package)| package);
    let mut unknown = Vec::new();
    for kind in ["bench", "bin", "example", "test"] {
        let target = value(arguments, &format!("--{kind}"));
        let has = |package: &Value| {
            let targets = package["targets"].as_array().into_iter().flatten();
            targets.into_iter().any(|found| {
                let kinds = found["kind"].as_array().into_iter().flatten();
                let mut kinds = kinds.filter_map(Value::as_str);
                found["name"].as_str() == target && kinds.any(|found| found == kind)
            })
        };
        let found = chosen.map_or_else(|| packages.iter().any(has), has);
        unknown.extend(target.filter(|_| !found).map(|target| format!("{kind} {target}")));
    }
    unknown.extend(chosen.into_iter().flat_map(|package| unknown_features(package, arguments)));
    unknown
}

fn unknown_features(package: &Value, arguments: &[&str]) -> Vec<String> {
    let features = value(arguments, "--features").or_else(|| value(arguments, "-F"));
    let features = features.unwrap_or_default().split(',').filter(|feature| !feature.is_empty());
    let unknown = features.filter(|feature| package["features"].get(feature).is_none());
    unknown.map(|feature| format!("feature {feature}")).collect()
}

fn package<'a>(packages: &'a [Value], name: &str) -> Option<&'a Value> {
    packages.iter().find(|package| package["name"].as_str() == Some(name))
}

/// Returns the value of an option, as in `-p NAME`; none if the option has no value yet.
fn value<'a>(arguments: &[&'a str], option: &str) -> Option<&'a str> {
    let ours = arguments.split(|argument| *argument == "--").next().unwrap_or_default();
    let at = ours.iter().position(|argument| *argument == option)?;
    ours.get(at + 1).filter(|value| !value.starts_with('-')).copied()
}

#[cfg(test)]
mod tests {
    use super::missing;

    const METADATA: &str = r#"{"packages": [
        {"name": "mcp-a", "features": {"http": []}, "targets": [
            {"name": "mcp-a", "kind": ["lib"]},
            {"name": "demo", "kind": ["example"]},
            {"name": "tool", "kind": ["bin"]}
        ]},
        {"name": "mcp-b", "features": {}, "targets": [{"name": "other", "kind": ["example"]}]}
    ]}"#;

    fn found(text: &str) -> Vec<String> {
        let breaches = missing("A.md", text, METADATA, |path| path == "run.sh").unwrap();
        breaches.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_does_not_exist_is_reported() {
        assert_eq!(
            found("x\n```sh\n$ cargo run -p mcp-c --example demo\n```"),
            ["A.md:3: `cargo run -p mcp-c --example demo` names an unknown package mcp-c"]
        );
        for text in [
            "`cargo run -p mcp-a --example gone`",
            "`cargo run -p mcp-b --example demo`",
            "`cargo run --example gone`",
            "`cargo run --bin demo`",
            "`cargo test -p mcp-a --features tls`",
            "`cargo test -p mcp-a --features http,tls`",
            "`cargo add mcp-c`",
            "`cargo add mcp-a -F tls`",
            "```bash\nbash gone.sh\n```",
        ] {
            assert_eq!(found(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn what_exists_is_fine() {
        for text in [
            "```sh\ncargo run -p mcp-a --example demo -- --example gone # x\ncargo test\n```",
            "`cargo run --example other`, `cargo run -p mcp-a --example` and a name",
            "`cargo run -p mcp-a --bin tool --features http`, `bash run.sh all`",
            "`cargo add mcp-a --features http`, `cargo add serde`",
            "```text\ncargo run -p mcp-c\n```\ncargo run -p mcp-c",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
