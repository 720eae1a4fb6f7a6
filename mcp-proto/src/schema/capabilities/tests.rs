//! Declarations round-trip for both sides and every revision.

use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

use super::*;
use crate::json::testing;

fn raw(value: &Value) -> Raw {
    Raw::new(value).unwrap()
}

fn object() -> impl Strategy<Value = Raw> {
    testing::object().prop_map(|object| Raw::new(&object).unwrap())
}

fn all() -> Vec<Capability> {
    let mut all: Vec<Capability> = CAPABILITIES.iter().map(|rule| rule.capability).collect();
    all.sort();
    all.dedup();
    all
}

/// The subset of `capabilities` that `side` can declare to a peer of `revision`.
fn declarable(capabilities: &Capabilities, side: Side, revision: Revision) -> Vec<Capability> {
    let has = |capability: &Capability| {
        let row =
            CAPABILITIES.iter().find(|rule| rule.side == side && rule.capability == *capability);
        capabilities.has(*capability)
            && row.is_some_and(|row| row.since <= revision && revision <= row.until)
    };
    all().into_iter().filter(has).collect()
}

fn written(capabilities: &Capabilities, side: Side, revision: Revision) -> Raw {
    let mut out = Vec::new();
    capabilities.write(&mut out, side, revision);
    Raw::from_text(core::str::from_utf8(&out).unwrap()).unwrap()
}

/// The capabilities read from `declared`.
fn read(declared: &Value, side: Side, revision: Revision) -> Vec<Capability> {
    let capabilities = Capabilities::declared(raw(declared), side, revision);
    all().into_iter().filter(|capability| capabilities.has(*capability)).collect()
}

/// Asserts that no object in `value` repeats a member.
fn assert_no_repeats(value: &Raw) {
    let mut keys: Vec<Vec<u8>> = members(value.as_bytes()).map(|(key, _)| key.to_vec()).collect();
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count, "{value}");
    for (_, inner) in members(value.as_bytes()) {
        assert_no_repeats(&Raw::from_text(core::str::from_utf8(inner).unwrap()).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn declarations_round_trip_for_every_side_and_revision(
        declared in subsequence(all(), 0..=all().len()),
        experimental in proptest::option::of(object()),
        side in select(&[Side::Client, Side::Server][..]), revision in select(&Revision::ALL[..]),
    ) {
        let mut ours = declared.iter().copied().fold(Capabilities::none(), Capabilities::with);
        if let Some(experimental) = &experimental {
            ours = ours.with_experimental(experimental.clone());
        }
        let text = written(&ours, side, revision);
        prop_assert_eq!(text.member("experimental"), experimental);
        let read = read(&text.parse().unwrap(), side, revision);
        prop_assert_eq!(read, declarable(&ours, side, revision), "{}", text);
        assert_no_repeats(&written(&ours.with_experimental(Raw::empty_object()), side, revision));
        // Capabilities that a revision does not define are not declared to its peers.
        for (name, _) in text.parse::<Map<String, Value>>().unwrap() {
            let known = CAPABILITIES.iter().any(|rule| {
                rule.side == side
                    && rule.path[0] == name
                    && rule.since <= revision
                    && revision <= rule.until
            });
            prop_assert!(known || name == "experimental", "{} to {}", name, revision);
        }
    }

    #[test]
    fn unknown_capabilities_change_nothing_cap_18(
        more in testing::object(), side in select(&[Side::Client, Side::Server][..]),
    ) {
        let known = json!({
            "tools": {"listChanged": true, "more": 1}, "roots": {}, "elicitation": {},
        });
        let mut declared = known.clone();
        for (key, value) in more {
            declared.as_object_mut().unwrap().entry(key).or_insert(value);
        }
        for revision in Revision::ALL {
            let plain = read(&known, side, revision);
            prop_assert_eq!(read(&declared, side, revision), plain);
        }
        let kept = Capabilities::declared(raw(&declared), side, Revision::V2025_11_25);
        prop_assert_eq!(kept.raw(), Some(&raw(&declared)));
    }
}

#[test]
fn presence_declares_and_false_null_and_absence_do_not_t_41() {
    let tools =
        |value: Value| read(&json!({ "tools": value }), Side::Server, Revision::V2025_11_25);
    for declared in
        [json!({}), json!(true), json!({"listChanged": false}), json!({"listChanged": null})]
    {
        assert_eq!(tools(declared), [Capability::Tools]);
    }
    for declared in [json!({"listChanged": true}), json!({"listChanged": {}})] {
        assert_eq!(tools(declared), [Capability::Tools, Capability::ToolsListChanged]);
    }
    for absent in [json!(false), json!(null)] {
        assert_eq!(tools(absent), []);
    }
    for nothing in [json!({}), json!(null), json!([]), json!("tools"), json!({"Tools": {}})] {
        assert_eq!(read(&nothing, Side::Server, Revision::V2025_11_25), []);
    }
    assert_eq!(
        read(&json!({"tools": {}}), Side::Client, Revision::V2025_11_25),
        [],
        "clients cannot declare tools"
    );
}

#[test]
fn elicitation_without_modes_means_forms_cap_08_t_43() {
    use Capability::{ElicitationForm as Form, ElicitationUrl as Url};
    let read =
        |value: Value, revision| read(&json!({ "elicitation": value }), Side::Client, revision);
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        assert_eq!(read(json!({}), revision), [Form]);
        assert_eq!(read(json!(true), revision), [Form]);
        assert_eq!(read(json!({"form": {}}), revision), [Form]);
        assert_eq!(read(json!({"url": {}}), revision), [Url]);
        assert_eq!(read(json!({"form": {}, "url": {}}), revision), [Form, Url]);
        assert_eq!(read(json!({"url": null}), revision), [Form]);
        assert_eq!(read(json!(false), revision), []);
    }
    assert_eq!(
        read(json!({"url": {}}), Revision::V2025_06_18),
        [Form],
        "the revision has no modes"
    );
    for older in [Revision::V2024_11_05, Revision::V2025_03_26] {
        assert_eq!(
            read(json!({}), older),
            [Form],
            "the declaration counts although the revision does not define it"
        );
        assert_eq!(read(json!({"form": {}, "url": {}}), older), [Form]);
        assert_eq!(read(json!(false), older), []);
    }
    let both = Capabilities::none().with(Form).with(Url);
    let written = |revision| written(&both, Side::Client, revision).parse::<Value>().unwrap();
    assert_eq!(written(Revision::V2025_03_26), json!({}));
    assert_eq!(written(Revision::V2025_06_18), json!({"elicitation": {}}));
    assert_eq!(written(Revision::V2025_11_25), json!({"elicitation": {"form": {}, "url": {}}}));
}

