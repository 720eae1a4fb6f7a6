//! Checks each column of the method table against the requirements.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::super::Side::{Client, Server};
use super::super::{Capability as C, *};
use crate::method::MethodId;

fn question(name: &str, revision: Revision) -> Option<&'static MethodRule> {
    MethodRule::question(MethodId::from_name(name)?, revision)
}

// STL-16.
/// Requirements §2.1: the methods in `inputRequests` of 2026-07-28 are server requests before.
#[test]
fn three_input_requests_exist_in_both_eras_stl_16_stl_17() {
    for (name, since) in
        [("elicitation/create", R1), ("roots/list", R1), ("sampling/createMessage", R1)]
    {
        for revision in Revision::ALL {
            let rule = question(name, revision);
            assert_eq!(rule.is_some(), since <= revision, "{name} in {revision}");
            let Some(rule) = rule else { continue };
            // The method is a request exactly where servers send requests.
            let request = MethodRule::find(name, true, revision).is_some();
            assert_eq!(request, revision.rules().server_requests, "{name} in {revision}");
            assert!(rule.is_sent_by(Server) && !rule.is_sent_by(Client), "{name} in {revision}");
        }
    }
    for name in ["tools/call", "tools/list", "ping", "tasks/get", "server/discover", "", "x/y"] {
        assert!(question(name, R5).is_none(), "{name}");
    }
}

#[test]
fn input_requests_require_what_the_earlier_requests_required_cap_16() {
    let conditions = |rule: &'static MethodRule| {
        rule.modes
            .iter()
            .chain(rule.conditions)
            .filter(|condition| condition.member != "task")
            .map(|condition| {
                (condition.member, condition.value, condition.needs, condition.binds_sender_only)
            })
            .collect::<Vec<_>>()
    };
    for name in ["elicitation/create", "roots/list", "sampling/createMessage"] {
        let before = MethodRule::find(name, true, R4).unwrap();
        let now = question(name, R5).unwrap();
        assert_eq!(now.needs, before.needs, "{name}");
        assert_eq!(conditions(now), conditions(before), "{name}");
        assert_eq!(
            (now.text_params, now.patience),
            (before.text_params, before.patience),
            "{name}"
        );
    }
    assert_eq!(question("roots/list", R5).unwrap().needs, Some(C::Roots));
    assert_eq!(question("sampling/createMessage", R5).unwrap().needs, Some(C::Sampling));
    let elicitation = question("elicitation/create", R5).unwrap();
    assert_eq!(
        conditions(elicitation),
        [
            ("mode", ConditionValue::AbsentOr("form"), C::ElicitationForm, false),
            ("mode", ConditionValue::Text("url"), C::ElicitationUrl, false),
        ]
    );
    for rule in METHODS.iter().chain(QUESTIONS) {
        let has_modes = rule.name == "elicitation/create" && rule.since >= R4;
        assert_eq!(!rule.modes.is_empty(), has_modes, "{} from {}", rule.name, rule.since);
        assert!(rule.modes.iter().all(|mode| mode.member == "mode" && !mode.binds_sender_only));
    }
}

/// The mark `I` of requirements §2.1. Before 2026-07-28 input requests are sent as requests.
#[test]
fn input_requests_are_allowed_equally_in_all_revisions_stl_14() {
    for rule in METHODS {
        let may_ask = matches!(rule.name, "prompts/get" | "resources/read" | "tools/call");
        assert_eq!(rule.may_ask, may_ask, "{} from {}", rule.name, rule.since);
    }
}

// D-17.
/// The mark `K` of requirements §2.1.
#[test]
fn six_modern_results_are_cacheable_and_invalidated_by_notifications_stl_39_stl_42() {
    let table: [(&str, &[&str]); 6] = [
        ("server/discover", &[]),
        ("tools/list", &["notifications/tools/list_changed"]),
        ("prompts/list", &["notifications/prompts/list_changed"]),
        ("resources/list", &["notifications/resources/list_changed"]),
        ("resources/templates/list", &["notifications/resources/list_changed"]),
        (
            "resources/read",
            &["notifications/resources/list_changed", "notifications/resources/updated"],
        ),
    ];
    for rule in METHODS.iter().chain(QUESTIONS) {
        let wanted = table.iter().find(|(name, _)| *name == rule.name).map(|(_, ends)| *ends);
        let wanted = wanted.filter(|_| rule.until == R5 && rule.since == R5).map(<[_]>::to_vec);
        let ends = |ends: &[MethodId]| ends.iter().map(|end| end.name()).collect::<Vec<_>>();
        assert_eq!(rule.cached_until.map(ends), wanted, "{} from {}", rule.name, rule.since);
        for end in rule.cached_until.into_iter().flatten() {
            assert!(!end.is_request() && end.rule(R5).is_some(), "{end}");
        }
    }
    assert_eq!(METHODS.iter().filter(|rule| rule.cached_until.is_some()).count(), table.len());
}

