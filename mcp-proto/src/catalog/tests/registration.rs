//! Adding and removing entries, and the resulting capabilities.

use serde_json::json;

use super::*;

#[test]
fn duplicates_are_rejected_without_changes() {
    let mut catalog = catalog();
    assert_eq!(catalog.add_tool(tool("today"), "again"), Err(CatalogError::Duplicate));
    let readme = Resource::new("file:///readme", "other name");
    assert_eq!(catalog.add_resource(readme, "again"), Err(CatalogError::Duplicate));
    let files = ResourceTemplate::new("file:///{name}", "other name");
    assert_eq!(catalog.add_template(files, "again"), Err(CatalogError::Duplicate));
    assert_eq!(catalog.add_prompt(Prompt::new("greet"), "again"), Err(CatalogError::Duplicate));
    assert_eq!(
        catalog.add_prompt_completion("greet", "who", "again"),
        Err(CatalogError::Duplicate)
    );
    let again = catalog.add_template_completion("file:///{name}", "name", "again");
    assert_eq!(again, Err(CatalogError::Duplicate));
    assert!(catalog.tools().all(|(_, handler)| *handler == "today"));
    assert_eq!(lookup(&catalog, "tools/call", json!({"name": "today"}), R4), "tool today today {}");
}

#[test]
fn iterators_follow_list_order() {
    let catalog = catalog();
    assert_eq!(catalog.tools().map(|(tool, _)| &*tool.name).collect::<Vec<_>>(), ["today"]);
    assert_eq!(catalog.resources().map(|(_, handler)| *handler).collect::<Vec<_>>(), ["readme"]);
    assert_eq!(
        catalog.templates().map(|(_, handler)| *handler).collect::<Vec<_>>(),
        ["files", "tree"]
    );
    assert_eq!(catalog.prompts().map(|(_, handler)| *handler).collect::<Vec<_>>(), ["greet"]);
}

#[test]
fn a_tool_is_found_by_name_until_it_is_removed() {
    let mut catalog = catalog();
    catalog.add_tool(tool("later").title("Later"), "later").unwrap();
    assert_eq!(catalog.tool("later").unwrap().title.as_deref(), Some("Later"));
    assert_eq!(catalog.tool("Later"), None);
    catalog.remove_tool("later").unwrap();
    assert_eq!(catalog.tool("later"), None);
}

