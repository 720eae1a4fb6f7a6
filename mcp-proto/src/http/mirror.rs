//! What of a request is repeated in header fields (a stand-in until the real one is merged).

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{Raw, find, members, unescape, unescape_key};

/// The arguments of a tool that are repeated in fields.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Mirror(Vec<(String, String)>);

/// The annotations of a tool are not what they must be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InvalidMirror;

impl Mirror {
    /// Reads the annotations of a schema.
    ///
    /// # Errors
    /// When they are not what they must be.
    pub fn of(schema: &Raw) -> Result<Self, InvalidMirror> {
        let mut mirror = Self::default();
        let Some(properties) = schema.member("properties") else { return Ok(mirror) };
        for (key, property) in members(properties.as_bytes()) {
            let Some(name) = find(property, "x-mcp-header") else { continue };
            let name = unescape(name).ok_or(InvalidMirror)?;
            if !crate::http::field::is_token(&name) {
                return Err(InvalidMirror);
            }
            mirror.0.push((unescape_key(key).into(), alloc::format!("Mcp-Param-{name}")));
        }
        Ok(mirror)
    }

    /// The fields for these arguments.
    #[must_use]
    pub fn fields(&self, arguments: Option<&Raw>) -> Vec<(String, String)> {
        let Some(arguments) = arguments else { return Vec::new() };
        let field = |(key, name): &(String, String)| {
            let value = arguments.member(key)?;
            let text = value.to_text().map_or_else(|| value.as_str().into(), String::from);
            (value.as_str() != "null").then(|| (name.clone(), crate::http::field::encode(&text).into_owned()))
        };
        self.0.iter().filter_map(field).collect()
    }
}

/// What the standard fields say of a message: its method, and what it names.
#[must_use]
pub fn standard(method: &str, params: Option<&Raw>) -> (String, Option<String>) {
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return (method.into(), None),
    };
    let name = params.and_then(|params| params.member(member));
    let name =
        name.as_ref().and_then(Raw::to_text).map(|name| crate::http::field::encode(&name).into_owned());
    (method.into(), name)
}
