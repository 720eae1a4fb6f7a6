//! [`Entries`]: the tools and methods of a server.

use std::fmt::Display;
use std::rc::Rc;

use mcp_proto::Raw;
use mcp_proto::schema::readable_input_schema;

use crate::server::handler::Handler;
use crate::server::sealing::StateSealer;

/// The tools and methods of a server, which all its connections share.
#[derive(Clone, Default)]
pub(crate) struct Entries {
    tools: Vec<(Box<str>, Handler)>,
    /// The definitions of all tools, separated by commas.
    definitions: String,
    methods: Vec<(Box<str>, Handler)>,
    pub(crate) sealer: StateSealer,
}

/// The longest accepted name of a tool, in bytes.
const NAME_BYTES_MAX: usize = 128;

impl Entries {
    /// Adds a tool.
    ///
    /// # Errors
    /// Fails, with the reason, if the name is invalid or taken, or the schema is not an object.
    pub(crate) fn add_tool(
        &mut self,
        name: &str,
        description: &str,
        schema: &Raw,
        handler: Handler,
    ) -> Result<(), String> {
        let refused = |why: &dyn Display| format!("tool {name:?}: {why}");
        let is_valid =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(is_valid) {
            return Err(refused(&format_args!(
                "a name has 1 to {NAME_BYTES_MAX} letters, digits, `_`, `-` or `.`"
            )));
        }
        if self.tool(name).is_some() {
            return Err(refused(&"it exists already"));
        }
        let kind = schema.member("type");
        if kind.as_ref().and_then(Raw::to_text).as_deref() != Some("object") {
            return Err(refused(&"the schema is not one of type `object`"));
        }
        let schema = readable_input_schema(schema.clone());
        let description = Raw::new(description).map_err(|error| refused(&error))?;
        if !self.definitions.is_empty() {
            self.definitions.push(',');
        }
        // A valid name needs no escapes.
        for part in [
            r#"{"name":""#,
            name,
            r#"","description":"#,
            description.as_str(),
            r#","inputSchema":"#,
            schema.as_str(),
            "}",
        ] {
            self.definitions.push_str(part);
        }
        self.tools.push((name.into(), handler));
        Ok(())
    }

    /// Adds the handler of a method.
    ///
    /// # Errors
    /// Fails, with the reason, if the method has one already.
    pub(crate) fn add_method(&mut self, method: &str, handler: Handler) -> Result<(), String> {
        if self.method(method).is_some() {
            return Err(format!("method {method:?} has a handler already"));
        }
        self.methods.push((method.into(), handler));
        Ok(())
    }

    pub(crate) fn has_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    /// Returns the tools as a JSON array.
    pub(crate) fn tool_list(&self) -> Rc<str> {
        format!("[{}]", self.definitions).into()
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Handler> {
        find(&self.tools, name)
    }

    pub(crate) fn method(&self, name: &str) -> Option<&Handler> {
        find(&self.methods, name)
    }
}

fn find<'a>(handlers: &'a [(Box<str>, Handler)], name: &str) -> Option<&'a Handler> {
    handlers.iter().find(|(known, _)| **known == *name).map(|(_, handler)| handler)
}
