//! How a connection opens and ends.

use alloc::string::String;

use super::phase::Phase;
use super::{Lifecycle, OpeningAction};
use crate::client::{Client, Config, Event};
use crate::connection::context::Env;
use crate::connection::{CallError, Close, Fault, Identity, Session as _, StreamId};
use crate::revision::Side;
use crate::{CallOptions, Era, ErrorObject, Instant, Limits, Revision};

const WELCOME: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2026-07-28","capabilities":{"tools":{}},
    "serverInfo":{"name":"s","version":"1"}}}"#;

fn answered(config: Config) -> (Client, Option<Event>) {
    let mut client = Client::new(Instant::ZERO, config.expect(Era::Legacy));
    client.poll_outgoing().unwrap();
    client.handle_message(Instant::ZERO, StreamId::ONLY, WELCOME.as_bytes());
    let event = client.poll_event();
    (client, event)
}

#[test]
fn a_welcome_of_the_modern_revision_is_taken_only_where_that_was_asked_for_t_31() {
    let (_, event) = answered(Config::new("c", "1"));
    assert!(
        matches!(event, Some(Event::Closed(Close::Fault(Fault::NoCommonRevision(_))))),
        "{event:?}"
    );

    let (mut client, event) = answered(Config::new("c", "1").take_modern_welcome());
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
        identity.expected = expected;
        Lifecycle::open(&identity)
    };
    for (expected, is_probe) in
        [(None, true), (Some(Era::Modern), true), (Some(Era::Legacy), false)]
    {
        match open(&[LEGACY, MODERN], expected) {
            OpeningAction::Probe(MODERN, timeout) if is_probe => assert_eq!(timeout, short),
            OpeningAction::Initialize(LEGACY) if !is_probe => {}
            other => panic!("{expected:?} {other:?}"),
        }
        // There is nothing else to try, and all the time for it.
        assert!(
            matches!(open(&[MODERN], expected), OpeningAction::Probe(MODERN, timeout) if timeout == long)
        );
        assert!(matches!(open(&[LEGACY], expected), OpeningAction::Initialize(LEGACY)));
        assert!(matches!(open(&[], expected), OpeningAction::Fault(Fault::NothingToOffer)));
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
fn a_refused_initialize_leads_to_one_more_probe_unless_one_was_answered_lif_31() {
    let refused = || Err(CallError::Refused(ErrorObject::new(-1, "no")));
    for (answer, is_probed) in [(Err(CallError::TimedOut), true), (refused(), false)] {
        let mut lifecycle = Lifecycle::default();
        lifecycle.on_probe_sent(MODERN);
        assert!(matches!(
            lifecycle.on_discovered(&both(), answer),
            OpeningAction::Initialize(LEGACY)
        ));
        assert_eq!(lifecycle.takes_late_refusal(), is_probed);
        let next = lifecycle.on_initialized(&both(), refused());
        assert_eq!(matches!(next, OpeningAction::Probe(MODERN, _)), is_probed, "{next:?}");
        let next = lifecycle.on_initialized(&both(), refused());
        assert!(matches!(next, OpeningAction::Fault(Fault::Refused(_))), "{next:?}");
    }
}

#[test]
fn each_way_in_which_initialize_fails_is_a_fault_of_its_own() {
    for (error, wanted) in [
        (CallError::TimedOut, Fault::HandshakeTimedOut),
        (CallError::Lost, Fault::Unopened(CallError::Lost)),
        (CallError::Unsent, Fault::Unopened(CallError::Unsent)),
        (CallError::Invalid("x".into()), Fault::BadHandshake("the answer is invalid: x".into())),
    ] {
        let next = Lifecycle::default().on_initialized(&both(), Err(error));
        assert!(matches!(&next, OpeningAction::Fault(fault) if *fault == wanted), "{next:?}");
    }
}

#[test]
fn a_server_that_goes_away_at_the_probe_is_connected_to_without_the_modern_era_t_36() {
    let mut lifecycle = Lifecycle::default();
    lifecycle.on_probe_sent(MODERN);
    lifecycle.begin_end(Close::Peer);
    let mut env = both();
    assert!(lifecycle.fallback(&env).is_none(), "it is not over yet");
    env.terms.phase = Phase::Closed;
    assert_eq!(lifecycle.fallback(&env).unwrap().revisions, [LEGACY]);
    let mut at_initialize = both();
    at_initialize.terms.phase = Phase::Closed;
    at_initialize.terms.trying = LEGACY;
    assert!(lifecycle.fallback(&at_initialize).is_none());
    let _next = lifecycle.on_discovered(&env, Err(CallError::Lost));
    assert!(lifecycle.fallback(&env).is_none(), "the probe was answered");
}

#[test]
fn the_first_reason_for_the_end_counts_unless_a_fault_follows() {
    let mut lifecycle = Lifecycle::default();
    lifecycle.begin_end(Close::Peer);
    lifecycle.begin_end(Close::Local);
    assert_eq!((lifecycle.reason(), lifecycle.closed(Phase::Draining)), (Close::Peer, None));
    lifecycle.fault(Fault::Stalled);
    assert_eq!(lifecycle.closed(Phase::Closed), Some(&Close::Fault(Fault::Stalled)));
}

#[test]
fn the_time_to_drain_is_up_once() {
    let mut lifecycle = Lifecycle::default();
    lifecycle.set_drain(Some(Instant::from_millis(5)));
    assert!(!lifecycle.take_due(Instant::from_millis(4)));
    assert!(lifecycle.take_due(Instant::from_millis(5)));
    assert!(!lifecycle.take_due(Instant::from_millis(6)) && lifecycle.next_deadline().is_none());
}
