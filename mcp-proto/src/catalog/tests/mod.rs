//! The catalog: registration, lookups and pages.

mod lookup;
mod pages;
mod registration;
mod visibility;

use alloc::vec::Vec;

use serde_json::Value;

use super::*;
use crate::revision::Revision;
use crate::rpc::ErrorObject;
use crate::schema::{Encode, PromptArgument};

const R4: Revision = Revision::V2025_11_25;

fn raw(value: &Value) -> Raw {
    Raw::new(value).unwrap()
}

fn tool(name: &str) -> Tool {
    Tool::new(name, Raw::from_text(r#"{"type":"object"}"#).unwrap())
}

fn prompt(name: &str, arguments: &[(&str, bool)]) -> Prompt {
    let arguments = arguments.iter().map(|(name, required)| {
        let mut argument = PromptArgument::new(*name);
        argument.required = *required;
        argument
    });
    Prompt::new(name).arguments(arguments.collect::<Vec<_>>())
}

/// A catalog with entries of each kind, whose handlers are their names.
fn catalog() -> Catalog<&'static str> {
    let mut catalog = Catalog::new();
    catalog.add_tool(tool("today"), "today").unwrap();
    catalog.add_resource(Resource::new("file:///readme", "readme"), "readme").unwrap();
    catalog.add_template(ResourceTemplate::new("file:///{name}", "files"), "files").unwrap();
    catalog.add_template(ResourceTemplate::new("file:///{+path}", "tree"), "tree").unwrap();
    catalog.add_prompt(prompt("greet", &[("who", true), ("how", false)]), "greet").unwrap();
    catalog.add_prompt_completion("greet", "who", "complete who").unwrap();
    catalog.add_template_completion("file:///{name}", "name", "complete name").unwrap();
    catalog
}

/// Describes what a request resolves to.
fn lookup(
    catalog: &Catalog<&'static str>,
    method: &str,
    params: Value,
    revision: Revision,
) -> String {
    match catalog.lookup_raw(method, Some(&raw(&params)), revision) {
        Ok(found) => describe(found, revision),
        Err(error) => alloc::format!("error {error}"),
    }
}

fn describe(found: Resolved<'_, &'static str>, revision: Revision) -> String {
    use alloc::format;
    match found {
        Resolved::Answer(answer) => format!("answer {}", encoded(&answer, revision)),
        Resolved::Completion { handler, .. } => format!("completion {handler}"),
        Resolved::Other => "other".into(),
        Resolved::Prompt { prompt, handler, .. } => format!("prompt {} {handler}", prompt.name),
        Resolved::Resource { resource, handler, read } => {
            format!("resource {} {handler} {}", resource.name, read.uri)
        }
        Resolved::Template { template, handler, variables, .. } => {
            let values: Vec<_> =
                variables.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
            format!("template {} {handler} {}", template.name, values.join(" "))
        }
        Resolved::Tool { tool, handler, call } => {
            format!("tool {} {handler} {}", tool.name, call.arguments.unwrap().as_str())
        }
    }
}

fn encoded(value: &dyn Encode, revision: Revision) -> String {
    let mut out = Vec::new();
    value.encode(revision, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn lookup_error(catalog: &Catalog<&'static str>, method: &str, params: Value) -> ErrorObject {
    catalog.lookup_raw(method, Some(&raw(&params)), R4).unwrap_err()
}
