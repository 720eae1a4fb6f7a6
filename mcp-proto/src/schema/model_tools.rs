//! Tools and their results in the JSON of the APIs of language models.

mod result;

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::tool_schemas::readable_input_schema;
use super::tools::Tool;
use crate::json::{Array, Object, Raw};

/// The API of a language model, which determines the JSON of tools and of their results.
///
/// Hosts pass it to [`ModelTools::definitions`], and to [`tool_result`](Self::tool_result) for each
/// result.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ModelApi {
    /// [Messages](https://platform.claude.com/docs/en/api/messages) of Anthropic.
    Anthropic,
    /// [Function calling](https://ai.google.dev/gemini-api/docs/function-calling) of Gemini.
    Gemini,
    /// [Chat completions](https://platform.openai.com/docs/api-reference/chat) of OpenAI and of the
    /// many compatible servers.
    OpenAi,
}

/// Tools under names that the APIs of language models accept.
///
/// A name has at most 64 letters of ASCII, digits, `_` and `-`, does not begin with a digit or `-`,
/// and differs from all others. A tool whose name is valid keeps it. The names depend on the
/// list of tools alone.
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::schema::{CallToolResult, ModelApi, ModelTools, Tool};
///
/// let schema = Raw::from_text(r#"{"type":"object","properties":{}}"#).unwrap();
/// let tools = ModelTools::new([Tool::new("clock.now", schema).description("Tells the time")]);
/// assert_eq!(
///     tools.definitions(ModelApi::Anthropic).as_str(),
///     r#"[{"name":"clock_now","description":"Tells the time","#.to_owned()
///         + r#""input_schema":{"type":"object","properties":{}}}]"#,
/// );
///
/// // The model calls `clock_now` with the id `toolu_1`.
/// assert_eq!(tools.get("clock_now").unwrap().name, "clock.now");
/// let result = CallToolResult::text("12:00");
/// assert_eq!(
///     ModelApi::Anthropic.tool_result("toolu_1", "clock_now", &result).as_str(),
///     r#"{"type":"tool_result","tool_use_id":"toolu_1","#.to_owned()
///         + r#""content":[{"type":"text","text":"12:00"}]}"#,
/// );
/// ```
#[derive(Clone, Debug, Default)]
pub struct ModelTools {
    tools: Vec<(String, Tool)>,
    places: BTreeMap<String, usize>,
}

const NAME_BYTES_MAX: usize = 64;

impl ModelTools {
    /// Names `tools`.
    #[must_use]
    pub fn new(tools: impl IntoIterator<Item = Tool>) -> Self {
        let tools: Vec<Tool> = tools.into_iter().collect();
        // A name that is made up must not take a valid one from a tool later in the list.
        let valid: BTreeSet<&str> =
            tools.iter().map(|tool| &*tool.name).filter(|name| valid_name(name) == *name).collect();
        let (mut places, mut numbers) = (BTreeMap::new(), BTreeMap::new());
        for (place, tool) in tools.iter().enumerate() {
            let base = valid_name(&tool.name);
            let mut name = base.clone().into_owned();
            let is_own = base == *tool.name;
            while places.contains_key(&name) || !is_own && valid.contains(&*name) {
                let number: &mut usize = numbers.entry(base.clone()).or_insert(1);
                *number += 1;
                let suffix = format!("_{number}");
                let kept = base.len().min(NAME_BYTES_MAX - suffix.len());
                name = format!("{}{suffix}", base.get(..kept).unwrap_or_default());
            }
            places.insert(name, place);
        }
        let mut names: Vec<(usize, String)> =
            places.iter().map(|(name, place)| (*place, name.clone())).collect();
        names.sort_unstable();
        let tools = names.into_iter().map(|(_, name)| name).zip(tools).collect();
        Self { tools, places }
    }

    /// Returns the tool that the model calls `name`; `None` if there is none.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.get(self.position(name)?).map(|(_, tool)| tool)
    }

    /// Returns the position in the list of the tool that the model calls `name`; `None` if there is
    /// none. Tells tools of several servers apart.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Iterates over the tools with their names for the model, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Tool)> {
        self.tools.iter().map(|(name, tool)| (&**name, tool))
    }

    /// Returns the definitions of the tools as a JSON array: the `tools` of a request to `api`; for
    /// Gemini, the `functionDeclarations` of an entry of `tools`.
    ///
    /// Schemas get the form that most APIs accept; see [`readable_input_schema`].
    #[must_use]
    pub fn definitions(&self, api: ModelApi) -> Raw {
        let mut out = Vec::new();
        let mut array = Array::begin(&mut out);
        for (name, tool) in self.iter() {
            let mut object = Object::begin(array.next());
            match api {
                ModelApi::Anthropic => write_tool(&mut object, name, tool, "input_schema"),
                ModelApi::Gemini => write_tool(&mut object, name, tool, "parametersJsonSchema"),
                ModelApi::OpenAi => {
                    object.str("type", "function");
                    let mut function = Object::begin(object.key("function"));
                    write_tool(&mut function, name, tool, "parameters");
                    function.end();
                }
            }
            object.end();
        }
        array.end();
        Raw::from_written(out)
    }
}

