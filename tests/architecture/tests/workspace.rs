//! Applies every rule of the design to this workspace; the rules and their own tests are in `src/`.

#![allow(clippy::expect_used, reason = "a test may panic")]

use mcp_architecture::imports::{circles, edges, levels};
use mcp_architecture::sources::{self, SourceFile};
use mcp_architecture::{
    Breach, cargo, commands, coverage, dependencies, eras, features, floors, named_items,
    named_paths, plans, purity, requirements, revisions, shape, sizes, style, surface,
    unique_types,
};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const CORE: &str = "mcp-proto/src";
const CONNECTION: &str = "mcp-proto/src/connection/";

#[test]
fn imports_only_go_down_and_form_no_circles() {
    let files = core_and_adapters();
    let edges = edges(&files);
    let mut breaches = circles::circles(&files, &edges);
    for plan in plans::PLANS {
        breaches.extend(floors::climbs(&files, &edges, plan));
    }
    for order in plans::ORDERS {
        breaches.extend(levels::climbs(&files, &edges, order));
    }
    assert_none(&breaches);
}

#[test]
fn the_core_names_no_std_no_clock_no_thread_and_no_hash_order() {
    assert_none(&purity::impurities(&core()));
}

#[test]
fn the_core_forbids_std_and_unsafe_code() {
    let core = core();
    let lib = core
        .iter()
        .find(|file| file.path == "mcp-proto/src/lib.rs")
        .expect("the core has a lib.rs");
    assert_none(&purity::unkept_promises(lib));
}

#[test]
fn only_the_table_of_rules_branches_on_revisions() {
    assert_none(&revisions::branches(&core()));
}

#[test]
fn only_the_eras_module_branches_on_eras() {
    assert_none(&eras::branches(&core(), eras::ALLOWED));
}

#[test]
fn the_connection_has_no_condition_on_http() {
    let core = core();
    assert!(
        core.iter().any(|file| file.path.starts_with(CONNECTION)),
        "no sources in {CONNECTION}"
    );
    assert_none(&features::conditions(&core, CONNECTION, "http"));
}

/// The documents for people who change or judge this repository.
const DOCUMENTS: &[&str] =
    &["mcp-proto/ARCHITECTURE.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md"];

#[test]
fn the_documents_name_existing_paths_and_items() {
    let roots = [CORE, "mcp-proto", "adapters/shared/src", ".github", "."]
        .map(|root| workspace().join(root));
    let exists = |path: &str| roots.iter().any(|root| root.join(path).exists());
    let (words, sources) = (named_paths::words(&core()), core_and_adapters());
    for paper in DOCUMENTS {
        let text = fs::read_to_string(workspace().join(paper)).expect("the document is readable");
        assert_none(&named_paths::missing(paper, &text, &words, exists));
        assert_none(&named_items::missing(paper, &text, &sources));
    }
}

#[test]
fn each_room_keeps_to_its_budget() {
    let files = core_and_adapters();
    for (plan, budgets) in plans::PLANS.iter().zip(sizes::BUDGETS) {
        let rooms = sizes::rooms(&files, plan);
        println!("{}{}", plan.sources, sizes::table(&rooms, budgets));
        assert_none(&sizes::over_budget(&rooms, budgets));
    }
}

#[test]
fn each_file_starts_with_what_it_does() {
    assert_none(&shape::without_first_sentence(&core_and_adapters()));
}

#[test]
fn no_file_is_too_long() {
    let files = core_and_adapters();
    for file in shape::long(&files) {
        println!("longer than it aims to be: {file}");
    }
    assert_none(&shape::too_long(&files));
}

#[test]
fn a_public_type_name_has_one_definition() {
    assert_none(&unique_types::duplicates(&core_and_adapters(), unique_types::KNOWN));
}

#[test]
fn code_outside_the_core_uses_its_public_surface() {
    assert_none(&surface::break_ins(&read(&["adapters", "benches", "fuzz", "tests"])));
    assert_none(&surface::hidden_items(&core()));
}

#[test]
fn the_adapters_have_few_features_and_name_them() {
    for name in ["blocking", "shared", "smol", "tokio", "wasm"] {
        let manifest = workspace().join("adapters").join(name).join("Cargo.toml");
        let manifest = fs::read_to_string(manifest).expect("the manifest is readable");
        let features = features::names(&manifest);
        assert!(!features.is_empty(), "no features found in the manifest of {name}");
        assert!(features.len() <= features::FEATURES_MAX, "too many in {name}: {features:?}");
    }
    assert_none(&features::unnamed(&read(&["adapters"])));
}

