//! Tests of the contexts of requests: parsed, reused and refused.

use alloc::format;
use alloc::string::{String, ToString};

use super::*;
use crate::limits::Limits;
use crate::vocabulary::for_test::{message, params_in};

const REVISION: Revision = Revision::V2026_07_28;

fn server() -> Arc<Identity> {
    Arc::new(Identity::for_test(Side::Server, Limits::default(), &[REVISION]))
}

/// Returns a message with a context that has the additional members `more`.
fn request(more: &str) -> String {
    let version = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
    let capabilities = r#""io.modelcontextprotocol/clientCapabilities":{"roots":{}}"#;
    message(&format!(r#"{{"_meta":{{{version},{capabilities}{more}}}}}"#))
}

fn read(
    contexts: &mut ContextCache,
    identity: &Arc<Identity>,
    message: &str,
) -> Result<RequestContext, ErrorObject> {
    contexts.read(identity, Frame::Borrowed(message.as_bytes()), &params_in(message))
}

#[test]
fn a_context_holds_client_log_level_and_progress_token_stl_01_log_04() {
    let info = r#""io.modelcontextprotocol/clientInfo":{"name":"c","version":"2"}"#;
    let text = request(&format!(
        r#",{info},"io.modelcontextprotocol/logLevel":"error","progressToken":7"#
    ));
    let (mut contexts, server) = (ContextCache::default(), server());
    // Parsed, then reused.
    for _ in 0..2 {
        let sender = read(&mut contexts, &server, &text).unwrap();
        assert_eq!((sender.peer.revision, &*sender.peer.info.name), (REVISION, "c"));
        assert!(
            sender.peer.has(crate::Capability::Roots)
                && !sender.peer.has(crate::Capability::Sampling)
        );
        assert_eq!(sender.log_level, Some(Level::Error));
        assert_eq!(sender.progress_token.and_then(|token| token.as_u64()), Some(7));
        assert_eq!(sender.meta.unwrap().member("progressToken").unwrap().to_string(), "7");
    }
}

// STL-04
#[test]
fn a_context_without_client_info_is_complete() {
    let (mut contexts, server) = (ContextCache::default(), server());
    for info in ["", r#","io.modelcontextprotocol/clientInfo":1"#] {
        let sender = read(&mut contexts, &server, &request(info)).unwrap();
        assert_eq!((sender.peer.revision, &*sender.peer.info.name), (REVISION, ""), "{info}");
    }
}

#[test]
fn identical_bytes_are_parsed_once() {
    let (mut contexts, server) = (ContextCache::default(), server());
    let mut peer = |text: &str| read(&mut contexts, &server, text).unwrap().peer;
    let first = peer(&request(""));
    assert!(Arc::ptr_eq(&first, &peer(&request(""))));
    let other = peer(&request(r#","x":1"#));
    assert!(!Arc::ptr_eq(&first, &other));
    assert!(!Arc::ptr_eq(&other, &peer(&request(r#","x":2"#))), "equal length is not equality");
    assert!(!Arc::ptr_eq(&first, &peer(&request(""))), "only the latest is cached");
}

#[test]
fn long_contexts_and_those_with_line_breaks_are_not_reused() {
    let room = META_BYTES_MAX - params_in(&request(r#","x":"""#)).meta.unwrap().len();
    for (text, is_reused) in [
        (request(&format!(r#","x":"{}""#, "x".repeat(room))), true),
        (request(&format!(r#","x":"{}""#, "x".repeat(room + 1))), false),
        (request("").replace(':', ":\n"), false),
    ] {
        let (mut contexts, server) = (ContextCache::default(), server());
        let [first, second] = [(); 2].map(|()| read(&mut contexts, &server, &text).unwrap());
        assert_eq!(Arc::ptr_eq(&first.peer, &second.peer), is_reused, "{} bytes", text.len());
        assert!(!second.meta.unwrap().as_bytes().contains(&b'\n'), "line breaks are removed");
    }
}

// STL-03
#[test]
fn the_error_for_an_incomplete_context_lists_required_members_stl_03() {
    let version = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
    for meta in [
        String::new(),
        r#""io.modelcontextprotocol/clientCapabilities":{}"#.into(),
        version.into(),
        format!(r#"{version},"io.modelcontextprotocol/clientCapabilities":[]"#),
        concat!(
            r#""io.modelcontextprotocol/protocolVersion":5,"#,
            r#""io.modelcontextprotocol/clientCapabilities":{}"#,
        )
        .into(),
    ] {
        let text = message(&format!(r#"{{"_meta":{{{meta}}}}}"#));
        let error = read(&mut ContextCache::default(), &server(), &text).unwrap_err();
        assert_eq!(error.code, code::INVALID_PARAMS, "{meta}");
        let data = error.data.unwrap();
        assert_eq!(data.member("required").unwrap().elements().count(), 2);
        assert_eq!(data.member("supported").unwrap().to_string(), r#"["2026-07-28"]"#);
    }
}

#[test]
fn the_error_for_an_unsupported_revision_lists_the_supported_ones_lif_24() {
    for version in ["2025-11-25", "1999-01-01"] {
        let text = request("").replace("2026-07-28", version);
        let error = read(&mut ContextCache::default(), &server(), &text).unwrap_err();
        assert_eq!(error.code, code::UNSUPPORTED_PROTOCOL_VERSION);
        let data = error.data.unwrap().to_string();
        assert_eq!(data, format!(r#"{{"supported":["2026-07-28"],"requested":"{version}"}}"#));
    }
}

#[test]
fn an_invalid_context_does_not_replace_the_latest_one() {
    let (mut contexts, server) = (ContextCache::default(), server());
    let first = read(&mut contexts, &server, &request("")).unwrap().peer;
    let error =
        read(&mut contexts, &server, &request(r#","io.modelcontextprotocol/logLevel":"loud""#));
    assert_eq!(error.unwrap_err().code, code::INVALID_PARAMS);
    assert!(Arc::ptr_eq(&first, &read(&mut contexts, &server, &request("")).unwrap().peer));
}

#[test]
fn a_progress_token_over_the_id_limit_is_ignored() {
    let limits = Limits { id_bytes_max: 6, ..Limits::default() };
    let identity = Arc::new(Identity::for_test(Side::Server, limits, &[REVISION]));
    for (token, is_kept) in [(r#""1234""#, true), (r#""12345""#, false), ("{}", false)] {
        let sender = read(
            &mut ContextCache::default(),
            &identity,
            &request(&format!(r#","progressToken":{token}"#)),
        );
        assert_eq!(sender.unwrap().progress_token.is_some(), is_kept, "{token}");
    }
}
