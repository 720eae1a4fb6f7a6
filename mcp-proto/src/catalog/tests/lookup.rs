//! Lookups: what requests resolve to, and the errors for unknown entries.

use alloc::string::ToString;

use serde_json::json;

use super::*;
use crate::error::code;
use crate::method::Method;
use crate::schema::{CompleteResult, Decode, Map};
use crate::vocabulary::Request;

#[test]
fn a_request_resolves_to_its_handler() {
    let catalog = catalog();
    let lookup = |method, params| lookup(&catalog, method, params, R4);
    assert_eq!(lookup("tools/call", json!({"name": "today"})), "tool today today {}");
    assert_eq!(
        lookup("tools/call", json!({"name": "today", "arguments": {"a": [1]}})),
        r#"tool today today {"a":[1]}"#
    );
    assert_eq!(
        lookup("tools/call", json!({"name": "today", "arguments": null})),
        "tool today today {}"
    );
    assert_eq!(
        lookup("prompts/get", json!({"name": "greet", "arguments": {"who": ""}})),
        "prompt greet greet"
    );
    for method in ["ping", "tools", "resources/subscribe", "logging/setLevel", "x", ""] {
        assert_eq!(lookup(method, json!({"name": "today"})), "other");
    }
}

#[test]
fn find_resolves_a_request_like_find_raw() {
    let catalog = catalog();
    let request = |params| Request { method: Method::from("tools/list"), params };
    let answer = describe(catalog.lookup(&request(None), R4).unwrap(), R4);
    assert_eq!(
        answer,
        r#"answer {"tools":[{"name":"today","inputSchema":{"type":"object","properties":{}}}]}"#
    );
    let params = raw(&json!({"_meta": {"x": 1}}));
    assert_eq!(describe(catalog.lookup(&request(Some(params)), R4).unwrap(), R4), answer);
}

#[test]
fn unknown_tools_and_prompts_are_invalid_params_t_117() {
    let catalog = catalog();
    let error = lookup_error(&catalog, "tools/call", json!({"name": "tomorrow"}));
    assert_eq!((error.code, &*error.message), (code::INVALID_PARAMS, "no tool `tomorrow`"));
    let error = lookup_error(&catalog, "prompts/get", json!({"name": "part"}));
    assert_eq!((error.code, &*error.message), (code::INVALID_PARAMS, "no prompt `part`"));
}

#[test]
fn malformed_params_are_invalid_params() {
    let mut catalog = catalog();
    catalog.add_prompt(Prompt::new("hello"), "hello").unwrap();
    for (method, params) in [
        ("tools/call", json!({})),
        ("tools/call", json!({"name": 1})),
        ("tools/call", json!({"name": "today", "arguments": []})),
        ("tools/call", json!({"name": "today", "arguments": "{}"})),
        ("resources/read", json!({})),
        ("resources/read", json!({"uri": {}})),
        ("prompts/get", json!({})),
        ("prompts/get", json!({"name": "greet", "arguments": ["who"]})),
        ("prompts/get", json!({"name": "greet", "arguments": {"who": 1}})),
        ("prompts/get", json!({"name": "hello", "arguments": ["who"]})),
        ("prompts/get", json!({"name": "hello", "arguments": {"who": null}})),
        ("completion/complete", json!({"ref": {"type": "ref/prompt", "name": "greet"}})),
        ("completion/complete", json!({"argument": {"name": "a", "value": ""}})),
        (
            "completion/complete",
            json!({"ref": {"name": "greet"}, "argument": {"name": "who", "value": ""}}),
        ),
    ] {
        let error = lookup_error(&catalog, method, params.clone());
        assert_eq!(error.code, code::INVALID_PARAMS, "{method} {params}: {error}");
    }
    let null = json!({"name": "hello", "arguments": null});
    assert_eq!(lookup(&catalog, "prompts/get", null, R4), "prompt hello hello");
    assert_eq!(catalog.lookup_raw("tools/call", None, R4).unwrap_err().code, code::INVALID_PARAMS);
}

