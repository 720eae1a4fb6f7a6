//! Entries that are hidden from some callers.

use serde_json::json;

use super::*;
use crate::schema::{CacheScope, ListToolsResult};

const LOOKUPS: [(&str, &str); 4] = [
    ("tools/call", r#"{"name":"NAME"}"#),
    ("prompts/get", r#"{"name":"NAME"}"#),
    ("resources/read", r#"{"uri":"file:///NAME"}"#),
    (
        "completion/complete",
        r#"{"ref":{"type":"ref/prompt","name":"NAME"},"argument":{"name":"who","value":""}}"#,
    ),
];

fn page_of(
    view: CatalogView<'_, &'static str>,
    cursor: Option<&str>,
) -> Result<ListToolsResult, ErrorObject> {
    let params = cursor.map(|cursor| raw(&json!({"cursor": cursor})));
    match view.lookup_raw("tools/list", params.as_ref(), Revision::V2026_07_28)? {
        Resolved::Answer(CatalogResult::Tools(page)) => Ok(page),
        other => panic!("{other:?}"),
    }
}

/// The tool names on each page.
fn walk(
    catalog: &Catalog<&'static str>,
    is_visible: &dyn Fn(CatalogEntry<'_>) -> bool,
) -> Vec<Vec<String>> {
    let (mut pages, mut cursor) = (Vec::new(), None);
    loop {
        let page = page_of(catalog.visible(is_visible), cursor.as_deref()).unwrap();
        pages.push(page.tools.iter().map(|tool| (*tool.name).into()).collect());
        cursor = page.next_cursor;
        if cursor.is_none() {
            return pages;
        }
    }
}

// SEC-02
#[test]
fn a_hidden_entry_is_answered_as_one_that_does_not_exist_sec_02() {
    let mut catalog = Catalog::new();
    catalog.add_tool(tool("hidden"), "").unwrap();
    catalog.add_prompt(prompt("hidden", &[("who", false)]), "").unwrap();
    catalog.add_prompt_completion("hidden", "who", "").unwrap();
    catalog.add_resource(Resource::new("file:///hidden", "hidden"), "").unwrap();
    let is_visible = |entry: CatalogEntry<'_>| !entry.name().contains("hidden");
    let view = catalog.visible(&is_visible);
    for (method, params) in LOOKUPS {
        for revision in Revision::ALL {
            let lookup = |name: &str| {
                let params = Raw::from_text(&params.replace("NAME", name)).unwrap();
                view.lookup_raw(method, Some(&params), revision).unwrap_err()
            };
            let (hidden, unknown) = (lookup("hidden"), lookup("absent"));
            let told = alloc::format!("{hidden:?}").replace("hidden", "absent");
            assert_eq!(told, alloc::format!("{unknown:?}"), "{method}");
        }
        let params = Raw::from_text(&params.replace("NAME", "hidden")).unwrap();
        assert!(catalog.lookup_raw(method, Some(&params), R4).is_ok(), "{method}");
    }
    assert!(catalog.has_resource("file:///hidden") && !view.has_resource("file:///hidden"));
    assert_eq!((catalog.tool("hidden").is_some(), view.tool("hidden")), (true, None));
}

#[test]
fn a_hidden_template_matches_nothing() {
    let catalog = catalog();
    let read = |is_visible: &dyn Fn(CatalogEntry<'_>) -> bool| {
        let params = raw(&json!({"uri": "file:///readme"}));
        match catalog.visible(is_visible).lookup_raw("resources/read", Some(&params), R4) {
            Ok(found) => describe(found, R4),
            Err(error) => String::from(error.message),
        }
    };
    assert_eq!(read(&|_| true), "resource readme readme file:///readme");
    // As if the resource did not exist.
    let files = r#"template files files name=Text("readme")"#;
    assert_eq!(read(&|entry| !matches!(entry, CatalogEntry::Resource(_))), files);
    let tree = r#"template tree tree path=Text("readme")"#;
    assert_eq!(read(&|entry| entry.name() == "file:///{+path}"), tree);
    assert_eq!(read(&|_| false), "no resource `file:///readme`");
}

// SEC-02
#[test]
fn no_spelling_of_a_uri_leads_around_its_entry_sec_02() {
    let mut catalog = catalog();
    let secret = ResourceTemplate::new("file:///private/{+path}", "private");
    catalog.add_template(secret, "private").unwrap();
    catalog.add_resource(Resource::new("file:///caf%C3%A9", "café"), "café").unwrap();
    for (uri, handler) in [
        ("file:///readme", "readme"),
        ("file:///%72eadme", "readme"),
        ("file:///%72%65%61%64%6d%65", "readme"),
        ("f%69le:///readm%65", "readme"),
        ("file:///café", "café"),
        ("file:///caf%c3%a9", "café"),
        ("file:///c%61fé", "café"),
        ("file:///%70rivate/x", "private"),
        ("file:///privat%65/%78", "private"),
        ("file:///%72eadme2", "files"),
        // An encoded reserved character is another one.
        ("file:%2F//readme", ""),
        ("file:///%2572eadme", "files"),
    ] {
        let found = catalog.all().resource_handler(uri).copied();
        assert_eq!(found.unwrap_or_default(), handler, "{uri}");
        assert_eq!(catalog.has_resource(uri), !handler.is_empty(), "{uri}");
        let read = lookup(&catalog, "resources/read", json!({"uri": uri}), R4);
        assert!(handler.is_empty() || read.contains(handler), "{uri}: {read}");
    }
    // The handler and errors have the URI as the client wrote it.
    let read = |uri: &str| lookup(&catalog, "resources/read", json!({"uri": uri}), R4);
    assert_eq!(read("file:///%72eadme"), "resource readme readme file:///%72eadme");
    assert!(read("fi%6Ce:/x").contains("`fi%6Ce:/x`"), "{}", read("fi%6Ce:/x"));
    // Equivalent spellings name one entry.
    let again = catalog.add_resource(Resource::new("file:///r%65adme", "other"), "other");
    assert_eq!(again, Err(CatalogError::Duplicate));
    catalog.remove_resource("file:///read%6De").unwrap();
    assert_eq!(catalog.all().resource_handler("file:///readme"), Some(&"files"));
}

#[test]
fn filtered_pages_hold_all_visible_entries_and_end() {
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let mut catalog = Catalog::new().entries_max(2);
    for name in names {
        catalog.add_tool(tool(name), "").unwrap();
    }
    for shown in 0_u32..1 << names.len() {
        let is_shown = |name: &str| {
            let position = names.iter().position(|other| *other == name).unwrap();
            shown & (1 << position) != 0
        };
        let pages = walk(&catalog, &|entry| is_shown(entry.name()));
        let expected: Vec<_> = names.into_iter().filter(|name| is_shown(name)).collect();
        assert_eq!(pages.concat(), expected);
        // The sizes of pages reveal nothing of hidden entries.
        assert_eq!(pages.len(), expected.len().div_ceil(2).max(1), "{pages:?}");
    }
}

#[test]
fn cursors_reveal_nothing_of_hidden_entries() {
    let mut catalog = Catalog::new().entries_max(1);
    for name in ["hidden", "a", "b", "c"] {
        catalog.add_tool(tool(name), "").unwrap();
    }
    let is_visible = |entry: CatalogEntry<'_>| entry.name() != "hidden";
    let view = catalog.visible(&is_visible);
    let first = page_of(view, None).unwrap();
    assert_eq!(first.next_cursor.as_deref(), Some("ta"));
    for cursor in ["thidden", "tabsent", "t1", "t2", "a", "", "pa"] {
        let error = page_of(view, Some(cursor)).unwrap_err();
        assert_eq!(&*error.message, "invalid cursor", "{cursor}");
    }
    // Entries may come and go between pages.
    let mut later = catalog.clone();
    later.add_tool(tool("d"), "").unwrap();
    later.remove_tool("b").unwrap();
    let next = page_of(later.visible(&is_visible), Some("ta")).unwrap();
    assert_eq!((&*next.tools[0].name, next.next_cursor.as_deref()), ("c", Some("tc")));
}

// STL-44
#[test]
fn filtered_lists_are_private_stl_44() {
    let mut catalog = Catalog::new().cache_publicly().ttl_ms(7);
    catalog.add_tool(tool("a"), "").unwrap();
    assert_eq!(page_of(catalog.all(), None).unwrap().cache_scope, CacheScope::Public);
    let filtered = page_of(catalog.visible(&|_| true), None).unwrap();
    assert_eq!((filtered.cache_scope, filtered.ttl_ms), (CacheScope::Private, 7));
}
