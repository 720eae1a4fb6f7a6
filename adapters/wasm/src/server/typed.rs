//! Tools whose arguments are Rust types, with the feature `schemars`.

use std::future::Future;

use mcp_proto::Raw;
use mcp_proto::schema::argument_schema;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::Server;
use super::context::{AsyncCx, Cx};
use super::error::HandlerError;
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
        handler: impl Fn(A, Cx) -> Result<R, HandlerError> + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + 'static,
        R: IntoToolResult + 'static,
    {
        self.with_schema_of::<A>(name, |server, schema| {
            server.tool_raw(name, description, schema, move |arguments, cx| {
                handler(parse(&arguments)?, cx)
            })
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
        F: Future<Output = Result<R, HandlerError>> + 'static,
    {
        self.with_schema_of::<A>(name, |server, schema| {
            server.tool_raw_async(name, description, schema, move |arguments, cx| {
                let served = parse(&arguments).map(|arguments| handler(arguments, cx));
                async move { served?.await }
            })
        })
    }

    /// Adds a tool with the schema of its arguments. Serving fails if they are not an object.
    fn with_schema_of<A: JsonSchema>(
        mut self,
        name: &str,
        add: impl FnOnce(Self, Raw) -> Self,
    ) -> Self {
        match argument_schema::<A>() {
            Ok(schema) => add(self, schema.published),
            Err(why) => {
                self.refuse(&format!("tool {name:?}: {why}"));
                self
            }
        }
    }
}

/// Deserializes arguments. Any object is accepted as `()`, and an empty one as `None`, which are
/// `null` in JSON.
fn parse<A: DeserializeOwned>(arguments: &Raw) -> Result<A, HandlerError> {
    arguments.parse().or_else(|error| {
        let reasons = ["expected null", "expected unit struct"];
        let takes_none =
            error.pointer.is_empty() && reasons.iter().any(|it| error.reason.contains(it));
        let is_empty = arguments.as_bytes().iter().all(|byte| b"{} \t".contains(byte));
        let nothing = (takes_none || is_empty).then(|| serde_json::from_str("null").ok()).flatten();
        nothing.ok_or_else(|| HandlerError::failed(format!("invalid arguments: {error}")))
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Trip {
        /// Where to.
        to: Option<String>,
        size: (u8, u8),
        extra: Option<serde_json::Value>,
    }

    // G-01, G-10: the schemas are those of the other adapters.
    #[test]
    fn schemas_have_the_form_that_hosts_read() {
        let server = Server::new("s", "1")
            .tool("go", "Goes", |trip: Trip, _cx| {
                drop((trip.to, trip.size, trip.extra));
                Ok(())
            })
            .tool("maybe", "Goes", |_: Option<Trip>, _cx| Ok(()))
            .tool("stop", "Stops", |(), _cx| Ok(()));
        let tools = server.parts().unwrap().1.tool_list();
        let tools: Vec<serde_json::Value> = serde_json::from_str(&tools).unwrap();
        let byte = serde_json::json!({"type": "integer", "minimum": 0, "maximum": 255});
        for tool in tools.iter().take(2) {
            let schema = &tool["inputSchema"];
            assert_eq!((schema.get("$ref"), schema.get("additionalProperties")), (None, None));
            let fields = &schema["properties"];
            assert_eq!(
                fields["to"],
                serde_json::json!({"type": "string", "description": "Where to."})
            );
            assert_eq!(fields["size"]["items"], byte);
            assert_eq!(fields["extra"], serde_json::json!({}));
        }
        let nothing = serde_json::json!({"type": "object", "properties": {}});
        assert_eq!(tools[2]["inputSchema"], nothing);
    }

    #[test]
    fn arguments_that_are_no_object_are_refused_with_their_type() {
        let server = Server::new("s", "1").tool("add", "Adds", |_: Vec<u8>, _cx| Ok(()));
        let why = server.parts().err().unwrap().to_string();
        assert!(why.starts_with("tool \"add\": ") && why.contains("use a struct"), "{why}");
    }
}
