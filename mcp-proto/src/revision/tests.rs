//! Checks the tables against an independent transcription of the requirements.

use alloc::collections::BTreeSet;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::Side::{Client, Server};
use super::{Capability as C, *};

mod columns;

/// Requirements §2.1 and §2.2 without extensions: kind, method, and its senders in R1 to R5: `c`
/// for the client, `s` for the server, `b` for both, `-` for neither.
const TABLE: &[(char, &str, &str)] = &[
    ('r', "initialize", "cccc-"),
    ('r', "ping", "bbbb-"),
    ('r', "server/discover", "----c"),
    ('r', "tools/list", "ccccc"),
    ('r', "tools/call", "ccccc"),
    ('r', "resources/list", "ccccc"),
    ('r', "resources/templates/list", "ccccc"),
    ('r', "resources/read", "ccccc"),
    ('r', "resources/subscribe", "cccc-"),
    ('r', "resources/unsubscribe", "cccc-"),
    ('r', "prompts/list", "ccccc"),
    ('r', "prompts/get", "ccccc"),
    ('r', "completion/complete", "ccccc"),
    ('r', "logging/setLevel", "cccc-"),
    ('r', "subscriptions/listen", "----c"),
    ('r', "sampling/createMessage", "ssss-"),
    ('r', "roots/list", "ssss-"),
    // Not in the first two revisions, but allowed for clients that declare the capability anyway.
    ('r', "elicitation/create", "ssss-"),
    ('r', "tasks/get", "---b-"),
    // TSK-37: modern revisions lack the method.
    ('r', "tasks/result", "---b-"),
    ('r', "tasks/list", "---b-"),
    ('r', "tasks/cancel", "---b-"),
    ('n', "notifications/initialized", "cccc-"),
    ('n', "notifications/cancelled", "bbbbb"),
    // PRG-13: modern clients send no progress.
    ('n', "notifications/progress", "bbbbs"),
    ('n', "notifications/message", "sssss"),
    ('n', "notifications/tools/list_changed", "sssss"),
    ('n', "notifications/prompts/list_changed", "sssss"),
    ('n', "notifications/resources/list_changed", "sssss"),
    ('n', "notifications/resources/updated", "sssss"),
    ('n', "notifications/roots/list_changed", "cccc-"),
    ('n', "notifications/elicitation/complete", "---s-"),
    ('n', "notifications/tasks/status", "---b-"),
    ('n', "notifications/subscriptions/acknowledged", "----s"),
];

fn senders(name: &str, is_request: bool, revision: Revision) -> char {
    let rule = MethodRule::find(name, is_request, revision);
    match rule.map(|rule| (rule.is_sent_by(Client), rule.is_sent_by(Server))) {
        None => '-',
        Some((true, true)) => 'b',
        Some((true, false)) => 'c',
        Some((false, true)) => 's',
        Some((false, false)) => '?',
    }
}

#[test]
fn methods_exist_exactly_for_their_revisions_and_senders() {
    for (kind, name, wanted) in TABLE {
        for (revision, wanted) in Revision::ALL.into_iter().zip(wanted.chars()) {
            assert_eq!(senders(name, *kind == 'r', revision), wanted, "{name} in {revision}");
            assert_eq!(
                senders(name, *kind != 'r', revision),
                '-',
                "{name} is both a request and a notification"
            );
        }
    }
    let ours: BTreeSet<&str> = METHODS.iter().map(|rule| rule.name).collect();
    let theirs: BTreeSet<&str> = TABLE.iter().map(|(_, name, _)| *name).collect();
    assert_eq!(ours, theirs);
}

#[test]
fn no_revision_has_a_method_twice() {
    for rule in METHODS {
        assert!(rule.since <= rule.until, "{}", rule.name);
        let rows = METHODS
            .iter()
            .filter(|other| other.name == rule.name && other.is_request == rule.is_request);
        let overlaps =
            rows.filter(|other| other.since <= rule.until && rule.since <= other.until).count();
        assert_eq!(overlaps, 1, "{}", rule.name);
    }
}

#[test]
fn unknown_and_differently_cased_names_are_not_found_t_14() {
    for name in [
        "shutdown",
        "exit",
        "sampling/complete",
        "elicitation/request",
        "Ping",
        "tools/Call",
        "",
        "rpc.x",
    ] {
        assert!(
            Revision::ALL.into_iter().all(|revision| senders(name, true, revision) == '-'),
            "{name}"
        );
    }
}

