//! Tools and their results in the JSON of the APIs of language models.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::content::Content;
use super::resources::ResourceContents;
use super::tool_schemas::readable_input_schema;
use super::tools::{CallToolResult, Tool};
use crate::json::{Array, Object, Raw};

/// An API of language models that call tools.
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

impl ModelApi {
    /// Returns the result of a call for the model: a content block for Anthropic, a message for
    /// OpenAI, a part for Gemini.
    ///
    /// `id` is the id of the call, and `name` the name under which the model called the tool. If
    /// Gemini sent no id, `id` is empty.
    ///
    /// Texts and images are passed on; OpenAI accepts only texts. Other content becomes text:
    /// embedded texts themselves, links and media as a short description. Structured content is
    /// used if there is no other. An error is marked as such; for OpenAI, by the text `Error:`.
    #[must_use]
    pub fn tool_result(self, id: &str, name: &str, result: &CallToolResult) -> Raw {
        let mut parts = self.parts(result);
        if result.is_error && parts.is_empty() {
            parts.push(Part::Text("the tool failed".into()));
        }
        let mut out = Vec::new();
        let mut object = Object::begin(&mut out);
        match self {
            Self::Anthropic => {
                object.str("type", "tool_result");
                object.str("tool_use_id", id);
                write_blocks(&mut object, &parts);
                if result.is_error {
                    object.bool("is_error", true);
                }
            }
            Self::Gemini => {
                let mut response = Object::begin(object.key("functionResponse"));
                if !id.is_empty() {
                    response.str("id", id);
                }
                response.str("name", name);
                let mut output = Object::begin(response.key("response"));
                output.str(if result.is_error { "error" } else { "output" }, &joined(&parts));
                output.end();
                write_media(&mut response, &parts);
                response.end();
            }
            Self::OpenAi => {
                object.str("role", "tool");
                object.str("tool_call_id", id);
                let mark = if result.is_error { "Error: " } else { "" };
                object.str("content", &format!("{mark}{}", joined(&parts)));
            }
        }
        object.end();
        Raw::from_written(out)
    }

    /// Returns whether results may contain an image of the media type `mime`.
    fn has_images(self, mime: &str) -> bool {
        let is_common = matches!(mime, "image/gif" | "image/jpeg" | "image/png" | "image/webp");
        self != Self::OpenAi && is_common
    }

    fn parts<'a>(self, result: &'a CallToolResult) -> Vec<Part<'a>> {
        let parts = result.content.iter().map(|block| match block {
            Content::Text(text) => Part::Text((&*text.text).into()),
            Content::Image(image) => self.media(&image.mime_type, &image.data, ""),
            Content::Audio(audio) => self.media(&audio.mime_type, &audio.data, ""),
            Content::Resource(embedded) => match &embedded.resource {
                ResourceContents::Text(text) => Part::Text((&*text.text).into()),
                ResourceContents::Blob(blob) => {
                    self.media(blob.mime_type.as_deref().unwrap_or("data"), &blob.blob, &blob.uri)
                }
            },
            Content::ResourceLink(link) => {
                Part::Text(format!("[{}]({})", link.name, link.uri).into())
            }
            Content::Other(raw) => Part::Text(raw.as_str().into()),
        });
        // Anthropic refuses empty texts.
        let mut parts: Vec<Part<'_>> =
            parts.filter(|part| !matches!(part, Part::Text(text) if text.is_empty())).collect();
        if let (true, Some(output)) = (parts.is_empty(), &result.structured_content) {
            parts.push(Part::Text(output.as_str().into()));
        }
        parts
    }

    fn media<'a>(self, mime: &'a str, data: &'a str, uri: &str) -> Part<'a> {
        match (self.has_images(mime), uri) {
            (true, _) => Part::Image { mime, data },
            (false, "") => Part::Text(format!("[{mime}]").into()),
            (false, uri) => Part::Text(format!("[{mime}]({uri})").into()),
        }
    }
}

enum Part<'a> {
    Text(Cow<'a, str>),
    Image { mime: &'a str, data: &'a str },
}