#[test]
fn a_replacement_keeps_the_position_and_drops_completions() {
    let mut catalog = catalog();
    catalog.add_tool(tool("later"), "later").unwrap();
    assert_eq!(catalog.replace_tool(tool("today"), "again"), Ok(ChangedList::Tools));
    assert_eq!(
        catalog.tools().map(|(_, handler)| *handler).collect::<Vec<_>>(),
        ["again", "later"]
    );
    let files = ResourceTemplate::new("file:///{name}", "files");
    assert_eq!(catalog.replace_template(files, "again"), Ok(ChangedList::Resources));
    let read = lookup(&catalog, "resources/read", json!({"uri": "file:///x"}), R4);
    assert_eq!(read, r#"template files again name=Text("x")"#);
    assert_eq!(
        catalog.replace_prompt(prompt("greet", &[("who", true)]), "again"),
        Ok(ChangedList::Prompts)
    );
    assert_eq!(catalog.add_prompt_completion("greet", "who", "again"), Ok(()));
    let readme = Resource::new("file:///readme", "other name");
    assert_eq!(catalog.replace_resource(readme, "again"), Ok(ChangedList::Resources));
    assert_eq!(catalog.resources().map(|(_, handler)| *handler).collect::<Vec<_>>(), ["again"]);
}

#[test]
fn only_existing_entries_are_replaced() {
    let mut catalog = catalog();
    assert_eq!(catalog.replace_tool(tool("later"), ""), Err(CatalogError::Unknown));
    let other = Resource::new("file:///other", "other");
    assert_eq!(catalog.replace_resource(other, ""), Err(CatalogError::Unknown));
    let other = ResourceTemplate::new("other:///{name}", "other");
    assert_eq!(catalog.replace_template(other, ""), Err(CatalogError::Unknown));
    assert_eq!(catalog.replace_prompt(Prompt::new("part"), ""), Err(CatalogError::Unknown));
    assert!(matches!(catalog.replace_tool(tool(""), ""), Err(CatalogError::Invalid(_))));
    assert_eq!(catalog.patterns.len(), catalog.templates.len());
    assert_eq!(catalog.tool("later"), None);
}

#[test]
fn a_clone_is_independent() {
    let mut catalog = catalog();
    let before = catalog.clone();
    catalog.remove_tool("today").unwrap();
    catalog.remove_prompt("greet").unwrap();
    assert!(before.tool("today").is_some() && before.capabilities().has(Capability::Prompts));
}

#[test]
fn malformed_entries_are_rejected() {
    let mut catalog = Catalog::new();
    assert!(matches!(catalog.add_tool(tool(""), ""), Err(CatalogError::Invalid(_))));
    for schema in
        [json!([]), json!({}), json!({"type": "string"}), json!({"type": ["object"]}), json!(true)]
    {
        let added = catalog.add_tool(Tool::new("x", raw(&schema)), "");
        assert!(matches!(added, Err(CatalogError::Invalid(_))), "{schema}");
    }
    let mistyped = tool("x").output_schema(raw(&json!([])));
    assert!(matches!(catalog.add_tool(mistyped, ""), Err(CatalogError::Invalid(_))));
    for uri in ["", "readme", "/readme", ":x", "1a:x", "a b:x"] {
        let added = catalog.add_resource(Resource::new(uri, "x"), "");
        assert!(matches!(added, Err(CatalogError::Invalid(_))), "{uri}");
    }
    let bad = ResourceTemplate::new("file:///{name", "x");
    assert!(matches!(catalog.add_template(bad, ""), Err(CatalogError::Template(_))));
    assert!(matches!(catalog.add_prompt(Prompt::new(""), ""), Err(CatalogError::Invalid(_))));
    let twice = prompt("x", &[("a", true), ("a", false)]);
    assert!(matches!(catalog.add_prompt(twice, ""), Err(CatalogError::Invalid(_))));
    assert_eq!(catalog.capabilities(), Capabilities::none());
}

#[test]
fn completions_require_an_existing_argument() {
    let mut catalog = catalog();
    for (prompt, argument) in [("greet", "when"), ("part", "who")] {
        assert_eq!(catalog.add_prompt_completion(prompt, argument, ""), Err(CatalogError::Unknown));
    }
    for (template, variable) in
        [("file:///{name}", "path"), ("file:///{x}", "x"), ("file:///readme", "x")]
    {
        assert_eq!(
            catalog.add_template_completion(template, variable, ""),
            Err(CatalogError::Unknown)
        );
    }
}

#[test]
fn removal_drops_completions() {
    let mut catalog = catalog();
    assert_eq!(catalog.remove_tool("today"), Ok((ChangedList::Tools, "today")));
    assert_eq!(catalog.remove_tool("today"), Err(CatalogError::Unknown));
    assert_eq!(catalog.remove_template("file:///{name}"), Ok((ChangedList::Resources, "files")));
    assert_eq!(catalog.remove_template("file:///{name}"), Err(CatalogError::Unknown));
    assert_eq!(catalog.patterns.len(), catalog.templates.len());
    assert_eq!(
        lookup(&catalog, "resources/read", json!({"uri": "file:///a"}), R4),
        "template tree tree path=Text(\"a\")"
    );
    assert_eq!(catalog.remove_resource("file:///readme"), Ok((ChangedList::Resources, "readme")));
    assert_eq!(catalog.remove_resource("file:///readme"), Err(CatalogError::Unknown));
    assert!(catalog.capabilities().has(Capability::Completions));
    assert_eq!(catalog.remove_prompt("greet"), Ok((ChangedList::Prompts, "greet")));
    assert_eq!(catalog.remove_prompt("greet"), Err(CatalogError::Unknown));
    assert_eq!(catalog.capabilities(), Capabilities::none().with(Capability::Resources));
    // An entry added again under an old name does not inherit its completions.
    catalog.add_prompt(prompt("greet", &[("who", true)]), "greet").unwrap();
    assert!(!catalog.capabilities().has(Capability::Completions));
}

#[test]
fn capabilities_follow_from_the_entries_cap_01_cap_12() {
    let declares = |catalog: &Catalog<&str>| encoded(&catalog.capabilities(), R4);
    assert_eq!(declares(&Catalog::new()), "{}");
    assert_eq!(declares(&Catalog::new().declare_list_changed()), "{}");
    let mut tools = Catalog::new();
    assert_eq!(tools.add_tool(tool("x"), ""), Ok(ChangedList::Tools));
    assert_eq!(declares(&tools), r#"{"tools":{}}"#);
    assert_eq!(declares(&tools.declare_list_changed()), r#"{"tools":{"listChanged":true}}"#);
    let mut templates = Catalog::new();
    assert_eq!(
        templates.add_template(ResourceTemplate::new("a:{x}", "x"), ""),
        Ok(ChangedList::Resources)
    );
    assert_eq!(declares(&templates), r#"{"resources":{}}"#);
    templates.add_template_completion("a:{x}", "x", "").unwrap();
    assert_eq!(declares(&templates), r#"{"completions":{},"resources":{}}"#);
    // CAP-19: the first revision has no completions capability.
    assert_eq!(encoded(&templates.capabilities(), Revision::V2024_11_05), r#"{"resources":{}}"#);
    let all = concat!(
        r#"{"completions":{},"prompts":{"listChanged":true},"#,
        r#""resources":{"listChanged":true},"tools":{"listChanged":true}}"#,
    );
    assert_eq!(declares(&catalog().declare_list_changed()), all);
}

#[test]
fn a_change_names_its_notification() {
    for (changed, method) in [
        (ChangedList::Prompts, "notifications/prompts/list_changed"),
        (ChangedList::Resources, "notifications/resources/list_changed"),
        (ChangedList::Tools, "notifications/tools/list_changed"),
    ] {
        assert_eq!(changed.method(), method);
    }
}

#[test]
fn debug_output_omits_handlers() {
    let shown = alloc::format!("{:?}", Catalog::<fn()>::new());
    assert_eq!(shown, "Catalog { tools: 0, resources: 0, templates: 0, prompts: 0, .. }");
}