/// The last column of requirements §2.1 and §2.2: the required capability and its revisions.
#[test]
fn methods_require_the_specified_capability_cap_03() {
    let all = [R1, R2, R3, R4, R5];
    for (name, revisions, needs) in [
        ("tools/list", &all[..], Some(C::Tools)),
        ("tools/call", &all, Some(C::Tools)),
        ("resources/list", &all, Some(C::Resources)),
        ("resources/templates/list", &all, Some(C::Resources)),
        ("resources/read", &all, Some(C::Resources)),
        ("resources/subscribe", &all[..4], Some(C::ResourcesSubscribe)),
        ("resources/unsubscribe", &all[..4], Some(C::ResourcesSubscribe)),
        ("prompts/list", &all, Some(C::Prompts)),
        ("prompts/get", &all, Some(C::Prompts)),
        ("completion/complete", &all[..1], None),
        ("completion/complete", &all[1..], Some(C::Completions)),
        ("logging/setLevel", &all[..4], Some(C::Logging)),
        ("sampling/createMessage", &all[..4], Some(C::Sampling)),
        ("roots/list", &all[..4], Some(C::Roots)),
        ("elicitation/create", &all[0..3], Some(C::ElicitationForm)),
        ("tasks/get", &all[3..4], Some(C::Tasks)),
        ("tasks/result", &all[3..4], Some(C::Tasks)),
        ("tasks/list", &all[3..4], Some(C::TasksList)),
        ("tasks/cancel", &all[3..4], Some(C::TasksCancel)),
        ("initialize", &all[..4], None),
        ("ping", &all[..4], None),
        ("server/discover", &all[4..], None),
        ("notifications/message", &all, Some(C::Logging)),
        ("notifications/tools/list_changed", &all, Some(C::ToolsListChanged)),
        ("notifications/prompts/list_changed", &all, Some(C::PromptsListChanged)),
        ("notifications/resources/list_changed", &all, Some(C::ResourcesListChanged)),
        ("notifications/roots/list_changed", &all[..4], Some(C::RootsListChanged)),
        ("notifications/cancelled", &all, None),
        ("notifications/progress", &all, None),
    ] {
        for revision in revisions {
            let is_request = !name.starts_with("notifications/");
            let rule = MethodRule::find(name, is_request, *revision).unwrap();
            assert_eq!(rule.needs, needs, "{name} in {revision}");
        }
    }
}

#[test]
fn modes_and_sampling_tools_are_required_only_where_they_exist_cap_06_cap_09() {
    let conditions = |name, revision| {
        let rule = MethodRule::find(name, true, revision).unwrap();
        rule.modes
            .iter()
            .chain(rule.conditions)
            .map(|condition| (condition.member, condition.needs))
            .collect::<Vec<_>>()
    };
    assert_eq!(conditions("elicitation/create", R3), []);
    assert_eq!(
        conditions("elicitation/create", R4),
        [("mode", C::ElicitationForm), ("mode", C::ElicitationUrl), ("task", C::TasksElicitation)]
    );
    for revision in [R1, R2, R3] {
        assert_eq!(conditions("sampling/createMessage", revision), []);
    }
    assert_eq!(
        conditions("sampling/createMessage", R4),
        [
            ("tools", C::SamplingTools),
            ("toolChoice", C::SamplingTools),
            ("includeContext", C::SamplingContext),
            ("task", C::TasksSampling),
        ]
    );
    assert_eq!(conditions("tools/call", R4), [("task", C::TasksToolsCall)]);
    assert_eq!(conditions("tools/call", R3), []);
}

#[test]
fn three_methods_allow_input_requests_stl_14() {
    let asking: BTreeSet<&str> =
        METHODS.iter().filter(|rule| rule.may_ask).map(|rule| rule.name).collect();
    assert_eq!(asking, BTreeSet::from(["prompts/get", "resources/read", "tools/call"]));
}

