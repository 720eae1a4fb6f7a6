//! Tests of opening and closing.

use alloc::string::String;

use super::phase::Phase;
use super::{Lifecycle, OpenAction};
use crate::client::{Client, Config, Event};
use crate::connection::context::Env;
use crate::message_endpoint::MessageEndpoint as _;
use crate::revision::Side;
use crate::vocabulary::{CallError, CloseReason, Fault, Identity, StreamId};
use crate::{CallOptions, Era, ErrorObject, Instant, Limits, Revision};

const WELCOME: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2026-07-28",
    "capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;

fn answered(config: Config) -> (Client, Option<Event>) {
    let mut client = Client::new(Instant::ZERO, config.expect_era(Era::Legacy));
    client.poll_outgoing().unwrap();
    client.handle_message(Instant::ZERO, StreamId::ONLY, WELCOME.as_bytes());
    let event = client.poll_event();
    (client, event)
}

#[test]
fn a_modern_initialize_result_is_accepted_only_if_configured_t_31() {
    let (_, event) = answered(Config::new("c", "1"));
    assert!(
        matches!(event, Some(Event::Closed(CloseReason::Fault(Fault::NoCommonRevision(_))))),
        "{event:?}"
    );

    let (mut client, event) = answered(Config::new("c", "1").accept_modern_initialize());
    assert!(matches!(event, Some(Event::Ready(_))), "{event:?}");
    client.call_raw(Instant::ZERO, "tools/list", None, CallOptions::default()).unwrap();
    let lines: [String; 2] = core::array::from_fn(|_| {
        String::from_utf8(client.poll_outgoing().unwrap().body.to_vec()).unwrap()
    });
    assert!(lines[0].contains("notifications/initialized"));
    assert!(
        lines[1].contains(r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#),
        "{}",
        lines[1]
    );
}

const LEGACY: Revision = Revision::V2025_11_25;
const MODERN: Revision = Revision::V2026_07_28;

#[test]
fn the_first_message_is_a_probe_unless_the_server_is_known_to_be_legacy_lif_26() {
    let limits = Limits::default();
    let (short, long) = (limits.probe_timeout, limits.handshake_timeout);
    let open = |revisions: &[Revision], expected| {
        let mut identity = Identity::for_test(Side::Client, Limits::default(), revisions);
        identity.expected_era = expected;
        Lifecycle::open(&identity)
    };
    for (expected, is_probe) in
        [(None, true), (Some(Era::Modern), true), (Some(Era::Legacy), false)]
    {
        match open(&[LEGACY, MODERN], expected) {
            OpenAction::Probe(MODERN, timeout) if is_probe => assert_eq!(timeout, short),
            OpenAction::Initialize(LEGACY) if !is_probe => {}
            other => panic!("{expected:?} {other:?}"),
        }
        // With a single era there is no fallback, so the long timeout applies.
        assert!(matches!(open(&[MODERN], expected), OpenAction::Probe(MODERN, it) if it == long));
        assert!(matches!(open(&[LEGACY], expected), OpenAction::Initialize(LEGACY)));
        assert!(matches!(open(&[], expected), OpenAction::Fault(Fault::NoRevisionConfigured)));
    }
}

fn both() -> Env {
    let mut env = Env::for_test(Side::Client, Limits::default(), LEGACY);
    env.identity = Identity::for_test(Side::Client, Limits::default(), &[LEGACY, MODERN]).into();
    env.terms.peer = None;
    env.terms.trying = MODERN;
    env
}

#[test]
fn a_refused_initialize_is_followed_by_one_probe_unless_one_was_answered_lif_31() {
    let refused = || Err(CallError::Refused(ErrorObject::new(-1, "no")));
    for (answer, is_probed) in [(Err(CallError::TimedOut), true), (refused(), false)] {
        let mut lifecycle = Lifecycle::default();
        lifecycle.on_probe_sent(MODERN);
        assert!(matches!(lifecycle.on_discovered(&both(), answer), OpenAction::Initialize(LEGACY)));
        assert_eq!(lifecycle.takes_late_refusal(), is_probed);
        let next = lifecycle.on_initialized(&both(), refused());
        assert_eq!(matches!(next, OpenAction::Probe(MODERN, _)), is_probed, "{next:?}");
        let next = lifecycle.on_initialized(&both(), refused());
        assert!(matches!(next, OpenAction::Fault(Fault::Refused(_))), "{next:?}");
    }
}

#[test]
fn each_failure_of_initialize_maps_to_a_fault() {
    for (error, wanted) in [
        (CallError::TimedOut, Fault::HandshakeTimedOut),
        (CallError::Lost, Fault::Unreachable(CallError::Lost)),
        (CallError::Unsent, Fault::Unreachable(CallError::Unsent)),
        (CallError::Invalid("x".into()), Fault::BadHandshake("invalid response: x".into())),
    ] {
        let next = Lifecycle::default().on_initialized(&both(), Err(error));
        assert!(matches!(&next, OpenAction::Fault(fault) if *fault == wanted), "{next:?}");
    }
}

#[test]
fn a_server_that_exits_on_the_probe_is_reconnected_as_legacy_t_36() {
    let mut lifecycle = Lifecycle::default();
    lifecycle.on_probe_sent(MODERN);
    lifecycle.begin_end(CloseReason::Peer);
    let mut env = both();
    assert!(lifecycle.legacy_fallback(&env).is_none(), "the connection is not closed yet");
    env.terms.phase = Phase::Closed;
    assert_eq!(lifecycle.legacy_fallback(&env).unwrap().revisions, [LEGACY]);
    // A server may also exit once it receives `initialize` after it has ignored the probe.
    let _next = lifecycle.on_discovered(&env, Err(CallError::TimedOut));
    let mut at_initialize = both();
    at_initialize.terms.phase = Phase::Closed;
    at_initialize.terms.trying = LEGACY;
    assert_eq!(lifecycle.legacy_fallback(&at_initialize).unwrap().revisions, [LEGACY]);
    let mut unprobed = Lifecycle::default();
    unprobed.begin_end(CloseReason::Peer);
    assert!(unprobed.legacy_fallback(&at_initialize).is_none(), "there was no probe");
    let refused = CallError::Refused(ErrorObject::method_not_found("server/discover"));
    let _next = lifecycle.on_discovered(&env, Err(refused));
    assert!(lifecycle.legacy_fallback(&env).is_none(), "the probe was answered");
}

#[test]
fn the_first_reason_is_kept_unless_a_fault_follows() {
    let mut lifecycle = Lifecycle::default();
    lifecycle.begin_end(CloseReason::Peer);
    lifecycle.begin_end(CloseReason::Local);
    assert_eq!((lifecycle.reason(), lifecycle.closed(Phase::Draining)), (CloseReason::Peer, None));
    lifecycle.fault(Fault::Stalled);
    assert_eq!(lifecycle.closed(Phase::Closed), Some(&CloseReason::Fault(Fault::Stalled)));
}

#[test]
fn the_drain_timeout_fires_once() {
    let mut lifecycle = Lifecycle::default();
    lifecycle.drain_until(Instant::from_millis(5));
    lifecycle.drain_until(Instant::from_millis(9));
    assert!(!lifecycle.take_due(Instant::from_millis(4)));
    assert!(lifecycle.take_due(Instant::from_millis(5)));
    assert!(!lifecycle.take_due(Instant::from_millis(6)) && lifecycle.next_deadline().is_none());
}