#[test]
fn a_sub_capability_declares_its_parent() {
    for rule in CAPABILITIES {
        let with = Capabilities::none().with(rule.capability);
        for whole in CAPABILITIES
            .iter()
            .filter(|whole| whole.side == rule.side && rule.path.starts_with(whole.path))
        {
            assert!(with.has(whole.capability), "{:?}", rule.path);
        }
    }
    let tasks = written(
        &Capabilities::none().with(Capability::TasksToolsCall),
        Side::Server,
        Revision::V2025_11_25,
    );
    assert_eq!(tasks.as_str(), r#"{"tasks":{"requests":{"tools":{"call":{}}}}}"#);
}

// CAP-20
#[test]
fn tasks_are_not_declared_in_the_modern_revision_cap_20() {
    let all = all().into_iter().fold(Capabilities::none(), Capabilities::with);
    for side in [Side::Client, Side::Server] {
        assert_eq!(written(&all, side, Revision::V2026_07_28).member("tasks"), None);
        assert!(written(&all, side, Revision::V2025_11_25).member("tasks").is_some());
    }
}

// CAP-17
#[test]
fn extension_ids_have_a_prefix_and_the_grammar_of_meta_keys_cap_17() {
    let settings = || Raw::empty_object();
    for (id, is_valid) in [
        ("com.example/x", true),
        ("io.modelcontextprotocol/tasks", true),
        ("a/b", true),
        ("x", false),
        ("", false),
        ("/x", false),
        ("a b/x", false),
        ("1a/x", false),
        ("a/x/y", false),
        ("a/-x", false),
    ] {
        let capabilities = Capabilities::none().with_extension(id, settings());
        assert_eq!(capabilities.extension(id).is_some(), is_valid, "{id:?}");
        let declared = written(&capabilities, Side::Server, Revision::V2026_07_28);
        let declared = declared.member("extensions").and_then(|all| all.member(id));
        assert_eq!(declared.is_some(), is_valid, "{id:?}");
        // A peer that declares an invalid id shares no extension with this side.
        let theirs = raw(&json!({"extensions": {id: {}}}));
        let theirs = Capabilities::declared(theirs, Side::Client, Revision::V2026_07_28);
        assert_eq!(
            (theirs.extension(id).is_some() && capabilities.extension(id).is_some()),
            is_valid,
            "{id:?}"
        );
    }
    let list = Capabilities::none().with_extension("a/b", raw(&json!([])));
    assert!(list.extension("a/b").is_none(), "settings are an object");
}
