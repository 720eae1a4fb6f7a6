//! Replays the committed corpora under a stable compiler, as regression tests.

use std::fs;
use std::path::{Path, PathBuf};

type Body = fn(&[u8]);

const BODIES: &[(&str, Body)] = &[
    ("line", mcp_fuzz_bodies::line),
    ("envelope", mcp_fuzz_bodies::envelope),
    ("raw_splice", mcp_fuzz_bodies::raw_splice),
    ("schema_decode", mcp_fuzz_bodies::schema_decode),
    ("stream_server", mcp_fuzz_bodies::stream_server),
    ("stream_client", mcp_fuzz_bodies::stream_client),
    ("pair", mcp_fuzz_bodies::pair),
    ("revisions", mcp_fuzz_bodies::revisions),
    ("field", mcp_fuzz_bodies::field),
    ("guard", mcp_fuzz_bodies::guard),
    ("sse", mcp_fuzz_bodies::sse),
    ("admit", mcp_fuzz_bodies::admit),
    ("http_client", mcp_fuzz_bodies::http_client),
    ("legacy_sse", mcp_fuzz_bodies::legacy_sse),
    ("exchange", mcp_fuzz_bodies::exchange),
    ("session", mcp_fuzz_bodies::session),
    ("auth_uri", mcp_fuzz_bodies::auth_uri),
    ("auth_metadata", mcp_fuzz_bodies::auth_metadata),
    ("auth_redirect", mcp_fuzz_bodies::auth_redirect),
    ("auth_token", mcp_fuzz_bodies::auth_token),
    ("auth_record", mcp_fuzz_bodies::auth_record),
    ("auth_challenge", mcp_fuzz_bodies::auth_challenge),
    ("auth_machine", mcp_fuzz_bodies::auth_machine),
    ("text", mcp_fuzz_bodies::text),
];

#[test]
fn every_corpus_replays() {
    for (name, body) in BODIES {
        let files = files(&corpora().join(name));
        assert!(!files.is_empty(), "{name} has no corpus");
        for path in files {
            // A failing test shows its output.
            println!("{}", path.display());
            body(&fs::read(&path).unwrap());
        }
    }
}

#[test]
fn every_target_has_a_body_here_and_says_its_invariant_first() {
    let targets = files(&corpora().join("../fuzz_targets"));
    assert_eq!(targets.len(), BODIES.len());
    for path in targets {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(BODIES.iter().any(|(known, _)| *known == name), "{name}");
        let text = fs::read_to_string(&path).unwrap();
        let first = text.lines().next().unwrap();
        assert!(first.starts_with("//! ") && first.ends_with('.'), "{name}: {first}");
    }
}

#[test]
fn the_corpora_stay_small() {
    let bytes: u64 = BODIES
        .iter()
        .flat_map(|(name, _)| files(&corpora().join(name)))
        .map(|path| fs::metadata(path).unwrap().len())
        .sum();
    assert!(bytes < 200_000, "{bytes} bytes");
}

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus")
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
