//! Tools with their handlers.

use mcp_proto::Raw;
use mcp_proto::catalog::Catalog;
use mcp_proto::schema::{self, AnyObject, CallToolResult, Icon, ToolAnnotations};
use serde::Serialize;

use super::common_setters;
use crate::server::catalog::catalog_edit::{CatalogEdit, EditError, Put, PutEntry};
#[cfg(feature = "tracing")]
use crate::server::catalog::unreadable_schema::unreadable_fields;
use crate::server::handler::arguments::is_closed;
use crate::server::handler::function::{Handler, Prepared};
use crate::server::handler::kind::ToolCall;
use crate::server::handler::needs::{Arguments, NeededState};
use crate::server::handler::task_service::OpenTasks;
use crate::server::handler::{EntryHandler, HandlerFn};
#[cfg(feature = "tracing")]
use crate::trace::unreadable_schema;
use crate::trace::unusual_tool_name;

/// A [tool](https://modelcontextprotocol.io/specification/2025-11-25/server/tools) with its
/// handler.
///
/// The input schema is derived from the type of the handler's arguments, a struct with named
/// fields; a handler without arguments makes a tool without arguments. A type whose JSON form is
/// never an object, such as a number or a tuple, is an error when the entry is added. If the
/// arguments are [`Raw`] or [`Json`](crate::Json), set the [`input_schema`](Self::input_schema).
///
/// Arguments that do not match their type produce a tool error that the model can correct.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::proto::Principal;
/// use mcp_tokio::proto::schema::Icon;
/// use mcp_tokio::tasks::TaskPolicy;
/// use mcp_tokio::{Client, HandlerError, Server, Tool, testing};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Delete {
///     id: u32,
/// }
///
/// async fn delete(note: Delete) -> Result<(), HandlerError> {
///     Err(HandlerError::failed(format!("no note {}", note.id)))
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let delete = Tool::new("delete", delete)
///     .title("Delete")
///     .description("Deletes a note")
///     .icons([Icon::new("https://notes.example/delete.png")])
///     .example(&json!({"id": 7}))
///     .destructive()
///     .idempotent()
///     .requires(["notes:write"])
///     .visible_to(|caller| caller.principal().is_some());
/// let count = Tool::new("count", || json!({"notes": 3}))
///     .input_schema(json!({"type": "object", "properties": {}}))
///     .output_schema(json!({"type": "object", "required": ["notes"]}))
///     .read_only()
///     .open_world()
///     .always_on_pool()
///     .as_task(TaskPolicy::optional());
/// let server = Server::new("notes", "1.0.0").add(delete).add(count);
///
/// let client = Client::new("test", "1.0.0");
/// let mut anyone = testing::pair(&server, client.clone())?;
/// assert_eq!(anyone.list_tools()?.len(), 1);
/// let mut ada = testing::pair_as(&server, client, Principal::new("ada").unwrap())?;
/// let delete = &ada.list_tools()?[0];
/// let examples = delete.input_schema.member("examples").unwrap();
/// assert_eq!(examples.as_str(), r#"[{"id":7}]"#);
/// assert_eq!(delete.annotations.as_ref().unwrap().destructive, Some(true));
/// # Ok(())
/// # }
/// ```
///
/// # Hosts
/// Hosts pass the schema on to the API of a model, which may refuse it. A derived schema
/// therefore has only what the common hosts accept:
///
/// | in Rust | in the schema of arguments |
/// |---|---|
/// | a field of type `Option<T>` | the schema of `T`, not required; `null` is accepted, too |
/// | `u8`, `i32` and other integers | `minimum` and `maximum` up to 32 bits, no `format` |
/// | a tuple | an array with `items`, which all drafts of JSON Schema have |
/// | a map whose keys are numbers | `additionalProperties` with the schema of the values |
/// | `serde_json::Value` | `{}`; no schema is a boolean |
/// | `deny_unknown_fields` | nothing: unknown fields are refused when arguments are decoded |
///
/// With the feature `tracing`, a warning names each tool and field that some hosts still
/// cannot read: enums as the whole arguments, and types that contain themselves.
#[must_use = "an entry does nothing until it is added"]
pub struct Tool {
    pub(in crate::server) definition: schema::Tool,
    /// Why the tool cannot be offered.
    invalid: Option<String>,
    examples: Vec<Raw>,
    pub(in crate::server) handler: HandlerFn<Raw, CallToolResult>,
    /// What creates tasks; `None` if no call becomes one.
    pub(in crate::server) tasks: Option<OpenTasks>,
    scopes: Vec<String>,
    states: Vec<NeededState>,
}