/// String members of params that are marked `*` in requirements §2.1 and §2.2 and that the core
/// must check.
#[test]
fn required_string_params_are_checked_in_every_revision_json_16() {
    let table: [(&str, &[&str]); 13] = [
        ("tools/call", &["name"]),
        ("prompts/get", &["name"]),
        ("resources/read", &["uri"]),
        ("resources/subscribe", &["uri"]),
        ("resources/unsubscribe", &["uri"]),
        ("logging/setLevel", &["level"]),
        ("elicitation/create", &["message"]),
        ("tasks/get", &["taskId"]),
        ("tasks/result", &["taskId"]),
        ("tasks/cancel", &["taskId"]),
        ("notifications/message", &["level"]),
        ("notifications/resources/updated", &["uri"]),
        ("notifications/elicitation/complete", &["elicitationId"]),
    ];
    for rule in METHODS.iter().chain(QUESTIONS) {
        let wanted = table
            .iter()
            .find(|(name, _)| *name == rule.name)
            .map_or(&[][..], |(_, members)| members);
        let wanted = if rule.name == "notifications/tasks/status" { &["taskId"] } else { wanted };
        assert_eq!(rule.text_params, wanted, "{} from {}", rule.name, rule.since);
    }
}

#[test]
fn requests_answered_by_humans_have_the_human_timeout_t_60() {
    let human = ["elicitation/create", "sampling/createMessage", "tasks/result"];
    for rule in METHODS.iter().chain(QUESTIONS) {
        let wanted = if human.contains(&rule.name) { Patience::Human } else { Patience::Call };
        assert_eq!(rule.patience, wanted, "{} from {}", rule.name, rule.since);
    }
}

/// Applications send these only through dedicated methods, or not at all.
#[test]
fn internal_methods_are_those_the_connection_sends_itself() {
    for revision in Revision::ALL {
        let is_modern = revision.era() == Era::Modern;
        let applies = |rule: &&MethodRule| rule.since <= revision && revision <= rule.until;
        let internal: BTreeSet<&str> = METHODS
            .iter()
            .filter(applies)
            .filter(|rule| rule.internal)
            .map(|rule| rule.name)
            .collect();
        let mut wanted = BTreeSet::from(["notifications/cancelled", "notifications/progress"]);
        wanted.extend(if is_modern {
            [
                "subscriptions/listen",
                "notifications/message",
                "notifications/subscriptions/acknowledged",
            ]
            .as_slice()
        } else {
            &["initialize", "notifications/initialized"]
        });
        assert_eq!(internal, wanted, "{revision}");
    }
}

#[test]
fn only_completion_of_the_first_revision_is_served_without_a_declared_capability_cap_04_cap_19() {
    for rule in METHODS.iter().chain(QUESTIONS) {
        let wanted =
            (rule.name == "completion/complete" && rule.since == R1).then_some(C::Completions);
        assert_eq!(rule.offered_with, wanted, "{} from {}", rule.name, rule.since);
        assert!(rule.offered_with.is_none() || rule.needs.is_none(), "{}", rule.name);
    }
}

#[test]
fn legacy_servers_send_requests_and_error_codes_depend_on_the_era_stl_13_cap_15() {
    for revision in Revision::ALL {
        let rules = revision.rules();
        assert_eq!(rules.server_requests, rules.era == Era::Legacy, "{revision}");
        let wanted = if rules.era == Era::Legacy { -32603 } else { -32021 };
        assert_eq!(rules.missing_capability, wanted, "{revision}");
    }
}
