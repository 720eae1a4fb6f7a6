//! Tests of the dispatch table: every method, side, phase and kind of context.

use super::*;
use crate::limits::Limits;
use crate::revision::Revision;
use crate::vocabulary::for_test::{message, params_in};

const PHASES: [Phase; 5] =
    [Phase::Opening, Phase::Greeted, Phase::Ready, Phase::Draining, Phase::Closed];
const SIDES: [Side; 2] = [Side::Client, Side::Server];
const MODERN: Revision = Revision::V2026_07_28;
const LEGACY: Revision = Revision::V2025_11_25;

/// Returns the environment of a side that supports only `revision`, in `phase`.
fn env(side: Side, phase: Phase, revision: Revision) -> Env {
    let mut env = Env::for_test(side, Limits::default(), revision);
    env.terms.phase = phase;
    env
}

/// Returns every method, and `None` for an unknown one.
fn methods() -> impl Iterator<Item = Option<MethodId>> {
    MethodId::ALL.iter().copied().map(Some).chain([None])
}

#[test]
fn a_request_that_carries_its_context_never_reaches_the_session_lif_21() {
    for (side, phase) in SIDES.into_iter().flat_map(|side| PHASES.map(|phase| (side, phase))) {
        for method in methods() {
            let wanted = match method {
                Some(MethodId::Discover) => ModernTarget::Discover,
                Some(MethodId::Listen) => ModernTarget::Listen,
                _ => ModernTarget::Application,
            };
            for revision in [LEGACY, MODERN] {
                let target = request(&env(side, phase, revision), method, true);
                assert_eq!(target, RequestTarget::Modern(wanted), "{side:?} {phase:?} {method:?}");
            }
        }
    }
}

#[test]
fn an_incomplete_context_is_recognized_as_one() {
    for (meta, wanted) in [
        (r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"x"}}"#, true),
        (r#"{"_meta":{"io.modelcontextprotocol/clientCapabilities":1}}"#, true),
        (r#"{"_meta":{"io.modelcontextprotocol/clientInfo":{}}}"#, false),
        (r#"{"io.modelcontextprotocol/protocolVersion":"x"}"#, false),
        ("{}", false),
    ] {
        assert_eq!(carries_context(&params_in(&message(meta))), wanted, "{meta}");
    }
}

#[test]
fn a_session_request_goes_to_the_part_for_its_method() {
    use RequestTarget::{Initialize, Ping, Session};
    use SessionTarget::{Application, SetLogLevel, Subscribe, Unsubscribe};
    for (side, phase) in SIDES.into_iter().flat_map(|side| PHASES.map(|phase| (side, phase))) {
        for method in methods() {
            let wanted = match (method, side, phase) {
                (Some(MethodId::Ping), ..) => Ping,
                // A second `initialize` is refused by the application target.
                (Some(MethodId::Initialize), Side::Server, Phase::Opening) => Initialize,
                (Some(MethodId::SetLogLevel), ..) => Session(SetLogLevel),
                (Some(MethodId::Subscribe), ..) => Session(Subscribe),
                (Some(MethodId::Unsubscribe), ..) => Session(Unsubscribe),
                _ => Session(Application),
            };
            let target = request(&env(side, phase, LEGACY), method, false);
            assert_eq!(target, wanted, "{side:?} {phase:?} {method:?}");
        }
    }
}

/// A modern-only server reports the missing context instead.
#[test]
fn only_a_side_with_sessions_answers_pings_without_a_context_t_26() {
    for (side, revision, is_ping) in [
        (Side::Client, LEGACY, true),
        (Side::Client, MODERN, true),
        (Side::Server, LEGACY, true),
        (Side::Server, MODERN, false),
    ] {
        let target = request(&env(side, Phase::Opening, revision), Some(MethodId::Ping), false);
        assert_eq!(target == RequestTarget::Ping, is_ping, "{side:?} {revision}");
    }
}

#[test]
fn a_notification_goes_to_the_part_for_its_method() {
    use NotificationTarget::{Application, Cancelled, Initialized, Progress, Subscription};
    for (side, phase) in SIDES.into_iter().flat_map(|side| PHASES.map(|phase| (side, phase))) {
        for method in methods() {
            let wanted = match (method.map(MethodId::name), side) {
                (Some("notifications/cancelled"), _) => Cancelled,
                (Some("notifications/initialized"), Side::Server) => Initialized,
                (Some("notifications/progress"), _) => Progress,
                (
                    Some(
                        "notifications/prompts/list_changed"
                        | "notifications/resources/list_changed"
                        | "notifications/resources/updated"
                        | "notifications/subscriptions/acknowledged"
                        | "notifications/tools/list_changed",
                    ),
                    Side::Client,
                ) => Subscription,
                _ => Application,
            };
            let target = notification(&env(side, phase, LEGACY), method);
            assert_eq!(target, wanted, "{side:?} {phase:?} {method:?}");
        }
    }
}