common_setters!(Tool, schema::Tool, "tool", "A model decides by it when to call the tool.");

impl Tool {
    /// Creates a tool. Hosts expect a [`description`](Self::description), too.
    pub fn new<M>(name: &str, handler: impl Handler<ToolCall, M>) -> Self {
        let Prepared { handler, needs } = handler.prepare();
        let untyped = || {
            let reason = "its handler takes JSON: set the schema with `Tool::input_schema`";
            (empty_schema(), None, Some(reason.to_owned()))
        };
        let (published, nullable, invalid) = match needs.arguments {
            Arguments::None => (empty_schema(), None, None),
            #[cfg(feature = "schemars")]
            Arguments::Tool(Ok(derived)) => (derived.published, derived.nullable, None),
            #[cfg(feature = "schemars")]
            Arguments::Tool(Err(reason)) => (empty_schema(), None, Some(reason)),
            _ => untyped(),
        };
        let mut definition = schema::Tool::new(name, published).with_readable_schemas();
        definition.output_schema = needs.output_schema.map(Into::into);
        let handler = match nullable {
            Some(nullable) => handler.with_nullable_form(&definition.input_schema, nullable),
            None => handler,
        };
        Self { invalid, ..Self::with(definition, handler, needs.states) }
    }

    fn with(
        definition: schema::Tool,
        handler: HandlerFn<Raw, CallToolResult>,
        states: Vec<NeededState>,
    ) -> Self {
        let (examples, scopes) = (Vec::new(), Vec::new());
        Self { definition, invalid: None, examples, handler, tasks: None, scopes, states }
    }

    /// Creates a tool with an explicit definition.
    ///
    /// The schemas are published as they are, except that
    /// [boolean schemas are replaced](schema::Tool::with_readable_schemas), for which some clients
    /// refuse the whole list. An output schema is derived from the value of the handler if the
    /// definition has none.
    pub fn define<M>(definition: schema::Tool, handler: impl Handler<ToolCall, M>) -> Self {
        let Prepared { handler, needs } = handler.prepare();
        let mut tool = Self::with(definition, handler, needs.states);
        if tool.definition.output_schema.is_none() {
            tool.definition.output_schema = needs.output_schema.map(Into::into);
        }
        tool
    }

    /// Sets the JSON Schema of the arguments, in place of the derived one.
    ///
    /// Arguments are not checked against it unless [`Server::checked`](crate::Server::checked) or
    /// [`Server::check_arguments`](crate::Server::check_arguments) is set.
    pub fn input_schema(mut self, schema: impl Into<AnyObject>) -> Self {
        self.invalid = None;
        self.describe(|mut definition| {
            definition.input_schema = schema.into();
            definition
        })
    }

    /// Adds an example of the arguments, for the model: an element of the keyword `examples` of the
    /// input schema.
    ///
    /// Adding the tool fails if `arguments` does not serialize to a JSON object, or if the schema
    /// itself has examples.
    pub fn example(mut self, arguments: &(impl Serialize + ?Sized)) -> Self {
        match Raw::new(arguments).ok().filter(Raw::is_object) {
            Some(example) => self.examples.push(example),
            None => self.invalid = Some("an example of its arguments is not an object".to_owned()),
        }
        self
    }

    /// Sets the JSON Schema of the structured results, in place of the derived one.
    pub fn output_schema(self, schema: impl Into<Raw>) -> Self {
        self.describe(|mut definition| {
            definition.output_schema = Some(schema.into().into());
            definition
        })
    }

    /// Hints that the tool changes nothing.
    pub fn read_only(self) -> Self {
        self.hint(|hints| hints.read_only(true))
    }

    /// Hints that the tool may delete or overwrite something.
    pub fn destructive(self) -> Self {
        self.hint(|hints| hints.destructive(true))
    }