fn write_tool(object: &mut Object<'_>, name: &str, tool: &Tool, schema: &str) {
    object.str("name", name);
    if let Some(description) = tool.description.as_ref().or(tool.title.as_ref()) {
        object.str("description", description);
    }
    object.raw(schema, readable_input_schema(tool.input_schema.0.clone()).as_bytes());
}

/// Returns `name` if every API accepts it, or a similar name.
fn valid_name(name: &str) -> Cow<'_, str> {
    let is_letter = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    let is_first = |char: char| is_letter(char) && !is_late(char);
    if name.starts_with(is_first) && name.len() <= NAME_BYTES_MAX && name.chars().all(is_letter) {
        return name.into();
    }
    let letters = name.chars().map(|char| if is_letter(char) { char } else { '_' });
    let first = if letters.clone().next().is_none_or(is_late) { "_" } else { "" };
    first.chars().chain(letters).take(NAME_BYTES_MAX).collect()
}

/// Returns whether a name cannot begin with the character.
const fn is_late(char: char) -> bool {
    char.is_ascii_digit() || char == '-'
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn names(tools: &[&str]) -> Vec<String> {
        let tools = tools.iter().map(|name| Tool::new(*name, Raw::empty_object()));
        let tools = ModelTools::new(tools);
        for (place, (name, tool)) in tools.iter().enumerate() {
            assert_eq!(tools.position(name), Some(place));
            assert_eq!(tools.get(name).unwrap(), tool);
            assert_eq!(valid_name(name), name);
        }
        tools.iter().map(|(name, _)| name.into()).collect()
    }

    #[test]
    fn names_are_valid_and_lead_back_to_their_tools() {
        assert_eq!(names(&["add", "Add", "_x-1"]), ["add", "Add", "_x-1"]);
        assert_eq!(names(&["a.b", "a/b", "a_b", "a_b_2"]), ["a_b_3", "a_b_4", "a_b", "a_b_2"]);
        assert_eq!(names(&["x", "x", "x"]), ["x", "x_2", "x_3"]);
        assert_eq!(names(&["", "2d", "-a", "größe", "時"]), ["_", "_2d", "_-a", "gr__e", "__2"]);
        let long = "n".repeat(65);
        let shortened = names(&[&long, &long, &long[1..]]);
        assert_eq!(shortened[2], long[1..]);
        assert_eq!(shortened[0], "n".repeat(62) + "_2");
        assert_eq!(shortened[1], "n".repeat(62) + "_3");
        assert_eq!(ModelTools::default().get("x"), None);
    }

    #[test]
    fn many_equal_names_take_linear_time() {
        let all: Vec<&str> = core::iter::repeat_n("a b", 20_000).collect();
        assert_eq!(names(&all).last().unwrap(), "a_b_20000");
    }

    fn value(raw: &Raw) -> Value {
        raw.parse().unwrap()
    }

    #[test]
    fn definitions_have_the_form_of_each_api() {
        let schema = json!({"type": "object", "properties": {"a": true}});
        let tools = ModelTools::new([
            Tool::new("a b", schema).description("Adds"),
            Tool::new("c", Raw::empty_object()).title("C"),
        ]);
        let (a, c) = (
            json!({"type": "object", "properties": {"a": {}}}),
            json!({"type": "object", "properties": {}}),
        );
        assert_eq!(
            value(&tools.definitions(ModelApi::Anthropic)),
            json!([
                {"name": "a_b", "description": "Adds", "input_schema": a},
                {"name": "c", "description": "C", "input_schema": c},
            ])
        );
        assert_eq!(
            value(&tools.definitions(ModelApi::Gemini))[0],
            json!({"name": "a_b", "description": "Adds", "parametersJsonSchema": a})
        );
        let function = json!({"name": "a_b", "description": "Adds", "parameters": a});
        assert_eq!(
            value(&tools.definitions(ModelApi::OpenAi))[0],
            json!({"type": "function", "function": function})
        );
    }
}
