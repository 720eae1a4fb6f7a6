//! Prompts whose arguments are a Rust type, with the feature `schemars`.

use std::any::type_name;
use std::collections::BTreeMap;
use std::future::Future;

use mcp_proto::schema::{
    ChoiceField, Complete, Field, Form, GetPrompt, List, Map, OrUnknown, Prompt, PromptArgument,
};
use mcp_proto::{ErrorObject, Raw};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Server;
use crate::server::entries::PromptEntry;
use crate::server::handler::arguments::parse_arguments;
use crate::server::handler::bounds::PromptResult;
use crate::server::handler::context::{AsyncCx, Cx};
use crate::server::handler::tool_error::ToolError;
use crate::server::handler::typed_form::{is_null, shape_of};

/// Prompts with arguments of a Rust type.
impl Server {
    /// Adds a [prompt](https://modelcontextprotocol.io/specification/2025-11-25/server/prompts)
    /// with arguments of type `A`, and the handler that renders it.
    ///
    /// `A` is a struct whose fields are strings, numbers, booleans, enums of unit variants, or
    /// `Option`s of these, or `()` for a prompt without arguments. Doc comments become the
    /// descriptions of the arguments. Clients send arguments as text: a number or a boolean is read
    /// from it, and the values of an enum are offered as completions.
    ///
    /// A request whose arguments do not match `A` fails with `-32602` before the handler runs. If
    /// `A` is another kind of type, the start of the server fails.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::Server;
    /// use mcp_tokio::proto::schema::{PromptMessage, Role};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Plan {
    ///     /// Number of days.
    ///     days: u8,
    ///     place: Option<String>,
    /// }
    ///
    /// let server = Server::new("trips", "1.0.0");
    /// let server = server.prompt("plan", "Plans a trip", |plan: Plan, _cx| {
    ///     let place = plan.place.as_deref().unwrap_or("somewhere warm");
    ///     let text = format!("Plan {} days in {place}.", plan.days);
    ///     Ok(PromptMessage::new(Role::User, text))
    /// });
    /// # drop(server);
    /// ```
    pub fn prompt<A, R>(
        self,
        name: &str,
        description: &str,
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        R: PromptResult,
    {
        self.register(|edit| edit.add_prompt(PromptEntry::new(name, description, handler)))
    }

    /// Like [`prompt`](Self::prompt), with an asynchronous handler.
    pub fn prompt_async<A, R, F>(
        self,
        name: &str,
        description: &str,
        handler: impl Fn(A, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        R: PromptResult,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.register(|edit| edit.add_prompt(PromptEntry::new_async(name, description, handler)))
    }
}

impl PromptEntry {
    /// Creates a prompt with arguments of type `A`; see [`Server::prompt`].
    ///
    /// If `A` cannot be the arguments of a prompt, adding the entry fails.
    pub fn new<A, R>(
        name: &str,
        description: &str,
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        R: PromptResult,
    {
        let shape = shape::<A>();
        let form = shape.clone().unwrap_or_default();
        let handler = move |get: GetPrompt, cx| handler(read_arguments(&form, &get)?, cx);
        Self::with(Prompt::new(name).description(description), handler).shaped(shape)
    }

    /// Like [`new`](Self::new), with an asynchronous handler.
    pub fn new_async<A, R, F>(
        name: &str,
        description: &str,
        handler: impl Fn(A, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        R: PromptResult,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let shape = shape::<A>();
        let form = shape.clone().unwrap_or_default();
        let handler = move |get: GetPrompt, cx| {
            let rendered = read_arguments(&form, &get).map(|arguments| handler(arguments, cx));
            async move { rendered?.await }
        };
        Self::with_async(Prompt::new(name).description(description), handler).shaped(shape)
    }

    /// Adds the arguments of the shape, and completions for those with a choice of values.
    fn shaped(self, shape: Result<Shape, String>) -> Self {
        let shape = match shape {
            Ok(shape) => shape,
            Err(reason) => return self.invalid(reason),
        };
        let choices = shape.0.iter().filter_map(|argument| match &argument.field {
            Field::Choice(choice) => Some((argument.definition.name.clone(), values(choice))),
            _ => None,
        });
        let definitions = shape.0.iter().map(|argument| argument.definition.clone());
        let entry = self.describe(|prompt| prompt.arguments(definitions.collect::<List<_>>()));
        choices.fold(entry, |entry, (name, values)| {
            entry.completion(&name, move |complete: Complete, _cx| {
                let start = &*complete.argument.value;
                Ok(values.iter().filter(|value| value.starts_with(start)).cloned().collect())
                    as Result<Vec<String>, ToolError>
            })
        })
    }
}

/// The arguments of a prompt, in order.
#[derive(Clone, Default)]
struct Shape(Vec<Argument>);

#[derive(Clone)]
struct Argument {
    definition: PromptArgument,
    field: Field,
}

/// Derives the arguments of a prompt from their type.
///
/// # Errors
/// Fails, with the reason, if an argument cannot be read from a text.
fn shape<A: JsonSchema>() -> Result<Shape, String> {
    if is_null::<A>() {
        return Ok(Shape::default());
    }
    let cannot =
        |reason| format!("`{}` cannot be the arguments of a prompt: {reason}", type_name::<A>());
    let Form { properties, required, .. } = shape_of::<A>().map_err(cannot)?;
    let is_required = |name: &str| required.iter().flatten().any(|required| required == name);
    let arguments = properties.iter().map(|(name, field)| {
        let OrUnknown::Known(field) = field else { return Err(cannot(UNKNOWN.into())) };
        let (title, description) = match field {
            Field::Bool(field) => (&field.title, &field.description),
            Field::Choice(field) => (&field.title, &field.description),
            Field::Number(field) => (&field.title, &field.description),
            Field::Text(field) => (&field.title, &field.description),
            _ => return Err(cannot(format!("field `{name}` is a list, and arguments are texts"))),
        };
        let mut definition = PromptArgument::new(name);
        definition.title.clone_from(title);
        definition.description.clone_from(description);
        definition.required = is_required(name);
        Ok(Argument { definition, field: field.clone() })
    });
    arguments.collect::<Result<_, _>>().map(Shape)
}

const UNKNOWN: &str = "a field has an unknown type";

/// Returns the values of a choice.
fn values(choice: &ChoiceField) -> Vec<String> {
    let values = choice.values.iter().flatten().cloned();
    values.chain(choice.options.iter().flatten().map(|option| option.value.clone())).collect()
}

/// Reads the arguments of a request. Blank ones that are optional and no texts count as absent:
/// clients send those that the user left empty.
///
/// # Errors
/// `-32602` if an argument does not match its type.
fn read_arguments<A: DeserializeOwned>(shape: &Shape, get: &GetPrompt) -> Result<A, ToolError> {
    let empty = Map::new();
    let given = get.arguments.as_ref().unwrap_or(&empty);
    let mut object = BTreeMap::new();
    for (name, text) in given.iter() {
        let argument = shape.0.iter().find(|argument| argument.definition.name == *name);
        let is_text = argument.is_none_or(|it| matches!(it.field, Field::Text(_)));
        let is_required = argument.is_some_and(|it| it.definition.required);
        if !is_text && !is_required && text.trim().is_empty() {
            continue;
        }
        let value = match argument.map(|argument| &argument.field) {
            Some(Field::Number(_) | Field::Bool(_)) => {
                Raw::from_text(text.trim()).unwrap_or_else(|_| Value::from(&**text).into())
            }
            _ => Value::from(&**text).into(),
        };
        object.insert(name, value);
    }
    let object = Raw::new(&object).unwrap_or_else(|_| Raw::empty_object());
    parse_arguments(&object, false).map_err(|why| {
        let why = format!("invalid arguments of the prompt `{}`: {why}", get.name);
        ToolError::refused(ErrorObject::invalid_params(why))
    })
}
