//! Tests of reading and writing `initialize` and its result.

use alloc::format;
use alloc::string::String;

use super::*;
use crate::limits::Limits;
use crate::vocabulary::for_test::{message, params_in};

const ALL: &[Revision] = &Revision::ALL;
const LEGACY: &[Revision] = &[Revision::V2025_03_26, Revision::V2025_06_18];
const MODERN: &[Revision] = &[Revision::V2026_07_28];

fn identity(side: Side, revisions: &[Revision]) -> Identity {
    Identity::for_test(side, Limits::default(), revisions)
}

fn negotiated(params: &str, ours: &[Revision]) -> Result<Peer, ErrorObject> {
    negotiate(&params_in(&message(params)), &identity(Side::Server, ours))
}

#[test]
fn a_server_selects_the_offered_revision_or_its_newest_lif_03_lif_04_lif_33() {
    let rows: &[(&str, &[Revision], Result<Revision, i64>)] = &[
        (r#""2025-03-26""#, ALL, Ok(Revision::V2025_03_26)),
        (r#""2025-03-26""#, LEGACY, Ok(Revision::V2025_03_26)),
        (r#""2024-11-05""#, LEGACY, Ok(Revision::V2025_06_18)),
        (r#""1999-01-01""#, ALL, Ok(Revision::V2025_11_25)),
        // A modern revision has no sessions.
        (r#""2026-07-28""#, ALL, Ok(Revision::V2025_11_25)),
        (r#""2025-11-25""#, MODERN, Err(code::UNSUPPORTED_PROTOCOL_VERSION)),
        ("20250326", ALL, Err(code::INVALID_PARAMS)),
    ];
    for (offered, ours, wanted) in rows {
        let peer = negotiated(&format!(r#"{{"protocolVersion":{offered}}}"#), ours);
        assert_eq!(
            peer.map(|peer| peer.revision).map_err(|error| error.code),
            *wanted,
            "{offered} {ours:?}"
        );
    }
    assert!(negotiated("{}", ALL).is_err());
}

#[test]
fn missing_client_fields_default_to_unsupported() {
    let bare = negotiated(r#"{"protocolVersion":"2025-11-25"}"#, ALL).unwrap();
    assert!(!bare.has(crate::Capability::Roots) && bare.info.name.is_empty());
    let full = r#"{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},
        "clientInfo":{"name":"c","version":"1"}}"#;
    let full = negotiated(full, ALL).unwrap();
    assert!(full.has(crate::Capability::Roots) && !full.has(crate::Capability::Sampling));
    assert_eq!(&*full.info.name, "c");
}

#[test]
fn an_oversized_client_description_is_refused() {
    let params = r#"{"protocolVersion":"2025-11-25"}"#;
    for (bytes_max, is_taken) in [(params.len(), true), (params.len() - 1, false)] {
        let limits = Limits { peer_bytes_max: bytes_max, ..Limits::default() };
        let identity = Identity::for_test(Side::Server, limits, ALL);
        assert_eq!(negotiate(&params_in(&message(params)), &identity).is_ok(), is_taken);
    }
}

/// Describes the action of a client after an `initialize` result with `version`.
fn welcomed(version: &str, identity: &Identity) -> String {
    let text = format!(
        r#"{{"protocolVersion":{version},"capabilities":{{"tools":{{}}}},
        "serverInfo":{{"name":"s","version":"1"}}}}"#
    );
    match read_welcome(&Raw::from_text(&text).unwrap(), identity) {
        OpenAction::Agreed(peer) => format!("agreed {}", peer.revision),
        OpenAction::Fault(Fault::NoCommonRevision(version)) => format!("not {version}"),
        OpenAction::Fault(Fault::BadHandshake(_)) => "bad".into(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_client_accepts_only_configured_revisions_lif_06_t_31() {
    let mut client = identity(Side::Client, ALL);
    assert_eq!(welcomed(r#""2025-03-26""#, &client), "agreed 2025-03-26");
    assert_eq!(welcomed(r#""1999-01-01""#, &client), "not 1999-01-01");
    assert_eq!(welcomed("5", &client), "bad");
    assert_eq!(welcomed(r#""2026-07-28""#, &client), "not 2026-07-28");
    client.accepts_modern_initialize_result = true;
    assert_eq!(welcomed(r#""2026-07-28""#, &client), "agreed 2026-07-28");
    client.revisions = LEGACY.to_vec();
    assert_eq!(welcomed(r#""2025-11-25""#, &client), "not 2025-11-25");
    client.limits.peer_bytes_max = 20;
    assert_eq!(welcomed(r#""2025-03-26""#, &client), "bad");
}

#[test]
fn a_client_reads_what_a_server_writes() {
    let mut server = identity(Side::Server, ALL);
    server.instructions = Some("be brief".into());
    let mut out = Vec::new();
    write_welcome(&server, Revision::V2025_06_18, &mut out).unwrap();
    let client = identity(Side::Client, ALL);
    let OpenAction::Agreed(peer) = read_welcome(&Raw::from_written(out), &client) else {
        panic!("no welcome")
    };
    assert_eq!((peer.revision, &*peer.info.name), (Revision::V2025_06_18, "n"));
    assert_eq!(peer.instructions.as_deref(), Some("be brief"));
    assert!(peer.has(crate::Capability::Tools));
}
