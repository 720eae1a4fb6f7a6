//! Tools whose arguments are Rust types, with the feature `schemars`.

use std::future::Future;

use mcp_proto::Raw;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RestrictFormats, Transform as _};
use serde::de::DeserializeOwned;

use super::Server;
use super::context::{AsyncCx, Cx};
use super::error::ToolError;
use super::output::IntoToolResult;

/// Registration of tools whose schemas are derived from the types of their arguments.
impl Server {
    /// Adds a tool whose arguments are of type `A`, from which its schema is derived.
    ///
    /// `A` must be an object in JSON: a struct with named fields, or `()` for a tool without
    /// arguments; serving fails otherwise. Arguments that do not match the type produce a tool
    /// error that the model can correct.
    ///
    /// ```
    /// use mcp_wasm::Server;
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Today {
    ///     city: String,
    /// }
    ///
    /// let server = Server::new("weather", "1.0.0")
    ///     .tool("today", "Today's weather", |it: Today, _cx| Ok(format!("sunny in {}", it.city)));
    /// # drop(server);
    /// ```
    pub fn tool<A, R>(
        self,
        name: &str,
        description: &str,
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + 'static,
        R: IntoToolResult + 'static,
    {
        self.tool_raw(name, description, schema_of::<A>(), move |arguments, cx| {
            handler(parse(&arguments)?, cx)
        })
    }

    /// Adds a tool whose handler is a future; see [`tool`](Self::tool).
    pub fn tool_async<A, R, F>(
        self,
        name: &str,
        description: &str,
        handler: impl Fn(A, AsyncCx) -> F + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + 'static,
        R: IntoToolResult + 'static,
        F: Future<Output = Result<R, ToolError>> + 'static,
    {
        self.tool_raw_async(name, description, schema_of::<A>(), move |arguments, cx| {
            let served = parse(&arguments).map(|arguments| handler(arguments, cx));
            async move { served?.await }
        })
    }
}

/// Derives the schema of arguments. Serving fails if its type is not `object`.
fn schema_of<A: JsonSchema>() -> Raw {
    let mut root = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<A>();
    root.remove("title");
    if root.get("type").is_some_and(|kind| kind == "null") {
        root.insert("type".into(), "object".into());
    }
    // Formats such as `uint8` are none of JSON Schema, and some hosts refuse them.
    RestrictFormats::default().transform(&mut root);
    Raw::new(root.as_value()).unwrap_or_else(|_| Raw::empty_object())
}

/// Deserializes arguments. Any object is accepted as `()`, and an empty one as `None`, which are
/// `null` in JSON.
fn parse<A: DeserializeOwned>(arguments: &Raw) -> Result<A, ToolError> {
    arguments.parse().or_else(|error| {
        let reasons = ["expected null", "expected unit struct"];
        let takes_none =
            error.pointer.is_empty() && reasons.iter().any(|it| error.reason.contains(it));
        let is_empty = arguments.as_bytes().iter().all(|byte| b"{} \t".contains(byte));
        let nothing = (takes_none || is_empty).then(|| serde_json::from_str("null").ok()).flatten();
        nothing.ok_or_else(|| ToolError::failed(format!("invalid arguments: {error}")))
    })
}
