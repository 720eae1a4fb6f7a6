//! Adding and removing: what is refused, what changes, and what a server then declares.

use serde_json::json;

use super::*;

#[test]
fn what_is_there_already_is_refused_and_nothing_changes() {
    let mut catalog = catalog();
    assert_eq!(catalog.add_tool(tool("today"), "again"), Err(Refused::Duplicate));
    let readme = Resource::new("file:///readme", "other name");
    assert_eq!(catalog.add_resource(readme, "again"), Err(Refused::Duplicate));
    let files = ResourceTemplate::new("file:///{name}", "other name");
    assert_eq!(catalog.add_template(files, "again"), Err(Refused::Duplicate));
    assert_eq!(catalog.add_prompt(Prompt::new("greet"), "again"), Err(Refused::Duplicate));
    assert_eq!(catalog.add_prompt_completion("greet", "who", "again"), Err(Refused::Duplicate));
    let again = catalog.add_template_completion("file:///{name}", "name", "again");
    assert_eq!(again, Err(Refused::Duplicate));
    assert!(catalog.tools().all(|(_, handler)| *handler == "today"));
    assert_eq!(found(&catalog, "tools/call", json!({"name": "today"}), R4), "tool today today {}");
}

#[test]
fn what_there_is_is_told_in_the_order_of_its_list() {
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
fn a_tool_is_there_under_its_name_until_it_is_removed() {
    let mut catalog = catalog();
    catalog.add_tool(tool("later").title("Later"), "later").unwrap();
    assert_eq!(catalog.tool("later").unwrap().title.as_deref(), Some("Later"));
    assert_eq!(catalog.tool("Later"), None);
    catalog.remove_tool("later").unwrap();
    assert_eq!(catalog.tool("later"), None);
}

#[test]
fn what_replaces_stands_where_the_other_stood_and_completes_nothing() {
    let mut catalog = catalog().replacing();
    catalog.add_tool(tool("later"), "later").unwrap();
    assert_eq!(catalog.add_tool(tool("today"), "again"), Ok(Changed::Tools));
    assert_eq!(
        catalog.tools().map(|(_, handler)| *handler).collect::<Vec<_>>(),
        ["again", "later"]
    );
    let files = ResourceTemplate::new("file:///{name}", "files");
    assert_eq!(catalog.add_template(files, "again"), Ok(Changed::Resources));
    let read = found(&catalog, "resources/read", json!({"uri": "file:///x"}), R4);
    assert_eq!(read, r#"template files again name=Text("x")"#);
    assert_eq!(
        catalog.add_prompt(prompt("greet", &[("who", true)]), "again"),
        Ok(Changed::Prompts)
    );
    assert_eq!(catalog.add_prompt_completion("greet", "who", "again"), Ok(()));
}

#[test]
fn what_is_not_well_formed_is_refused() {
    let mut catalog = Catalog::new();
    assert!(matches!(catalog.add_tool(tool(""), ""), Err(Refused::Invalid(_))));
    for schema in
        [json!([]), json!({}), json!({"type": "string"}), json!({"type": ["object"]}), json!(true)]
    {
        let refused = catalog.add_tool(Tool::new("x", raw(&schema)), "");
        assert!(matches!(refused, Err(Refused::Invalid(_))), "{schema}");
    }
    let results = tool("x").output_schema(raw(&json!([])));
    assert!(matches!(catalog.add_tool(results, ""), Err(Refused::Invalid(_))));
    for uri in ["", "readme", "/readme", ":x", "1a:x", "a b:x"] {
        let refused = catalog.add_resource(Resource::new(uri, "x"), "");
        assert!(matches!(refused, Err(Refused::Invalid(_))), "{uri}");
    }
    let bad = ResourceTemplate::new("file:///{name", "x");
    assert!(matches!(catalog.add_template(bad, ""), Err(Refused::Template(_))));
    assert!(matches!(catalog.add_prompt(Prompt::new(""), ""), Err(Refused::Invalid(_))));
    let twice = prompt("x", &[("a", true), ("a", false)]);
    assert!(matches!(catalog.add_prompt(twice, ""), Err(Refused::Invalid(_))));
    assert_eq!(catalog.capabilities(), Capabilities::none());
}

#[test]
fn completions_are_of_arguments_that_are_there() {
    let mut catalog = catalog();
    for (prompt, argument) in [("greet", "when"), ("part", "who")] {
        assert_eq!(catalog.add_prompt_completion(prompt, argument, ""), Err(Refused::Unknown));
    }
    for (template, variable) in
        [("file:///{name}", "path"), ("file:///{x}", "x"), ("file:///readme", "x")]
    {
        assert_eq!(catalog.add_template_completion(template, variable, ""), Err(Refused::Unknown));
    }
}

#[test]
fn what_is_removed_is_gone_with_its_completions() {
    let mut catalog = catalog();
    assert_eq!(catalog.remove_tool("today"), Ok((Changed::Tools, "today")));
    assert_eq!(catalog.remove_tool("today"), Err(Refused::Unknown));
    assert_eq!(catalog.remove_template("file:///{name}"), Ok((Changed::Resources, "files")));
    assert_eq!(catalog.remove_template("file:///{name}"), Err(Refused::Unknown));
    assert_eq!(catalog.patterns.len(), catalog.templates.len());
    assert_eq!(
        found(&catalog, "resources/read", json!({"uri": "file:///a"}), R4),
        "template tree tree path=Text(\"a\")"
    );
    assert_eq!(catalog.remove_resource("file:///readme"), Ok((Changed::Resources, "readme")));
    assert_eq!(catalog.remove_resource("file:///readme"), Err(Refused::Unknown));
    assert!(catalog.capabilities().has(Capability::Completions));
    assert_eq!(catalog.remove_prompt("greet"), Ok((Changed::Prompts, "greet")));
    assert_eq!(catalog.remove_prompt("greet"), Err(Refused::Unknown));
    assert_eq!(catalog.capabilities(), Capabilities::none().with(Capability::Resources));
    // The same name again is a new thing: what completed the old one is gone.
    catalog.add_prompt(prompt("greet", &[("who", true)]), "greet").unwrap();
    assert!(!catalog.capabilities().has(Capability::Completions));
}

#[test]
fn capabilities_follow_from_what_is_there_cap_01_cap_12() {
    let declares = |catalog: &Catalog<&str>| encoded(&catalog.capabilities(), R4);
    assert_eq!(declares(&Catalog::new()), "{}");
    assert_eq!(declares(&Catalog::new().changing()), "{}");
    let mut tools = Catalog::new();
    assert_eq!(tools.add_tool(tool("x"), ""), Ok(Changed::Tools));
    assert_eq!(declares(&tools), r#"{"tools":{}}"#);
    assert_eq!(declares(&tools.changing()), r#"{"tools":{"listChanged":true}}"#);
    let mut templates = Catalog::new();
    assert_eq!(
        templates.add_template(ResourceTemplate::new("a:{x}", "x"), ""),
        Ok(Changed::Resources)
    );
    assert_eq!(declares(&templates), r#"{"resources":{}}"#);
    templates.add_template_completion("a:{x}", "x", "").unwrap();
    assert_eq!(declares(&templates), r#"{"completions":{},"resources":{}}"#);
    // The first revision has no such capability. (CAP-19)
    assert_eq!(encoded(&templates.capabilities(), Revision::V2024_11_05), r#"{"resources":{}}"#);
    let all = r#"{"completions":{},"prompts":{"listChanged":true},"resources":{"listChanged":true},"tools":{"listChanged":true}}"#;
    assert_eq!(declares(&catalog().changing()), all);
}

#[test]
fn a_change_names_the_notification_that_tells_of_it() {
    for (changed, method) in [
        (Changed::Prompts, "notifications/prompts/list_changed"),
        (Changed::Resources, "notifications/resources/list_changed"),
        (Changed::Tools, "notifications/tools/list_changed"),
    ] {
        assert_eq!(changed.method(), method);
    }
}

#[test]
fn a_catalogue_is_shown_without_its_handlers() {
    let shown = alloc::format!("{:?}", Catalog::<fn()>::new());
    assert_eq!(shown, "Catalog { tools: 0, resources: 0, templates: 0, prompts: 0, .. }");
}