#[test]
fn the_builders_have_few_methods() {
    let adapters = read(&["adapters/shared"]);
    for (of, max) in surface::METHODS_MAX {
        let methods = surface::methods(&adapters, of);
        assert_eq!(methods, *max, "public methods of `{of}`: the number may only shrink");
    }
}

#[test]
fn sources_and_markdown_keep_the_house_style() {
    let mut breaches = style::in_sources(&read(sources::ALL));
    let papers = sources::papers(&workspace()).expect("the Markdown files are readable");
    assert!(papers.len() > 3, "too few Markdown files: the rule was applied to nothing");
    for (path, text) in &papers {
        breaches.extend(style::in_markdown(path, text));
    }
    assert_none(&breaches);
}

#[test]
fn commands_in_markdown_name_what_exists() {
    let metadata = succeed(&["metadata", "--format-version", "1", "--no-deps"]);
    let exists = |path: &str| workspace().join(path).exists();
    let papers = sources::papers(&workspace()).expect("the Markdown files are readable");
    // Files below these folders describe commands that run in them.
    let elsewhere = ["benches/", "fuzz/", "tests/"];
    let papers = papers.iter().filter(|(path, _)| !elsewhere.iter().any(|e| path.starts_with(e)));
    for (path, text) in papers {
        assert_none(&commands::missing(path, text, &metadata, exists).expect("cargo prints JSON"));
    }
}

#[test]
fn each_cited_requirement_has_an_entry_in_the_list() {
    let path = "tests/REQUIREMENTS.md";
    let list = fs::read_to_string(workspace().join(path)).expect("the list is readable");
    assert_none(&requirements::unlisted(&read(sources::ALL), path, &list));
}

#[test]
fn each_requirement_is_enforced_and_tested_or_has_a_reason() {
    let path = "tests/REQUIREMENTS.md";
    let list = fs::read_to_string(workspace().join(path)).expect("the list is readable");
    assert_none(&coverage::outdated(&read(sources::ALL), path, &list));
}

#[test]
fn each_trap_of_authorization_has_a_test() {
    let path = "tests/TRAPS.md";
    let list = fs::read_to_string(workspace().join(path)).expect("the list is readable");
    let files = read(sources::ALL);
    let rows: Vec<Vec<&str>> = list
        .lines()
        .filter(|line| line.starts_with("| A-"))
        .map(|line| line.split(" | ").collect())
        .collect();
    assert_eq!(rows.len(), 48, "{path} has all traps");
    for (n, row) in rows.iter().enumerate() {
        assert_eq!(row.first().copied(), Some(&*format!("| A-{:02}", n + 1)), "in order");
        let name = row.last().and_then(|cell| cell.split('`').nth(1)).unwrap_or_default();
        let head = format!("fn {name}");
        let exists = !name.is_empty() && files.iter().any(|file| file.text.contains(&head));
        assert!(exists, "{path}: there is no test {name:?}");
    }
}

#[test]
fn the_dependency_trees_stay_small() {
    let tree = ["tree", "-e", "normal", "--prefix", "none", "-p"];
    let core = succeed(&[&tree[..], &["mcp-proto", "--no-default-features"]].concat());
    let http = ["mcp-proto", "--no-default-features", "--features", "http"];
    let http = succeed(&[&tree[..], &http].concat());
    let http_types = ["mcp-proto", "--no-default-features", "--features", "http-types"];
    let http_types = succeed(&[&tree[..], &http_types].concat());
    // SHA-256 uses different crates per platform: the check uses one platform everywhere.
    let sealing = [
        "mcp-proto",
        "--no-default-features",
        "--features",
        "seal",
        "--target",
        "x86_64-unknown-linux-gnu",
    ];
    let sealing = succeed(&[&tree[..], &sealing].concat());
    let authorizing = [
        "mcp-proto",
        "--no-default-features",
        "--features",
        "auth",
        "--target",
        "x86_64-unknown-linux-gnu",
    ];
    let authorizing = succeed(&[&tree[..], &authorizing].concat());
    let proving = ["mcp-proto", "--no-default-features", "--features", "record,testing"];
    let proving = succeed(&[&tree[..], &proving].concat());
    let adapter = |name, features: &[&str]| succeed(&[&tree[..], &[name], features].concat());
    let bare = ["--no-default-features"];
    let breaches = [
        dependencies::over_budget("mcp-proto", &core, 15),
        dependencies::over_budget("mcp-proto with `http`", &http, 15),
        dependencies::over_budget("mcp-proto with `http-types`", &http_types, 15),
        dependencies::over_budget("mcp-proto with `seal`", &sealing, 21),
        dependencies::over_budget("mcp-proto with `auth`", &authorizing, 20),
        dependencies::over_budget("mcp-proto with `record` and `testing`", &proving, 15),
        // The seal of the adapters needs eleven.
        dependencies::over_budget("bare mcp-blocking", &adapter("mcp-blocking", &bare), 35),
        dependencies::over_budget("bare mcp-smol", &adapter("mcp-smol", &bare), 49),
        dependencies::over_budget("bare mcp-tokio", &adapter("mcp-tokio", &bare), 45),
        dependencies::over_budget("mcp-wasm", &adapter("mcp-wasm", &[]), 16),
        // By default with `schemars`, whose macros need most of the difference.
        dependencies::over_budget("mcp-blocking", &adapter("mcp-blocking", &[]), 46),
        dependencies::over_budget("mcp-smol", &adapter("mcp-smol", &[]), 60),
        dependencies::over_budget("mcp-tokio", &adapter("mcp-tokio", &[]), 52),
    ];
    assert_none(&breaches.into_iter().flatten().collect::<Vec<Breach>>());
}