/// Returns the texts, one on each line.
fn joined(parts: &[Part<'_>]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(&**text),
        Part::Image { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn write_blocks(object: &mut Object<'_>, parts: &[Part<'_>]) {
    let mut blocks = Array::begin(object.key("content"));
    for part in parts {
        let mut block = Object::begin(blocks.next());
        match part {
            Part::Text(text) => {
                block.str("type", "text");
                block.str("text", text);
            }
            Part::Image { mime, data } => {
                block.str("type", "image");
                let mut source = Object::begin(block.key("source"));
                source.str("type", "base64");
                source.str("media_type", mime);
                source.str("data", data);
                source.end();
            }
        }
        block.end();
    }
    blocks.end();
}

fn write_media(response: &mut Object<'_>, parts: &[Part<'_>]) {
    let mut images = parts
        .iter()
        .filter_map(|part| match part {
            Part::Image { mime, data } => Some((mime, data)),
            Part::Text(_) => None,
        })
        .peekable();
    if images.peek().is_none() {
        return;
    }
    let mut array = Array::begin(response.key("parts"));
    for (mime, data) in images {
        let mut part = Object::begin(array.next());
        let mut inline = Object::begin(part.key("inlineData"));
        inline.str("mimeType", mime);
        inline.str("data", data);
        inline.end();
        part.end();
    }
    array.end();
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::schema::{Audio, BlobResource, EmbeddedResource, Image, ResourceLink, TextResource};

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

    fn results(result: &CallToolResult) -> [Value; 3] {
        [ModelApi::Anthropic, ModelApi::Gemini, ModelApi::OpenAi]
            .map(|api| value(&api.tool_result("1", "t", result)))
    }

    #[test]
    fn texts_and_images_are_passed_on() {
        let result = CallToolResult::new(Vec::from([
            "see".into(),
            Image::from_bytes([1], "image/png").into(),
            "".into(),
        ]));
        let [anthropic, gemini, open_ai] = results(&result);
        let source = json!({"type": "base64", "media_type": "image/png", "data": "AQ=="});
        let content = json!([{"type": "text", "text": "see"}, {"type": "image", "source": source}]);
        assert_eq!(
            anthropic,
            json!({"type": "tool_result", "tool_use_id": "1", "content": content})
        );
        let parts = json!([{"inlineData": {"mimeType": "image/png", "data": "AQ=="}}]);
        let response = json!({"output": "see"});
        let response = json!({"id": "1", "name": "t", "response": response, "parts": parts});
        assert_eq!(gemini, json!({"functionResponse": response}));
        assert_eq!(
            open_ai,
            json!({"role": "tool", "tool_call_id": "1", "content": "see\n[image/png]"})
        );
    }

    #[test]
    fn errors_are_marked() {
        let [anthropic, gemini, open_ai] = results(&CallToolResult::error("no"));
        assert_eq!(anthropic["is_error"], true);
        assert_eq!(anthropic["content"][0]["text"], "no");
        assert_eq!(gemini["functionResponse"]["response"], json!({"error": "no"}));
        assert_eq!(open_ai["content"], "Error: no");
        // Anthropic refuses errors without content.
        let [anthropic, ..] = results(&CallToolResult::error(""));
        assert_eq!(anthropic["content"][0]["text"], "the tool failed");
    }

    #[test]
    fn other_content_becomes_text() {
        let text = TextResource::new("a:t", "inside");
        let blob = BlobResource::new("a:b", "AQ==").mime_type("application/pdf");
        let result = CallToolResult::new(Vec::from([
            Audio::from_bytes([1], "audio/wav").into(),
            Image::from_bytes([1], "image/svg+xml").into(),
            EmbeddedResource::new(ResourceContents::Text(text)).into(),
            EmbeddedResource::new(ResourceContents::Blob(blob)).into(),
            ResourceLink::new("a:l", "link").into(),
            Content::Other(Raw::literal(br#"{"type":"x"}"#)),
        ]));
        let expected = "[audio/wav]\n[image/svg+xml]\ninside\n[application/pdf](a:b)\n[link](a:l)\n\
                        {\"type\":\"x\"}";
        let [_, gemini, open_ai] = results(&result);
        assert_eq!(gemini["functionResponse"]["response"]["output"], expected);
        assert_eq!(open_ai["content"], expected);

        let structured = CallToolResult::new(Vec::new()).structured_content(json!({"sum": 5}));
        let [anthropic, ..] = results(&structured);
        assert_eq!(anthropic["content"][0]["text"], r#"{"sum":5}"#);
        let [anthropic, ..] = results(&CallToolResult::new(Vec::new()));
        assert_eq!(anthropic["content"], json!([]));
    }
}
