//! Tools: listing them, calling one, and what comes back.

use alloc::string::String;
use alloc::vec::Vec;

use super::ClientRequest;
use super::content::Content;
use super::decode::{
    AnyObject, Decode, DecodeError, Encode, bool_member, object_text, optional, required, text_member,
};
use crate::error::Unencodable;
use crate::json::{Array, Object, Raw};
use crate::revision::Revision;

/// Asks for a page of the tools.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ListTools {
    /// Where to go on: what the page before said, to the letter. (PAG-01)
    pub cursor: Option<String>,
}

impl Encode for ListTools {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let mut object = Object::begin(out);
        object.opt_str("cursor", self.cursor.as_deref());
        object.end();
        Ok(())
    }
}

impl ClientRequest for ListTools {
    const METHOD: &'static str = "tools/list";
    type Result = ListToolsResult;
}

/// A page of the tools.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ListToolsResult {
    /// The tools of this page.
    pub tools: Vec<Tool>,
    /// Where the next page begins; `None` on the last one, while an empty string goes on. (PAG-04)
    pub next_cursor: Option<String>,
}

impl ListToolsResult {
    /// The last page.
    #[must_use]
    pub fn new(tools: Vec<Tool>) -> Self {
        Self { tools, next_cursor: None }
    }
}

impl Encode for ListToolsResult {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let mut object = Object::begin(out);
        let mut tools = Array::begin(object.key("tools"));
        for tool in &self.tools {
            tool.encode(revision, tools.next())?;
        }
        tools.end();
        object.opt_str("nextCursor", self.next_cursor.as_deref());
        object.end();
        Ok(())
    }
}

impl Decode for ListToolsResult {
    fn decode(raw: &Raw) -> Result<Self, DecodeError> {
        Ok(Self { tools: required(raw, "tools")?, next_cursor: optional(raw, "nextCursor")? })
    }
}

/// A tool, as it is listed.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// What it is called by.
    pub name: String,
    /// A name for people. (since 2025-06-18)
    pub title: Option<String>,
    /// What it does, for a model to read.
    pub description: Option<String>,
    /// The JSON Schema of its arguments, an object, verbatim.
    pub input_schema: Raw,
}

impl Tool {
    /// A tool that takes what `input_schema`, a JSON Schema object, says.
    pub fn new(name: impl Into<String>, description: impl Into<String>, input_schema: Raw) -> Self {
        Self { name: name.into(), title: None, description: Some(description.into()), input_schema }
    }
}

impl Encode for Tool {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let mut object = Object::begin(out);
        object.str("name", &self.name);
        object.opt_str("title", self.title.as_deref());
        object.opt_str("description", self.description.as_deref());
        object.raw("inputSchema", object_text(&self.input_schema)?);
        object.end();
        Ok(())
    }
}

impl Decode for Tool {
    fn decode(raw: &Raw) -> Result<Self, DecodeError> {
        Ok(Self {
            name: required(raw, "name")?,
            title: text_member(raw, "title"),
            description: text_member(raw, "description"),
            input_schema: required::<AnyObject>(raw, "inputSchema")?.0,
        })
    }
}

/// Calls a tool.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CallTool {
    /// Which one.
    pub name: String,
    /// Its arguments, an object.
    pub arguments: Option<Raw>,
}

impl CallTool {
    /// A call of the tool `name` without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), arguments: None }
    }
}

impl Encode for CallTool {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let mut object = Object::begin(out);
        object.str("name", &self.name);
        if let Some(arguments) = &self.arguments {
            object.raw("arguments", object_text(arguments)?);
        }
        object.end();
        Ok(())
    }
}

impl Decode for CallTool {
    fn decode(raw: &Raw) -> Result<Self, DecodeError> {
        let arguments: Option<AnyObject> = optional(raw, "arguments")?;
        Ok(Self { name: required(raw, "name")?, arguments: arguments.map(|arguments| arguments.0) })
    }
}

impl ClientRequest for CallTool {
    const METHOD: &'static str = "tools/call";
    type Result = CallToolResult;
}

/// What a tool returned, or how it failed.
///
/// ```
/// use mcp_proto::schema::CallToolResult;
///
/// let result = CallToolResult::text("12 degrees");
/// assert_eq!(result.content[0].as_text(), Some("12 degrees"));
/// assert!(!result.is_error);
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct CallToolResult {
    /// What it says.
    pub content: Vec<Content>,
    /// The same for machines; `null` differs from none. (since 2025-06-18, T-107)
    pub structured_content: Option<Raw>,
    /// The tool ran and failed; `content` says how.
    pub is_error: bool,
}

impl CallToolResult {
    /// A result with these blocks.
    #[must_use]
    pub fn new(content: Vec<Content>) -> Self {
        Self { content, ..Self::default() }
    }

    /// A result of one block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Vec::from([Content::Text(text.into())]))
    }

    /// A failure that says `text`.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }
}

impl From<String> for CallToolResult {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for CallToolResult {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl Encode for CallToolResult {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let mut object = Object::begin(out);
        let mut content = Array::begin(object.key("content"));
        for block in &self.content {
            block.encode(revision, content.next())?;
        }
        content.end();
        if let Some(structured) = &self.structured_content {
            object.raw("structuredContent", structured.as_bytes());
        }
        if self.is_error {
            object.bool("isError", true);
        }
        object.end();
        Ok(())
    }
}

impl Decode for CallToolResult {
    fn decode(raw: &Raw) -> Result<Self, DecodeError> {
        Ok(Self {
            content: required(raw, "content")?,
            structured_content: raw.member("structuredContent"),
            is_error: bool_member(raw, "isError"),
        })
    }
}
