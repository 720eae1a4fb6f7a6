//! Arguments of prompts as Rust types, with the feature `schemars`.

use std::any::type_name;
use std::collections::BTreeMap;

use mcp_proto::Raw;
use mcp_proto::schema::{Field, Form, GetPrompt, List, Map, OrUnknown, PromptArgument};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::server::handler::arguments::parse_arguments;
use crate::server::handler::handler_error::HandlerError;
use crate::server::handler::typed_form::{is_null, shape_of};

/// The arguments of a prompt, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape(Vec<Argument>);

#[derive(Clone, Debug)]
struct Argument {
    definition: PromptArgument,
    field: Field,
}

impl Shape {
    /// Returns the definitions of the arguments.
    pub(crate) fn definitions(&self) -> List<PromptArgument> {
        let definitions = self.0.iter().map(|argument| argument.definition.clone());
        definitions.collect::<Vec<_>>().into()
    }

    /// Returns the names of the arguments with a choice of values, and these values.
    pub(crate) fn choices(&self) -> impl Iterator<Item = (&str, Vec<String>)> {
        self.0.iter().filter_map(|argument| match &argument.field {
            Field::Choice(_) => Some((
                &*argument.definition.name,
                argument.field.choices().map(|(value, _)| value.into()).collect(),
            )),
            _ => None,
        })
    }
}

/// Derives the arguments of a prompt from their type.
///
/// # Errors
/// Fails, with the reason, if an argument cannot be read from a text.
pub(crate) fn shape<A: JsonSchema>() -> Result<Shape, String> {
    if is_null::<A>() {
        return Ok(Shape::default());
    }
    let cannot =
        |reason| format!("`{}` cannot be the arguments of a prompt: {reason}", type_name::<A>());
    let Form { properties, required, .. } = shape_of::<A>().map_err(cannot)?;
    let is_required = |name: &str| required.iter().flatten().any(|required| required == name);
    let arguments = properties.iter().map(|(name, field)| {
        let OrUnknown::Known(field) = field else { return Err(cannot(UNKNOWN.into())) };
        if matches!(field, Field::Choices(_)) {
            return Err(cannot(format!("field `{name}` is a list, and arguments are texts")));
        }
        let mut definition = PromptArgument::new(name);
        definition.title = field.title().map(Into::into);
        definition.description = field.description().map(Into::into);
        definition.required = is_required(name);
        Ok(Argument { definition, field: field.clone() })
    });
    arguments.collect::<Result<_, _>>().map(Shape)
}

const UNKNOWN: &str = "a field has an unknown type";

/// Reads the arguments of a request. Blank ones that are optional and no texts count as absent:
/// clients send those that the user left empty.
///
/// # Errors
/// `-32602` if an argument does not match its type.
pub(crate) fn read_arguments<A: DeserializeOwned>(
    shape: &Shape,
    get: &GetPrompt,
) -> Result<A, HandlerError> {
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
        HandlerError::refused(mcp_proto::ErrorObject::invalid_params(why))
    })
}