    /// Hints that a second call with the arguments of the first changes nothing more.
    pub fn idempotent(self) -> Self {
        self.hint(|hints| hints.idempotent(true))
    }

    /// Hints that the tool deals with an open world, such as the web.
    pub fn open_world(self) -> Self {
        self.hint(|hints| hints.open_world(true))
    }

    fn hint(self, hint: impl FnOnce(ToolAnnotations) -> ToolAnnotations) -> Self {
        self.describe(|mut definition| {
            let hints = definition.annotations.take().unwrap_or_default();
            definition.annotations(hint(hints))
        })
    }

    /// Always runs the handler on the thread pool, if it is a function.
    ///
    /// Use this for a function that is quick for some arguments, and for others waits for a disk, a
    /// network or a person, or computes for a long time. After quick runs, such a function would
    /// otherwise run on the thread that reads requests, where a slow run delays the whole
    /// connection.
    pub fn always_on_pool(self) -> Self {
        self.handler.always_on_pool();
        self
    }
}

fn empty_schema() -> Raw {
    serde_json::json!({"type": "object", "properties": {}}).into()
}

/// Returns the schema with examples; `None` if it has some, or is no object.
fn with_examples(schema: &Raw, examples: &[Raw]) -> Option<Raw> {
    let head = schema.as_str().trim_end().strip_suffix('}')?;
    let comma = if head.trim_end().ends_with('{') { "" } else { "," };
    let examples = examples.iter().map(Raw::as_str).collect::<Vec<_>>().join(",");
    let text = format!("{head}{comma}\"examples\":[{examples}]}}");
    Raw::from_text(&text).ok().filter(|_| schema.member("examples").is_none())
}

impl PutEntry for Tool {
    fn put(self, edit: &mut CatalogEdit<'_>, put: Put) -> Result<(), EditError> {
        let Self { definition: mut tool, invalid, examples, mut handler, tasks, scopes, states } =
            self;
        let (name, done) = (tool.name.clone(), put.done());
        let what = format!("the tool `{name}`");
        if let Some(reason) = invalid {
            return Err(EditError::new(format!("{what} cannot be {done}: {reason}")));
        }
        if !examples.is_empty() {
            let Some(schema) = with_examples(&tool.input_schema.0, &examples) else {
                let reason = "its input schema has examples already: name all of them there";
                return Err(EditError::new(format!("{what} cannot be {done}: {reason}")));
            };
            handler.republish(&tool.input_schema.0, &schema);
            tool.input_schema = schema.into();
        }
        edit.check_schemas(&tool)?;
        if tasks.is_some() {
            edit.check_tasks(&what)?;
        }
        handler.set_up(|setup| setup.is_closed = is_closed(&tool));
        edit.set_scopes(handler.scopes(), scopes, &what, done)?;
        #[cfg(feature = "tracing")]
        let unreadable = unreadable_fields(&tool);
        let handler = EntryHandler::Tool(handler.named(&what));
        let calls = (Catalog::add_tool as _, Catalog::replace_tool as _);
        edit.put(&what, put, tool, handler, states, calls)?;
        edit.tasks = edit.tasks.or(tasks);
        if !is_recommended_name(&name) {
            unusual_tool_name(&name);
        }
        #[cfg(feature = "tracing")]
        for (field, reason) in unreadable {
            unreadable_schema(&name, &field, reason);
        }
        Ok(())
    }
}

/// Returns whether a tool name has the length and the characters that the specification
/// recommends.
fn is_recommended_name(name: &str) -> bool {
    let is_recommended = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    (1..=128).contains(&name.len()) && name.bytes().all(is_recommended)
}

#[cfg(test)]
mod tests {
    use super::is_recommended_name;

    #[test]
    fn recommended_names_have_ascii_letters_digits_and_three_marks() {
        for name in ["a", "get_user", "admin.tools-list", "DATA_export.v2", &"x".repeat(128)] {
            assert!(is_recommended_name(name), "{name}");
        }
        for name in ["", "a b", "a,b", "a/b", "café", &"x".repeat(129)] {
            assert!(!is_recommended_name(name), "{name}");
        }
    }
}