#[test]
fn missing_required_prompt_arguments_are_named_in_the_error() {
    let mut catalog = catalog();
    let many = prompt("many", &[("a", true), ("b", false), ("c", true), ("d", true)]);
    catalog.add_prompt(many, "many").unwrap();
    for params in [json!({"name": "many"}), json!({"name": "many", "arguments": {"b": "x"}})] {
        let error = lookup_error(&catalog, "prompts/get", params);
        assert_eq!(&*error.message, "missing required arguments: a, c, d");
    }
    let all = json!({"name": "many", "arguments": {"d": "", "c": "", "a": "", "more": ""}});
    assert_eq!(lookup(&catalog, "prompts/get", all, R4), "prompt many many");
}

#[test]
fn resources_precede_templates_and_specific_templates_precede_general_ones() {
    let mut catalog = catalog();
    let mut add = |pattern: &'static str| {
        catalog.add_template(ResourceTemplate::new(pattern, pattern), "").unwrap();
    };
    for pattern in ["file:///{x}.txt", "file:///{y}.txt", "{+any}", "file:///{a}{b}"] {
        add(pattern);
    }
    for (uri, expected) in [
        ("file:///readme", "resource readme readme file:///readme"),
        ("file:///a.txt", "template file:///{x}.txt  x=Text(\"a\")"),
        ("file:///a%2Fb", "template files files name=Text(\"a/b\")"),
        ("file:///a/b", "template tree tree path=Text(\"a/b\")"),
        ("file:///", "template {+any}  any=Text(\"file:///\")"),
    ] {
        assert_eq!(lookup(&catalog, "resources/read", json!({"uri": uri}), R4), expected);
    }
    catalog.remove_template("file:///{x}.txt").unwrap();
    let found = lookup(&catalog, "resources/read", json!({"uri": "file:///a.txt"}), R4);
    assert_eq!(found, "template file:///{y}.txt  y=Text(\"a\")");
}

