//! The columns of the methods' table, each against the text of the requirements.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::super::*;
use crate::method::MethodId;

fn question(name: &str, revision: Revision) -> Option<&'static MethodRule> {
    MethodRule::question(MethodId::from_name(name)?, revision)
}

/// Requirements §2.1, what stands in `inputRequests` in 2026-07-28 and is a request of the server
/// before. (STL-16)
#[test]
fn the_same_three_are_asked_in_every_revision_that_has_them_by_either_way_stl_16_stl_17() {
    for (name, since) in
        [("elicitation/create", R1), ("roots/list", R1), ("sampling/createMessage", R1)]
    {
        for revision in Revision::ALL {
            let rule = question(name, revision);
            assert_eq!(rule.is_some(), since <= revision, "{name} in {revision}");
            let Some(rule) = rule else { continue };
            // As a request it is there exactly where servers ask.
            let request = MethodRule::find(name, true, revision).is_some();
            assert_eq!(request, revision.rules().servers_ask, "{name} in {revision}");
            assert!(rule.is_sent_by(Server) && !rule.is_sent_by(Client), "{name} in {revision}");
        }
    }
    for name in ["tools/call", "tools/list", "ping", "tasks/get", "server/discover", "", "x/y"] {
        assert!(question(name, R5).is_none(), "{name}");
    }
}

#[test]
fn a_question_needs_what_the_request_of_the_revision_before_needed_cap_16() {
    let conditions = |rule: &MethodRule| {
        rule.conditions
            .iter()
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
}

/// The `I` of §2.1, in every revision: before 2026-07-28 the core emulates it by requests.
#[test]
fn the_same_methods_ask_in_every_revision_stl_14() {
    for rule in METHODS {
        let asks = matches!(rule.name, "prompts/get" | "resources/read" | "tools/call");
        assert_eq!(rule.may_ask, asks, "{} from {}", rule.name, rule.since);
    }
}

/// The `K` of §2.1, and D-17.
#[test]
fn six_results_of_the_last_revision_say_for_how_long_they_are_good_and_what_ends_that_stl_39_stl_42()
 {
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

/// Members of params that are marked `*` and are strings in §2.1 and §2.2, where the core must look
/// at them.
#[test]
fn required_words_are_looked_at_in_every_revision_json_16() {
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
        let wanted =
            table.iter().find(|(name, _)| *name == rule.name).map_or(&[][..], |(_, words)| words);
        let wanted = if rule.name == "notifications/tasks/status" { &["taskId"] } else { wanted };
        assert_eq!(rule.text_params, wanted, "{} from {}", rule.name, rule.since);
    }
}

#[test]
fn humans_are_waited_for_where_humans_answer_t_60() {
    let human = ["elicitation/create", "sampling/createMessage", "tasks/result"];
    for rule in METHODS.iter().chain(QUESTIONS) {
        let wanted = if human.contains(&rule.name) { Patience::Human } else { Patience::Call };
        assert_eq!(rule.patience, wanted, "{} from {}", rule.name, rule.since);
    }
}

/// Applications have other words for these, or none; the rest is theirs to send by name.
#[test]
fn what_the_machine_sends_itself_is_nobody_elses_to_send() {
    for revision in Revision::ALL {
        let is_modern = revision.era() == Era::Modern;
        let spoken = |rule: &&MethodRule| rule.since <= revision && revision <= rule.until;
        let internal: BTreeSet<&str> = METHODS
            .iter()
            .filter(spoken)
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
fn only_completion_in_the_first_revision_is_offered_without_being_declared_cap_04_cap_19() {
    for rule in METHODS.iter().chain(QUESTIONS) {
        let wanted =
            (rule.name == "completion/complete" && rule.since == R1).then_some(C::Completions);
        assert_eq!(rule.offered_with, wanted, "{} from {}", rule.name, rule.since);
        assert!(rule.offered_with.is_none() || rule.needs.is_none(), "{}", rule.name);
    }
}

#[test]
fn servers_ask_where_there_are_sessions_and_the_codes_are_the_revisions_stl_13_cap_15() {
    for revision in Revision::ALL {
        let rules = revision.rules();
        assert_eq!(rules.servers_ask, rules.era == Era::Legacy, "{revision}");
        let wanted = if rules.era == Era::Legacy { -32603 } else { -32021 };
        assert_eq!(rules.missing_capability, wanted, "{revision}");
    }
}
