//! Pages: bounds, cursors, and changes of the catalog between pages.

use alloc::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::error::code;
use crate::schema::ListToolsResult;

fn with_pages(entries_max: usize, bytes_max: usize) -> Catalog<&'static str> {
    Catalog::with_pages(Pages { entries_max, bytes_max })
}

fn tools_page(
    catalog: &Catalog<&'static str>,
    cursor: Option<&str>,
) -> Result<ListToolsResult, ErrorObject> {
    let params = cursor.map(|cursor| raw(&json!({"cursor": cursor})));
    match catalog.lookup_raw("tools/list", params.as_ref(), R4)? {
        Resolved::Answer(CatalogResult::Tools(page)) => Ok(page),
        other => panic!("{other:?}"),
    }
}

/// The tool names on each page.
fn walk(catalog: &Catalog<&'static str>) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut cursor = None;
    loop {
        let page = tools_page(catalog, cursor.as_deref()).unwrap();
        pages.push(page.tools.iter().map(|tool| (*tool.name).into()).collect());
        cursor = page.next_cursor;
        if cursor.is_none() {
            return pages;
        }
    }
}

// STL-11, STL-12
#[test]
fn lists_keep_insertion_order_stl_12() {
    let mut catalog = with_pages(2, 1 << 20);
    for name in ["c", "a", "e", "b", "d"] {
        catalog.add_tool(tool(name), "").unwrap();
    }
    let pages = [&["c", "a"][..], &["e", "b"], &["d"]];
    assert_eq!(walk(&catalog), pages);
    assert_eq!(walk(&catalog), pages);
    catalog.remove_tool("c").unwrap();
    catalog.add_tool(tool("c"), "").unwrap();
    assert_eq!(walk(&catalog), [&["a", "e"][..], &["b", "d"], &["c"]]);
    assert_eq!(walk(&with_pages(2, 1 << 20)), [[""; 0]]);
    assert_eq!(
        catalog.tools().map(|(tool, _)| &*tool.name).collect::<Vec<_>>(),
        ["a", "e", "b", "d", "c"]
    );
}

// PAG-06
#[test]
fn every_list_is_paged_and_encoded_for_the_peers_revision_pag_06() {
    let mut catalog = with_pages(1, 1 << 20).ttl_ms(7).cache_publicly();
    let schema = raw(&json!({"type": "object"}));
    catalog.add_tool(Tool::new("t", schema).title("T"), "").unwrap();
    catalog.add_tool(tool("u"), "").unwrap();
    catalog.add_resource(Resource::new("a:r", "r").title("R"), "").unwrap();
    catalog.add_template(ResourceTemplate::new("a:{x}", "u").title("U"), "").unwrap();
    catalog.add_prompt(Prompt::new("p").title("P"), "").unwrap();
    let cached = r#""resultType":"complete","ttlMs":7,"cacheScope":"public""#;
    for (method, old, new) in [
        (
            "tools/list",
            r#"{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{}}}],"nextCursor":"t1"}"#,
            concat!(
                r#"{"tools":[{"name":"t","title":"T","inputSchema":{"type":"object","properties":{}}}],"#,
                r#""nextCursor":"t1","#,
            ),
        ),
        (
            "resources/list",
            r#"{"resources":[{"uri":"a:r","name":"r"}]}"#,
            r#"{"resources":[{"uri":"a:r","name":"r","title":"R"}],"#,
        ),
        (
            "resources/templates/list",
            r#"{"resourceTemplates":[{"uriTemplate":"a:{x}","name":"u"}]}"#,
            r#"{"resourceTemplates":[{"uriTemplate":"a:{x}","name":"u","title":"U"}],"#,
        ),
        (
            "prompts/list",
            r#"{"prompts":[{"name":"p"}]}"#,
            r#"{"prompts":[{"name":"p","title":"P"}],"#,
        ),
    ] {
        let answer = |revision| lookup(&catalog, method, json!({}), revision);
        assert_eq!(answer(Revision::V2024_11_05), alloc::format!("answer {old}"));
        assert_eq!(answer(Revision::V2026_07_28), alloc::format!("answer {new}{cached}}}"));
    }
}

