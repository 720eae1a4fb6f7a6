//! Golden transcripts: each is replayed unchanged, with every split point of its input, byte by
//! byte, and in other poll orders, and must always match.
//!
//! After an intended change, `MCP_HARNESS_BLESS=1 cargo test -p mcp-harness transcripts` rewrites
//! them; review the difference.

use std::fs;
use std::path::{Path, PathBuf};

use mcp_harness::Golden;
use mcp_proto::{Revision, Side};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts")
}

/// Defines one test per file.
macro_rules! golden {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                Golden::load(&directory().join(concat!(stringify!($name), ".txt"))).assert();
            }
        )*

        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

golden! {
    client_bad_welcome
    client_cache
    client_cancel
    client_chatter
    client_eof
    client_handshake_timeout
    client_keepalive
    client_legacy_listen
    client_legacy_listen_again
    client_legacy_listen_refused
    client_listen
    client_listen_ends
    client_listen_eof
    client_listen_silent
    client_modern_answer
    client_modern_logs
    client_modern_sends
    client_modern_takes_no_requests
    client_negotiates_down
    client_probe_discovered
    client_probe_eof
    client_probe_expected_legacy
    client_probe_late_error
    client_probe_modern_error
    client_probe_modern_only_refused
    client_probe_refused_32000
    client_probe_refused_32600
    client_probe_refused_32601
    client_probe_refused_32602
    client_probe_refused_null_id
    client_probe_refused_other_id
    client_probe_refused_twice
    client_probe_silent
    client_probe_silent_refused
    client_probe_unsupported_common
    client_probe_unsupported_legacy
    client_probe_unsupported_none
    client_probe_versions_legacy
    client_r1_session
    client_r2_batches
    client_r2_session
    client_r3_session
    client_r4_session
    client_refused
    client_refused_without_id
    client_requests
    client_responses
    client_rounds
    client_rounds_bad
    client_rounds_cancelled
    client_rounds_declined
    client_rounds_endless
    client_rounds_eof
    client_rounds_pauses
    client_rounds_timeout
    client_rounds_two
    client_rounds_two_calls
    client_rounds_undeclared
    client_timeouts
    client_unknown_version
    server_ask_undeclared
    server_calls
    server_cancel
    server_changes
    server_close
    server_crlf
    server_envelopes
    server_eof_truncated
    server_eof_whole
    server_error_storm
    server_ids
    server_legacy_rounds
    server_listen
    server_listen_odd
    server_logging
    server_modern_cancel
    server_modern_logs
    server_modern_meta
    server_modern_methods
    server_negotiation
    server_open_ids
    server_overlong
    server_policy_close
    server_r1_garbage
    server_r1_progress
    server_r1_tools
    server_r2_batch_cancelled
    server_r2_batches
    server_r2_only
    server_r3_arrays
    server_r3_asks
    server_r4_ask_cancelled
    server_r4_ask_refused
    server_r4_asks_three
    server_r4_garbage
    server_r4_progress
    server_responses
    server_rounds
    server_rounds_extra
    server_rounds_malformed
    server_rounds_missing
    server_rounds_tampered
    server_rounds_undeclared
    server_stamps
    server_violations_max
}

#[test]
fn every_file_has_its_test() {
    let mut stems: Vec<String> = Golden::load_all(&directory())
        .iter()
        .map(|golden| golden.path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    stems.sort();
    assert_eq!(stems, NAMES);
}

/// All files in one test and each only unchanged: fast enough for thousands of mutants.
#[test]
fn all_match() {
    for golden in Golden::load_all(&directory()) {
        assert_eq!(golden.mismatch(), None, "{}", golden.path.display());
    }
}

#[test]
fn both_roles_and_every_revision_have_transcripts() {
    let golden = Golden::load_all(&directory());
    for revision in Revision::LEGACY {
        for side in [Side::Client, Side::Server] {
            let spoken = golden.iter().filter(|golden| golden.side == side).any(|golden| {
                fs::read_to_string(&golden.path).unwrap().contains(&format!("! ready {revision}"))
            });
            assert!(spoken, "{side:?} {revision}");
        }
    }
}

#[test]
fn a_mismatch_names_its_place() {
    let text = concat!(
        "role: server\n\n",
        "> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
        "< {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n",
    );
    let mismatch = Golden::parse(Path::new("wrong"), text).mismatch().unwrap();
    assert!(mismatch.contains("- < {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}"), "{mismatch}");
    assert!(mismatch.contains("+ < {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"), "{mismatch}");
}
