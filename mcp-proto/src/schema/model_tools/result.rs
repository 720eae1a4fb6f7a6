//! Results of tools, for models.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::ModelApi;
use crate::json::{Array, Object, Raw};
use crate::schema::content::Content;
use crate::schema::resources::ResourceContents;
use crate::schema::tools::CallToolResult;

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

    fn results(result: &CallToolResult) -> [Value; 3] {
        [ModelApi::Anthropic, ModelApi::Gemini, ModelApi::OpenAi]
            .map(|api| api.tool_result("1", "t", result).parse().unwrap())
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