// G-01, G-10
#[test]
fn published_schemas_are_readable() {
    let mut catalog = Catalog::new();
    let schema = raw(&json!({"type": "object", "properties": {"payload": true}}));
    let payload = Tool::new("payload", schema.clone()).output_schema(schema.clone());
    catalog.add_tool(payload, "").unwrap();
    catalog.add_tool(tool("replaced"), "").unwrap();
    catalog.replace_tool(Tool::new("replaced", schema), "").unwrap();
    let tools = lookup(&catalog, "tools/list", json!({}), R4);
    assert_eq!(tools.matches(r#"{"properties":{"payload":{}},"type":"object"}"#).count(), 3);
}

// STL-44
#[test]
fn all_pages_of_a_list_have_one_scope() {
    let mut catalog = with_pages(1, 1 << 20).cache_publicly();
    for name in ["a", "b", "c"] {
        catalog.add_tool(tool(name), "").unwrap();
    }
    let mut cursor = None;
    for _ in 0..3 {
        let page = tools_page(&catalog, cursor.as_deref()).unwrap();
        let text = encoded(&page, Revision::V2026_07_28);
        assert!(text.contains(r#""cacheScope":"public""#), "{text}");
        cursor = page.next_cursor;
    }
    assert_eq!(cursor, None);
}

// PAG-05
#[test]
fn invalid_cursors_are_rejected_pag_05() {
    let mut catalog = with_pages(1, 1 << 20);
    for name in ["a", "b", "c"] {
        catalog.add_tool(tool(name), "").unwrap();
        catalog.add_prompt(Prompt::new(name), "").unwrap();
    }
    for good in ["t1", "t2"] {
        assert!(tools_page(&catalog, Some(good)).is_ok());
    }
    for bad in [
        "",
        "t",
        "1",
        "p1",
        "t0",
        "t4",
        "t01",
        "t+1",
        "t-1",
        "t1 ",
        " t1",
        "T1",
        "t99999999999999999999",
    ] {
        let error = tools_page(&catalog, Some(bad)).unwrap_err();
        assert_eq!(error.code, code::INVALID_PARAMS, "{bad}");
    }
    for bad in [json!(1), json!({}), json!(["t1"]), json!(false)] {
        let error = lookup_error(&catalog, "tools/list", json!({"cursor": bad}));
        assert_eq!(error.code, code::INVALID_PARAMS);
    }
    let first = lookup(&catalog, "tools/list", json!({}), R4);
    assert_eq!(lookup(&catalog, "tools/list", json!({"cursor": null}), R4), first);
}

#[test]
fn a_cursor_stays_valid_when_its_entry_is_removed() {
    let mut catalog = with_pages(2, 1 << 20);
    for name in ["a", "b", "c", "d"] {
        catalog.add_tool(tool(name), "").unwrap();
    }
    let cursor = tools_page(&catalog, None).unwrap().next_cursor;
    for name in ["a", "b", "c"] {
        catalog.remove_tool(name).unwrap();
    }
    let page = tools_page(&catalog, cursor.as_deref()).unwrap();
    assert_eq!((&*page.tools[0].name, page.tools.len(), page.next_cursor), ("d", 1, None));
    catalog.remove_tool("d").unwrap();
    let page = tools_page(&catalog, cursor.as_deref()).unwrap();
    assert!(page.tools.is_empty() && page.next_cursor.is_none());
}

#[test]
fn entries_max_bounds_a_page() {
    let mut catalog = Catalog::new().entries_max(2);
    for name in ["a", "b", "c"] {
        catalog.add_tool(tool(name), "").unwrap();
    }
    catalog.replace_tool(tool("a"), "").unwrap();
    assert_eq!(walk(&catalog), [&["a", "b"][..], &["c"]]);
}

// G-13: many clients ignore the cursor of the next page.
#[test]
fn by_default_a_page_holds_what_fits_into_a_message() {
    let mut catalog = Catalog::new();
    let text = "d".repeat(100);
    for at in 0..3000 {
        let name = alloc::format!("n{at}");
        let uri = alloc::format!("a:{at}");
        catalog.add_tool(tool(&name).description(text.clone()), "").unwrap();
        catalog.add_resource(Resource::new(uri.clone(), name.clone()), "").unwrap();
        catalog.add_template(ResourceTemplate::new(uri + "/{x}", name.clone()), "").unwrap();
        catalog.add_prompt(Prompt::new(name), "").unwrap();
    }
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        let answer = lookup(&catalog, method, json!({}), R4);
        assert!(!answer.contains("nextCursor") && answer.contains("n2999"), "{method}");
    }
    let mut catalog = Catalog::new();
    for name in ["a", "b", "c"] {
        catalog.add_tool(tool(name).description("d".repeat(6 << 20)), "").unwrap();
    }
    assert_eq!(walk(&catalog), [&["a", "b"][..], &["c"]]);
    let page = tools_page(&catalog, None).unwrap();
    assert!(encoded(&page, R4).len() < crate::Limits::default().message_bytes_max);
}

#[test]
fn a_page_holds_at_least_one_entry() {
    let mut catalog = with_pages(0, 1 << 20);
    catalog.add_tool(tool("a"), "").unwrap();
    catalog.add_tool(tool("b"), "").unwrap();
    assert_eq!(walk(&catalog), [["a"], ["b"]]);
}

#[test]
fn an_entry_larger_than_a_page_is_rejected() {
    let mut catalog = with_pages(10, 1000);
    let sized = |bytes: usize| tool("x").description("d".repeat(bytes));
    let frame = encoded(&sized(0).with_readable_schemas(), R4).len();
    let fits = 1000 - 256 - frame - 1;
    assert_eq!(catalog.add_tool(sized(fits + 1), ""), Err(CatalogError::TooLong));
    assert_eq!(catalog.add_tool(sized(fits), ""), Ok(ChangedList::Tools));
    assert_eq!(with_pages(10, 0).add_prompt(Prompt::new("x"), ""), Err(CatalogError::TooLong));
}

type Model = BTreeMap<u8, String>;

proptest! {
    #[test]
    fn a_page_never_exceeds_its_bounds(
        sizes in proptest::collection::vec((0_usize..300, any::<bool>()), 0..40),
        entries_max in 1_usize..9,
        bytes_max in 700_usize..2000,
    ) {
        let mut catalog = with_pages(entries_max, bytes_max).ttl_ms(u64::MAX);
        for (at, (size, quotes)) in sizes.iter().enumerate() {
            // Quotes grow when encoded.
            let text = if *quotes { "\"" } else { "d" }.repeat(*size);
            let _too_long = catalog.add_tool(tool(&alloc::format!("n{at}")).title(text), "");
        }
        let mut seen = 0;
        let mut cursor = None;
        loop {
            let page = tools_page(&catalog, cursor.as_deref()).unwrap();
            seen += page.tools.len();
            prop_assert!(page.tools.len() <= entries_max);
            for revision in Revision::ALL {
                prop_assert!(encoded(&page, revision).len() <= bytes_max);
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
            prop_assert!(!page.tools.is_empty());
        }
        prop_assert_eq!(seen, catalog.tools().count());
    }

    /// Against a model: entries present during the whole walk are seen exactly once, and removed
    /// entries are not seen. Titles distinguish entries that share a name.
    #[test]
    fn a_walk_is_complete_and_free_of_duplicates_despite_changes_pag_05(
        start in proptest::collection::vec(0_u8..12, 0..12),
        steps in proptest::collection::vec(
            proptest::collection::vec((any::<bool>(), 0_u8..12), 0..6),
            0..12,
        ),
        entries_max in 1_usize..5,
    ) {
        let mut catalog = with_pages(entries_max, 1 << 20);
        let mut model: Model = BTreeMap::new();
        let mut count = 0;
        let mut change = |catalog: &mut Catalog<&'static str>, model: &mut Model, add, n: u8| {
            let name = alloc::format!("n{n}");
            if add {
                count += 1;
                let title = alloc::format!("{count}");
                let added = catalog.add_tool(tool(&name).title(title.clone()), "");
                assert_eq!(added.is_err(), model.contains_key(&n));
                model.entry(n).or_insert(title);
            } else {
                assert_eq!(catalog.remove_tool(&name).is_ok(), model.remove(&n).is_some());
            }
        };
        for n in start {
            change(&mut catalog, &mut model, true, n);
        }
        let mut always: BTreeSet<String> = model.values().cloned().collect();
        let mut seen: Vec<String> = Vec::new();
        let mut cursor = None;
        let mut steps = steps.into_iter();
        loop {
            let page = tools_page(&catalog, cursor.as_deref()).unwrap();
            for listed in &page.tools {
                let title = listed.title.clone().unwrap();
                prop_assert!(model.values().any(|known| *known == title), "{title} was removed");
                prop_assert!(!seen.contains(&String::from(title.clone())), "{title} came twice");
                seen.push(title.into());
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
            for (add, n) in steps.next().unwrap_or_default() {
                change(&mut catalog, &mut model, add, n);
                always.retain(|title| model.values().any(|known| known == title));
            }
        }
        prop_assert!(always.iter().all(|title| seen.contains(title)), "{always:?} {seen:?}");
    }
}