#[test]
fn the_error_for_an_unknown_resource_has_its_uri_and_the_revisions_code_stl_46() {
    let catalog = catalog();
    for revision in Revision::ALL {
        let params = raw(&json!({"uri": "x:\"a\n"}));
        let error = catalog.lookup_raw("resources/read", Some(&params), revision).unwrap_err();
        assert_eq!(error.code, revision.rules().resource_not_found);
        assert_eq!(error.data.unwrap().as_str(), r#"{"uri":"x:\"a\n"}"#);
        assert_eq!(&*error.message, "no resource `x:\"a`");
    }
    let modern = catalog.lookup_raw(
        "resources/read",
        Some(&raw(&json!({"uri": "x:"}))),
        Revision::V2026_07_28,
    );
    assert_eq!(modern.unwrap_err().code, code::INVALID_PARAMS);
    assert_eq!(
        lookup_error(&catalog, "resources/read", json!({"uri": "x:"})).code,
        code::RESOURCE_NOT_FOUND
    );
}

#[test]
fn errors_quote_little_of_the_params() {
    let catalog = catalog();
    let long = "x\n".repeat(100_000);
    for (method, params) in [
        ("tools/call", json!({"name": long})),
        ("resources/read", json!({"uri": long})),
        ("prompts/get", json!({"name": "greet", "arguments": {"who": "", long.clone(): 1}})),
        ("completion/complete", complete(json!({"type": "ref/prompt", "name": long}), "who")),
        ("completion/complete", complete(json!({"type": "ref/prompt", "name": "greet"}), &long)),
    ] {
        let error = lookup_error(&catalog, method, params);
        assert!(error.message.len() < 300 && !error.message.contains('\n'), "{method}");
    }
}

fn complete(reference: Value, argument: &str) -> Value {
    json!({"ref": reference, "argument": {"name": argument, "value": "x"}})
}

#[test]
fn a_completion_resolves_by_reference_and_argument() {
    let catalog = catalog();
    let lookup = |reference, argument: &str| {
        lookup(&catalog, "completion/complete", complete(reference, argument), R4)
    };
    let prompt = |name: &str| json!({"type": "ref/prompt", "name": name});
    let resource = |uri: &str| json!({"type": "ref/resource", "uri": uri});
    assert_eq!(lookup(prompt("greet"), "who"), "completion complete who");
    assert_eq!(lookup(resource("file:///{name}"), "name"), "completion complete name");
    // These have no completion handler; the request is valid.
    let empty = r#"answer {"completion":{"values":[],"total":0,"hasMore":false}}"#;
    assert_eq!(lookup(prompt("greet"), "how"), empty);
    assert_eq!(lookup(resource("file:///{+path}"), "path"), empty);
    assert_eq!(lookup(resource("file:///readme"), "x"), empty);
    for (reference, argument) in [
        (prompt("part"), "who"),
        (prompt("greet"), "when"),
        (resource("file:///{x}"), "x"),
        (resource("file:///{name}"), "path"),
        (resource("file:///a"), "name"),
        (json!({"type": "ref/tool", "name": "today"}), "x"),
    ] {
        let error = lookup_error(&catalog, "completion/complete", complete(reference, argument));
        assert_eq!(error.code, code::INVALID_PARAMS);
    }
}

// SEC-20
#[test]
fn completions_are_truncated_to_100_values_sec_20() {
    let counts = |count: usize, total| {
        let values = (0..count).map(|n| alloc::format!("{n}")).collect();
        let CompleteResult { completion, .. } = completion(values, total);
        (completion.values.len(), completion.total, completion.has_more)
    };
    assert_eq!(counts(0, None), (0, Some(0), Some(false)));
    assert_eq!(counts(100, None), (100, Some(100), Some(false)));
    assert_eq!(counts(101, None), (100, Some(101), Some(true)));
    assert_eq!(counts(101, Some(5000)), (100, Some(5000), Some(true)));
    assert_eq!(counts(3, Some(4)), (3, Some(4), Some(true)));
    assert_eq!(counts(3, Some(3)), (3, Some(3), Some(false)));
    assert_eq!(counts(3, Some(2)), (3, Some(3), Some(false)));
    assert_eq!(counts(3, Some(u64::MAX)), (3, Some(i64::MAX), Some(true)));
}

#[test]
fn arguments_that_fail_the_check_are_a_tool_error_t_117() {
    let mut catalog = catalog().check_arguments(|tool, _, arguments| {
        let cities: Map<String> = Map::decode(arguments).map_err(|error| error.to_string())?;
        cities.get("city").map(drop).ok_or_else(|| alloc::format!("`{}` needs a city", tool.name))
    });
    catalog.add_tool(tool("other"), "other").unwrap();
    let call = |arguments| json!({"name": "today", "arguments": arguments});
    assert_eq!(
        lookup(&catalog, "tools/call", call(json!({"city": "Oslo"})), R4),
        r#"tool today today {"city":"Oslo"}"#
    );
    let failed =
        r#"answer {"content":[{"type":"text","text":"`today` needs a city"}],"isError":true}"#;
    assert_eq!(lookup(&catalog, "tools/call", call(json!({})), R4), failed);
    // Absent arguments are checked as `{}`; other types are rejected before the check.
    assert_eq!(lookup(&catalog, "tools/call", json!({"name": "today"}), R4), failed);
    assert_eq!(lookup_error(&catalog, "tools/call", call(json!([]))).code, code::INVALID_PARAMS);
    assert_eq!(
        lookup_error(&catalog, "tools/call", json!({"name": "x"})).code,
        code::INVALID_PARAMS
    );
}

// AUT-24
#[test]
fn an_entry_is_admitted_once_before_its_arguments_are_checked() {
    let catalog = catalog();
    let refused = |method, params: Value| {
        let mut asked = Vec::new();
        let admit = &mut |entry: CatalogEntry<'_>, handler: &&'static str| {
            asked.push(*handler);
            Err(ErrorObject::new(1, entry.name().to_string()))
        };
        let error = catalog.all().lookup_admitted(method, Some(&raw(&params)), R4, admit).err();
        assert_eq!(
            asked.len(),
            usize::from(error.is_some_and(|error| error.code == 1)),
            "{method}"
        );
        asked.pop()
    };
    assert_eq!(refused("tools/call", json!({"name": "today"})), Some("today"));
    // A required argument is missing, and one is unknown.
    assert_eq!(refused("prompts/get", json!({"name": "greet"})), Some("greet"));
    let reference = json!({"type": "ref/prompt", "name": "greet"});
    assert_eq!(refused("completion/complete", complete(reference, "absent")), Some("greet"));
    let template = json!({"type": "ref/resource", "uri": "file:///{name}"});
    assert_eq!(refused("completion/complete", complete(template, "absent")), Some("files"));
    for (uri, handler) in [("file:///readme", "readme"), ("file:///other", "files")] {
        assert_eq!(refused("resources/read", json!({"uri": uri})), Some(handler));
    }
    assert_eq!(refused("tools/call", json!({"name": "absent"})), None);
    assert_eq!(refused("tools/list", json!({})), None);
    let hidden = catalog.visible(&|_| false);
    let call = raw(&json!({"name": "today"}));
    let admit = &mut |_: CatalogEntry<'_>, _: &&str| unreachable!("no entry is visible");
    assert!(hidden.lookup_admitted::<ErrorObject>("tools/call", Some(&call), R4, admit).is_err());
}

#[test]
fn lookalikes_differ_only_in_the_encoding_of_reserved_characters_sec_02() {
    let mut catalog = Catalog::new();
    catalog.add_resource(Resource::new("file:///a/b", ""), "plain").unwrap();
    catalog.add_resource(Resource::new("file:///a%2Fb%3Fc", ""), "encoded").unwrap();
    catalog.add_template(ResourceTemplate::new("file:///x/{name}", ""), "x").unwrap();
    catalog.add_template(ResourceTemplate::new("file:///y%2F{name}", ""), "y").unwrap();
    catalog.add_template(ResourceTemplate::new("file:///{+path}", ""), "any").unwrap();
    let read = |uri| catalog.all().lookalike_handlers(uri).into_iter().copied().collect::<Vec<_>>();
    for (uri, expected) in [
        ("file:///a%2Fb", &["plain", "any"][..]),
        ("file:///a%2fb", &["plain", "any"]),
        ("file:///a/b?c", &["encoded", "any"]),
        ("file:///a/b%3Fc", &["encoded", "any"]),
        ("file:///x%2Fz", &["x", "any"]),
        ("file:///x%2Fd%2Fz", &["x", "any"]),
        ("file:///x%2Fd/z", &["x", "any"]),
        ("file:///x%2Fd%3Fz", &["x", "any"]),
        ("file:///y/z", &["y"]),
        // The URIs of resources themselves, and other paths.
        ("file:///a/b", &[]),
        ("file:///%61/b", &[]),
        ("file:///a%252Fb", &["any"]),
        ("file:///a%2", &[]),
        ("other:a%2Fb", &[]),
    ] {
        assert_eq!(read(uri), expected, "{uri}");
    }
    catalog.remove_resource("file:///a%2Fb%3Fc").unwrap();
    assert_eq!(catalog.all().lookalike_handlers("file:///a/b?c"), [&"any"]);
    let plain = |entry: CatalogEntry<'_>| entry.name() != "file:///a/b";
    assert_eq!(catalog.visible(&plain).lookalike_handlers("file:///a%2Fb"), [&"any"]);
}