/// Requirements §2.3: side, path in the capability object, first and last revision.
const CAPABILITY_TABLE: &[(Side, &str, Revision, Revision)] = &[
    (Client, "roots", R1, R5),
    (Client, "roots.listChanged!", R1, R4),
    (Client, "sampling", R1, R5),
    (Client, "sampling.context", R4, R5),
    (Client, "sampling.tools", R4, R5),
    (Client, "elicitation.form", R3, R5),
    (Client, "elicitation.url", R4, R5),
    (Client, "tasks", R4, R4),
    (Client, "tasks.list", R4, R4),
    (Client, "tasks.cancel", R4, R4),
    (Client, "tasks.requests.sampling.createMessage", R4, R4),
    (Client, "tasks.requests.elicitation.create", R4, R4),
    (Server, "logging", R1, R5),
    (Server, "completions", R2, R5),
    (Server, "prompts", R1, R5),
    (Server, "prompts.listChanged!", R1, R5),
    (Server, "tools", R1, R5),
    (Server, "tools.listChanged!", R1, R5),
    (Server, "resources", R1, R5),
    (Server, "resources.subscribe!", R1, R5),
    (Server, "resources.listChanged!", R1, R5),
    (Server, "tasks", R4, R4),
    (Server, "tasks.list", R4, R4),
    (Server, "tasks.cancel", R4, R4),
    (Server, "tasks.requests.tools.call", R4, R4),
];

#[test]
fn capabilities_exist_exactly_for_their_sides_and_revisions() {
    for (side, place, since, until) in CAPABILITY_TABLE {
        let path: Vec<&str> = place.trim_end_matches('!').split('.').collect();
        let rows = CAPABILITIES.iter().filter(|rule| rule.side == *side && rule.path == path);
        let rows: Vec<_> = rows.map(|rule| (rule.flag, rule.since, rule.until)).collect();
        assert_eq!(rows, [(place.ends_with('!'), *since, *until)], "{place}");
    }
    assert_eq!(CAPABILITIES.len(), CAPABILITY_TABLE.len());
}

#[test]
fn parents_precede_children_and_siblings_are_adjacent() {
    for side in [Client, Server] {
        let paths: Vec<_> =
            CAPABILITIES.iter().filter(|rule| rule.side == side).map(|rule| rule.path).collect();
        for (at, path) in paths.iter().enumerate() {
            for depth in 1..path.len() {
                let prefix = &path[..depth];
                let parent = paths.iter().position(|other| *other == prefix);
                assert!(parent.is_none_or(|parent| parent < at), "{path:?}");
                let siblings: Vec<usize> =
                    (0..paths.len()).filter(|at| paths[*at].starts_with(prefix)).collect();
                assert!(siblings.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{prefix:?}");
            }
        }
    }
}

#[test]
fn revisions_are_found_only_by_their_exact_dates() {
    let names = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
    for (revision, name) in Revision::ALL.into_iter().zip(names) {
        assert_eq!((revision.name(), Revision::from_name(name)), (name, Some(revision)));
        assert_eq!(alloc::format!("{revision}"), name);
    }
    for other in ["", "1999-01-01", "2025-06-18 ", "2025-6-18", "draft", "DRAFT-2026-v1"] {
        assert_eq!(Revision::from_name(other), None, "{other}");
    }
    let legacy: Vec<Revision> =
        Revision::ALL.into_iter().filter(|revision| revision.era() == Era::Legacy).collect();
    assert_eq!(legacy, Revision::LEGACY);
    assert!(Revision::ALL.is_sorted());
}

#[test]
fn eras_display_as_in_the_specification() {
    assert_eq!(
        (Era::Legacy.to_string(), Era::Modern.to_string()),
        ("legacy".into(), "modern".into())
    );
}

#[test]
fn rules_match_the_overview_of_the_requirements() {
    let column = |rule: fn(&Rules) -> bool| Revision::ALL.map(|revision| rule(revision.rules()));
    assert_eq!(column(|rules| rules.batches), [false, true, false, false, false], "§1, BAT");
    assert_eq!(column(|rules| rules.unknown_id_is_null), [true, true, true, false, false], "D-01");
    assert_eq!(column(|rules| rules.progress_message), [false, true, true, true, true], "§2.2");
    let not_found = Revision::ALL.map(|revision| revision.rules().resource_not_found);
    assert_eq!(not_found, [-32002, -32002, -32002, -32002, -32602], "§3.1");
    assert_eq!(
        Revision::ALL.map(|revision| revision.rules().elicitation_modes),
        [false, false, false, true, true],
        "§2.3"
    );
}

#[test]
fn content_types_are_allowed_since_their_revision_t_120() {
    for (name, wanted) in [
        ("text", [true; 5]),
        ("image", [true; 5]),
        ("resource", [true; 5]),
        ("audio", [false, true, true, true, true]),
        ("resource_link", [false, false, true, true, true]),
        ("tool_use", [false, false, false, true, true]),
        ("tool_result", [false, false, false, true, true]),
        ("of an extension", [true; 5]),
    ] {
        assert_eq!(Revision::ALL.map(|revision| revision.has_content_type(name)), wanted, "{name}");
    }
}
