//! Types that handlers take and return, as traits whose compiler errors name the remedy.

use mcp_proto::schema::{GetPromptResult, ReadResourceResult};

/// A type whose values are the arguments of a tool: a struct that can be deserialized and has a
/// JSON Schema.
///
/// Every type that implements both traits implements this one.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::{Server, ToolArguments};
///
/// fn add<A: ToolArguments>(server: Server, name: &str) -> Server {
///     server.tool(name, "Accepts its arguments", |_: A, _cx| Ok(()))
/// }
///
/// let server = add::<()>(Server::new("s", "1.0.0"), "nothing");
/// # drop(server);
/// ```
#[cfg(feature = "schemars")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the arguments of a tool",
    label = "not the arguments of a tool",
    note = "derive both traits: `#[derive(serde::Deserialize, schemars::JsonSchema)]`",
    note = "to take JSON that no type describes, use `tool_raw` instead of `tool`"
)]
pub trait ToolArguments: serde::de::DeserializeOwned + schemars::JsonSchema {}

#[cfg(feature = "schemars")]
#[diagnostic::do_not_recommend]
impl<T: serde::de::DeserializeOwned + schemars::JsonSchema> ToolArguments for T {}

/// A value that a prompt handler can return: a [`GetPromptResult`], a `PromptMessage`, or a `Vec`
/// of them.
///
/// Every type that converts into a [`GetPromptResult`] implements this trait.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::PromptResult;
/// use mcp_tokio::proto::schema::{PromptMessage, Role};
///
/// fn greeting() -> impl PromptResult {
///     PromptMessage::new(Role::User, "hello")
/// }
/// # drop(greeting());
/// ```
#[diagnostic::on_unimplemented(
    message = "a prompt cannot return `{Self}`",
    label = "not a prompt",
    note = "return a `PromptMessage`, such as `PromptMessage::new(Role::User, \"text\")`, a `Vec` \
            of these, or a `GetPromptResult`"
)]
pub trait PromptResult: Into<GetPromptResult> {}

#[diagnostic::do_not_recommend]
impl<T: Into<GetPromptResult>> PromptResult for T {}

/// A value that a resource handler can return: a [`ReadResourceResult`], a `ResourceContents`, or a
/// `Vec` of them.
///
/// Every type that converts into a [`ReadResourceResult`] implements this trait.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::ResourceResult;
/// use mcp_tokio::proto::schema::ResourceContents;
///
/// fn note(uri: &str) -> impl ResourceResult {
///     ResourceContents::text(uri, "hello")
/// }
/// # drop(note("notes://one"));
/// ```
#[diagnostic::on_unimplemented(
    message = "a resource cannot return `{Self}`",
    label = "not the contents of a resource",
    note = "return a `ResourceContents`, such as `ResourceContents::text(read.uri, \"text\")`, a \
            `Vec` of these, or a `ReadResourceResult`"
)]
pub trait ResourceResult: Into<ReadResourceResult> {}

#[diagnostic::do_not_recommend]
impl<T: Into<ReadResourceResult>> ResourceResult for T {}
