//! Tests of filters: written, parsed, and matched against changes.

use alloc::string::String;

use super::*;
use crate::revision::Revision;

fn written(filter: &Filter) -> String {
    let mut out = Vec::new();
    filter.write(&mut out);
    String::from_utf8(out).unwrap()
}

fn full() -> Filter {
    Filter::new().tools().prompts().resources().resource("file:///\"a\"").resource("b")
}

#[test]
fn filters_survive_a_round_trip_stl_30() {
    for (filter, text) in [
        (Filter::new(), "{}"),
        (Filter::new().tools(), r#"{"toolsListChanged":true}"#),
        (Filter::new().prompts(), r#"{"promptsListChanged":true}"#),
        (Filter::new().resources(), r#"{"resourcesListChanged":true}"#),
        (Filter::new().resource("a"), r#"{"resourceSubscriptions":["a"]}"#),
        (
            full(),
            concat!(
                r#"{"toolsListChanged":true,"promptsListChanged":true,"#,
                r#""resourcesListChanged":true,"resourceSubscriptions":["file:///\"a\"","b"]}"#,
            ),
        ),
    ] {
        assert_eq!(written(&filter), text);
        assert_eq!(Filter::read(text.as_bytes(), 8), Some(filter), "{text}");
    }
}

#[test]
fn absent_false_null_and_unknown_members_select_nothing_t_41_t_104() {
    for text in [
        "{}",
        r#"{"toolsListChanged":false,"promptsListChanged":null,"resourceSubscriptions":null}"#,
        r#"{"resourceSubscriptions":[]}"#,
        r#"{"taskIds":["t"],"rootsListChanged":true,"tools":true}"#,
    ] {
        assert_eq!(Filter::read(text.as_bytes(), 8), Some(Filter::new()), "{text}");
    }
}

#[test]
fn members_of_the_wrong_type_are_refused() {
    for text in [
        "null",
        "[]",
        "true",
        r#""{}""#,
        r#"{"toolsListChanged":1}"#,
        r#"{"promptsListChanged":"true"}"#,
        r#"{"resourcesListChanged":{}}"#,
        r#"{"resourceSubscriptions":"a"}"#,
        r#"{"resourceSubscriptions":{"a":"b"}}"#,
        r#"{"resourceSubscriptions":["a",1]}"#,
        r#"{"resourceSubscriptions":[null]}"#,
    ] {
        assert_eq!(Filter::read(text.as_bytes(), 8), None, "{text}");
    }
}

#[test]
fn each_part_of_a_filter_needs_one_capability_stl_30_cap_12() {
    let only = |capability| full().offered_by(&Capabilities::none().with(capability));
    let uris = full().uris;
    assert_eq!(full().offered_by(&Capabilities::none()), Filter::new());
    assert_eq!(only(Capability::ToolsListChanged), Filter::new().tools());
    assert_eq!(only(Capability::PromptsListChanged), Filter::new().prompts());
    assert_eq!(only(Capability::ResourcesListChanged), Filter::new().resources());
    assert_eq!(only(Capability::ResourcesSubscribe), Filter { uris, ..Filter::new() });
    for capability in [Capability::Tools, Capability::Prompts, Capability::Resources] {
        assert_eq!(only(capability), Filter::new(), "{capability:?}");
    }
    let all = Capabilities::none()
        .with(Capability::ToolsListChanged)
        .with(Capability::PromptsListChanged)
        .with(Capability::ResourcesListChanged)
        .with(Capability::ResourcesSubscribe);
    assert_eq!(full().offered_by(&all), full());
    assert_eq!(Filter::new().offered_by(&all), Filter::new(), "only what was asked for (STL-31)");
}

#[test]
fn sub_resources_share_a_prefix_up_to_a_delimiter_t_122() {
    for (whole, uri, wanted) in [
        ("file:///a", "file:///a", true),
        ("file:///a", "file:///a/b", true),
        ("file:///a", "file:///a?b", true),
        ("file:///a", "file:///a#b", true),
        ("file:///a/", "file:///a/b", true),
        ("file:///a/", "file:///a/", true),
        ("file:///a", "file:///ab", false),
        ("file:///a", "file:///a.b", false),
        ("file:///a/", "file:///a", false),
        ("file:///a/b", "file:///a", false),
        ("file:///a", "FILE:///a", false),
        // Equivalent spellings, and reserved characters, which differ if encoded.
        ("file:///%61", "file:///a/b", true),
        ("file:///a", "file:///%61", true),
        ("file:///%c3%a9", "file:///é", true),
        ("file:///a%2fb", "file:///a%2Fb/c", true),
        ("file:///a", "file:///a%2Fb", false),
        ("file:///a%2Fb", "file:///a/b", false),
        ("file:///a%2", "file:///a%2", true),
    ] {
        assert_eq!(is_within_resource(whole, uri), wanted, "{uri} of {whole}");
        assert_eq!(
            Filter::new().resource("x").resource(whole).matches_uri(uri),
            wanted,
            "{uri} of {whole}"
        );
    }
}

#[test]
fn a_change_matches_only_the_filters_that_select_it_stl_31() {
    let filters = [
        Filter::new().tools(),
        Filter::new().prompts(),
        Filter::new().resources(),
        Filter::new().resource("a"),
    ];
    let changes = [Change::Tools, Change::Prompts, Change::Resources, Change::Resource("a/b")];
    for (wanted, change) in changes.iter().enumerate() {
        for (index, filter) in filters.iter().enumerate() {
            assert_eq!(change.matches(filter), index == wanted, "{change:?} {filter:?}");
            let matches_list = index == wanted && index < 3;
            assert_eq!(
                filter.matches_list(change.method().unwrap()),
                matches_list,
                "{change:?} {filter:?}"
            );
        }
        assert!(change.matches(&full().resource("a")) && !change.matches(&Filter::new()));
    }
    assert!(!full().matches_list(MethodId::LogMessage));
}

#[test]
fn a_change_needs_the_capability_of_its_notification_cap_12() {
    for change in [Change::Tools, Change::Prompts, Change::Resources, Change::Resource("a")] {
        for revision in Revision::ALL {
            let rule = change.method().unwrap().rule(revision).unwrap();
            assert_eq!(rule.needs, change.needs(), "{change:?} in {revision}");
        }
    }
}

#[test]
fn the_bytes_of_a_filter_are_those_of_its_uris() {
    assert_eq!(Filter::new().tools().bytes(), 0);
    assert_eq!(Filter::new().resource("abc").resource("de").bytes(), 5);
}

#[test]
fn an_acknowledgement_cannot_exceed_the_request_stl_35() {
    let all = || full();
    for asked in [
        Filter::new(),
        Filter::new().tools(),
        Filter::new().prompts(),
        Filter::new().resources(),
        Filter::new().resource("b"),
        full(),
    ] {
        assert_eq!(all().restricted_to(&asked), asked, "everything is acknowledged");
        assert_eq!(asked.clone().restricted_to(&all()), asked, "everything was requested");
        assert_eq!(Filter::new().restricted_to(&asked), Filter::new(), "nothing is acknowledged");
    }
}

#[test]
fn elements_of_listen_keys_are_grouped_by_key_and_restricted_to_those_asked_for() {
    let filter = Filter::new().element("b", "2").element("a", "x").element("b", "1");
    let mut written = Vec::new();
    filter.write(&mut written);
    assert_eq!(core::str::from_utf8(&written), Ok(r#"{"a":["x"],"b":["1","2"]}"#));
    assert_eq!((filter.len(), filter.bytes()), (3, 6));
    let asked = Filter::new().element("b", "1").element("a", "1");
    assert_eq!(filter.restricted_to(&asked), Filter::new().element("b", "1"));
}
