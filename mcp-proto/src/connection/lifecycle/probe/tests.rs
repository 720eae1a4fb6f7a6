//! Tests of the probe table, row by row.

use alloc::format;

use super::*;
use crate::json::Raw;
use crate::rpc::ErrorObject;

const MODERN: Revision = Revision::V2026_07_28;
const LEGACY: Revision = Revision::V2025_11_25;
const OLDER: Revision = Revision::V2025_03_26;
const BOTH: &[Revision] = &[OLDER, LEGACY, MODERN];
const MODERN_ONLY: &[Revision] = &[MODERN];

type Outcome = Result<Raw, CallError>;

fn discovered(versions: &str) -> Outcome {
    let text = format!(r#"{{"capabilities":{{"tools":{{}}}},"supportedVersions":{versions}}}"#);
    Ok(Raw::from_text(&text).unwrap())
}

fn refused(code: i64) -> Outcome {
    Err(CallError::Refused(ErrorObject::new(code, "no")))
}

fn speaks(versions: &str) -> Outcome {
    let data = Raw::from_text(&format!(r#"{{"supported":{versions}}}"#)).unwrap();
    let error = ErrorObject::new(code::UNSUPPORTED_PROTOCOL_VERSION, "no").with_data(data);
    Err(CallError::Refused(error))
}

fn shown(next: &OpenAction) -> String {
    match next {
        OpenAction::Agreed(peer) => format!("agreed {}", peer.revision),
        OpenAction::Fault(Fault::NoCommonRevision(names)) => {
            format!("no common revision {names}")
        }
        OpenAction::Fault(fault) => {
            let fault = format!("{fault:?}");
            fault.chars().take_while(|char| char.is_alphanumeric()).collect()
        }
        OpenAction::Initialize(revision) => format!("initialize {revision}"),
        OpenAction::Probe(revision, _) => format!("probe {revision}"),
    }
}

fn identity(revisions: &[Revision]) -> Identity {
    Identity::for_test(Side::Client, Limits::default(), revisions)
}

/// Returns the action after `outcome`, given the number of probes sent.
fn after(probes: u32, uses_exchanges: bool, ours: &[Revision], outcome: Outcome) -> String {
    let identity = identity(ours);
    let mut probing = Probing::default();
    (0..probes).for_each(|_| probing.on_sent(MODERN));
    if uses_exchanges {
        probing.use_exchanges();
    }
    shown(&probing.next(ProbeOutcome::of(outcome, &identity.limits), &identity, MODERN))
}

#[test]
fn each_outcome_leads_to_one_action_lif_28_lif_29() {
    let init = "initialize 2025-11-25";
    let rows: &[(&str, Outcome, &str, &str)] = &[
        // Name, outcome, action if both eras are supported, action if only the modern one is.
        ("its revision", discovered(r#"["2026-07-28"]"#), "agreed 2026-07-28", "agreed 2026-07-28"),
        (
            "several",
            discovered(r#"["2024-11-05","2026-07-28"]"#),
            "agreed 2026-07-28",
            "agreed 2026-07-28",
        ),
        ("an older one", discovered(r#"["2025-11-25"]"#), init, "no common revision 2025-11-25"),
        (
            "the best of several",
            discovered(r#"["2025-03-26","2025-11-25"]"#),
            init,
            "no common revision 2025-03-26, 2025-11-25",
        ),
        (
            "the best in common",
            discovered(r#"["2025-03-26","2025-06-18"]"#),
            "initialize 2025-03-26",
            "no common revision 2025-03-26, 2025-06-18",
        ),
        ("none of ours", discovered(r#"["x"]"#), "no common revision x", "no common revision x"),
        ("others, in an error", speaks(r#"["2025-11-25"]"#), init, "no common revision 2025-11-25"),
        (
            "the tried one, in an error",
            speaks(r#"["2026-07-28"]"#),
            "no common revision 2026-07-28",
            "no common revision 2026-07-28",
        ),
        ("no names", refused(code::UNSUPPORTED_PROTOCOL_VERSION), "Refused", "Refused"),
        ("modern error", refused(code::HEADER_MISMATCH), "Refused", "Refused"),
        ("modern error", refused(code::MISSING_CLIENT_CAPABILITY), "Refused", "Refused"),
        ("any error", refused(code::METHOD_NOT_FOUND), init, "Refused"),
        (
            "access",
            Err(CallError::Http { status: 401, reason: None }),
            "Unreachable",
            "Unreachable",
        ),
        (
            "access",
            Err(CallError::Http { status: 403, reason: None }),
            "Unreachable",
            "Unreachable",
        ),
        ("unreachable", Err(CallError::Unsent), "Unreachable", "Unreachable"),
        ("a status", Err(CallError::Http { status: 404, reason: None }), init, "Unreachable"),
        ("lost", Err(CallError::Lost), init, "Unreachable"),
        ("silence", Err(CallError::TimedOut), init, "HandshakeTimedOut"),
        ("nonsense", Ok(Raw::empty_object()), init, "BadHandshake"),
        ("names that are no list", discovered(r#""2026-07-28""#), init, "BadHandshake"),
        ("nonsense", Err(CallError::Invalid("x".into())), init, "BadHandshake"),
    ];
    for (name, outcome, both, modern) in rows {
        assert_eq!(after(1, false, BOTH, outcome.clone()), *both, "{name} {outcome:?}");
        assert_eq!(after(1, false, MODERN_ONLY, outcome.clone()), *modern, "{name} {outcome:?}");
    }
}

#[test]
fn a_tried_revision_is_probed_again_once_and_only_over_exchanges_t_32_t_33() {
    let rows = [
        (0, false, "probe 2026-07-28"),
        (1, false, "no common revision 2026-07-28"),
        (1, true, "probe 2026-07-28"),
        (2, true, "no common revision 2026-07-28"),
    ];
    for (probes, uses_exchanges, wanted) in rows {
        let next = after(probes, uses_exchanges, BOTH, speaks(r#"["2026-07-28"]"#));
        assert_eq!(next, wanted, "{probes} {uses_exchanges}");
    }
    // A common legacy revision takes precedence.
    let next = after(1, true, BOTH, speaks(r#"["2026-07-28","2025-11-25"]"#));
    assert_eq!(next, "initialize 2025-11-25");
}

#[test]
fn an_oversized_answer_is_a_fault() {
    let ours = identity(BOTH);
    let limits = Limits { peer_bytes_max: 40, ..Limits::default() };
    let response = ProbeOutcome::of(discovered(r#"["2026-07-28"]"#), &limits);
    assert_eq!(shown(&Probing::default().next(response, &ours, MODERN)), "BadHandshake");
}

#[test]
fn quoted_revision_names_are_bounded() {
    let names: Vec<String> = (0..9).map(|n| format!("\"{n}{}\"", "x".repeat(40))).collect();
    let next = after(1, false, BOTH, discovered(&format!("[{}]", names.join(","))));
    let quoted: Vec<&str> = next.strip_prefix("no common revision ").unwrap().split(", ").collect();
    assert_eq!(quoted.len(), NAMES_MAX);
    assert!(quoted.iter().all(|name| name.len() == NAME_CHARS_MAX));
}

#[test]
fn one_probe_follows_a_refused_initialize_unless_one_was_answered_lif_31() {
    let mut probing = Probing::default();
    probing.on_sent(MODERN);
    probing.on_outcome(&Err(CallError::TimedOut));
    assert!(probing.take_last_chance(), "the first probe was not answered");
    assert!(
        !probing.take_last_chance() && !probing.is_unanswered(),
        "the second probe is the last"
    );

    let mut answered = Probing::default();
    answered.on_sent(MODERN);
    answered.on_outcome(&Ok(Raw::empty_object()));
    assert!(!answered.take_last_chance());

    // LIF-31: an unavailable server has not answered.
    for why in [CallError::Http { status: 503, reason: None }, CallError::Lost] {
        let mut unavailable = Probing::default();
        unavailable.on_sent(MODERN);
        unavailable.on_outcome(&Err(why));
        assert!(unavailable.was_unavailable() && unavailable.take_last_chance());
    }

    let mut sent_twice = Probing::default();
    (0..PROBES_MAX).for_each(|_| sent_twice.on_sent(MODERN));
    assert!(!sent_twice.take_last_chance());
}

#[test]
fn a_late_refusal_is_taken_once_after_a_probe_was_given_up_t_35() {
    let mut probing = Probing::default();
    assert!(!probing.take_late());
    probing.on_outcome(&Err(CallError::TimedOut));
    assert!(probing.take_late());
    assert!(!probing.take_late());
}