#[test]
fn no_dependency_needs_a_newer_compiler_than_we_promise() {
    let metadata = succeed(&["metadata", "--format-version", "1", "--all-features"]);
    let published = ["mcp-proto", "mcp-blocking", "mcp-smol", "mcp-tokio", "mcp-wasm"];
    assert_none(&dependencies::too_new(&metadata, &published).unwrap());
}

#[test]
fn the_core_links_and_serves_without_std_and_the_proof_can_fail() {
    // With the workspace's lock file, the build uses the versions that the workspace uses.
    let workspace = workspace();
    fs::copy(workspace.join("Cargo.lock"), workspace.join("tests/no-std/Cargo.lock"))
        .expect("the lock file is copied");

    // Features only add code: a build with all of them covers each.
    let whole = build_without_std("auth,client,http,record,seal,server,testing");
    assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));

    let proof = build_without_std("server");
    assert!(proof.status.success(), "{}", String::from_utf8_lossy(&proof.stderr));
    assert_serves(&target_without_std().join("release/mcp-no-std"));

    let control = build_without_std("server,plant-std");
    let complaint = String::from_utf8_lossy(&control.stderr).into_owned();
    assert!(!control.status.success(), "`std` was planted, and the build did not notice");
    assert!(complaint.contains("`panic_impl`"), "the build failed for another reason: {complaint}");
}

/// Runs a session with the server, whose heap has 64 KiB. It survives a message that is too long.
fn assert_serves(program: &Path) {
    let long = "x".repeat(2000);
    let input = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"2025-06-18","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}
{{"jsonrpc":"2.0","method":"notifications/initialized"}}
{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{long}"}}}}
{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"toggle"}}}}
"#
    );
    let mut server = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = server.stdin.take().expect("stdin is a pipe");
    stdin.write_all(input.as_bytes()).expect("the server reads");
    drop(stdin);
    let output = server.wait_with_output().expect("the server ends");
    let output = String::from_utf8(output.stdout).expect("the output is text");
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), 3, "{output}");
    assert!(lines[0].starts_with(r#"{"jsonrpc":"2.0","id":0,"result":"#), "{output}");
    assert!(lines[1].contains("error"), "{output}");
    let result =
        r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"toggled"}]}}"#;
    assert_eq!(lines[2], result);
}

fn target_without_std() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("../no-std")
}

fn build_without_std(features: &str) -> Output {
    let target = target_without_std();
    let target = target.to_str().expect("the target directory is UTF-8");
    let manifest = "tests/no-std/Cargo.toml";
    let build = ["build", "--release", "--manifest-path", manifest, "--target-dir", target];
    let arguments = [&build[..], &["--no-default-features", "--features", features]].concat();
    cargo::run(&workspace(), &arguments).expect("cargo runs")
}

/// Returns the output of a successful cargo command.
fn succeed(arguments: &[&str]) -> String {
    let output = cargo::run(&workspace(), arguments).expect("cargo runs");
    assert!(
        output.status.success(),
        "cargo {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("cargo prints UTF-8")
}

fn core() -> Vec<SourceFile> {
    read(&[CORE])
}

fn core_and_adapters() -> Vec<SourceFile> {
    let mut files = read(&[CORE, "adapters"]);
    files.retain(|file| file.path.contains("/src/"));
    files
}

fn read(directories: &[&str]) -> Vec<SourceFile> {
    let files = sources::read(&workspace(), directories).expect("the sources are readable");
    assert!(!files.is_empty(), "no sources in {directories:?}: the rule was applied to nothing");
    files
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn assert_none(breaches: &[Breach]) {
    let list: Vec<String> = breaches.iter().map(ToString::to_string).collect();
    assert!(list.is_empty(), "{} breaches:\n{}", list.len(), list.join("\n"));
}
