//! The requests of a client: each method prepares one call.

use std::sync::PoisonError;

use mcp_proto::client::Command;
use mcp_proto::schema::{
    CallTool, CallToolResult, ClientRequest, Complete, CompleteResult, CompletionArgument,
    CompletionContext, Decode as _, Encode, GetPrompt, GetPromptResult, Level, Map, Ping,
    ReadResource, ReadResourceResult, Reference,
};
use mcp_proto::{CallOptions, Raw, Revision, Unencodable};
use serde::Serialize;

use super::Connection;
use crate::client::call::{Call, start_call};
use crate::client::in_flight::START_PATIENCE;
use crate::exec::operation::Operation;

impl Connection {
    /// Prepares a tool call.
    ///
    /// The call is sent when you await it, [wait](Call::wait) for it or [start](Call::start) it. It
    /// fails unless `arguments` serializes to a JSON object, or is `()` for no arguments.
    pub fn call_tool(
        &self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Call<'_, CallToolResult> {
        // Arguments that do not serialize are refused when the call is sent, as no object.
        let arguments = arguments_of(arguments).unwrap_or_else(|_| not_an_object());
        self.call(CallTool::new(name).arguments(arguments))
    }

    /// Prepares a request for the contents of a resource.
    ///
    /// The call is sent when you await it, [wait](Call::wait) for it or [start](Call::start) it.
    /// The URI may belong to a resource of the server's list or match a resource template.
    pub fn read_resource(&self, uri: &str) -> Call<'_, ReadResourceResult> {
        self.call(ReadResource::new(uri))
    }

    /// Prepares a request for a prompt, rendered with these arguments.
    ///
    /// The call is sent when you await it, [wait](Call::wait) for it or [start](Call::start) it. It
    /// fails unless `arguments` serializes to a JSON object whose values are strings, or is `()`.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::{Connection, Error};
    /// use serde_json::json;
    ///
    /// async fn review(connection: &Connection) -> Result<usize, Error> {
    ///     let prompt = connection.get_prompt("review", &json!({"language": "rust"})).await?;
    ///     Ok(prompt.messages.len())
    /// }
    /// ```
    pub fn get_prompt(
        &self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Call<'_, GetPromptResult> {
        let params = strings(arguments).map(|arguments| GetPrompt::new(name).arguments(arguments));
        Call::new(self, GetPrompt::METHOD, OrUnencodable(params))
    }

    /// Prepares a request for suggested values of an argument, of which `value` was typed so far.
    ///
    /// `reference` names the prompt or the resource template that has the argument. The call is
    /// sent when you await it or [start](Call::start) it.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::proto::schema::PromptReference;
    /// use mcp_tokio::{Connection, Error};
    ///
    /// async fn languages(connection: &Connection) -> Result<Vec<String>, Error> {
    ///     let prompt = PromptReference::new("review");
    ///     let result = connection.complete(prompt, "language", "ru").await?;
    ///     Ok(result.completion.values.items)
    /// }
    /// ```
    pub fn complete(
        &self,
        reference: impl Into<Reference>,
        argument: &str,
        value: &str,
    ) -> Call<'_, CompleteResult> {
        self.call(Complete::new(reference, CompletionArgument::new(argument, value)))
    }

    /// Like [`complete`](Self::complete), with the values already chosen for other arguments.
    ///
    /// The call fails unless `chosen` serializes to a JSON object whose values are strings.
    /// Revisions before 2025-06-18 do not define these values, which are then not sent.
    pub fn complete_with(
        &self,
        reference: impl Into<Reference>,
        argument: &str,
        value: &str,
        chosen: &(impl Serialize + ?Sized),
    ) -> Call<'_, CompleteResult> {
        let request = Complete::new(reference, CompletionArgument::new(argument, value));
        let params = strings(chosen)
            .map(|chosen| request.context(CompletionContext::new().arguments(chosen)));
        Call::new(self, Complete::METHOD, OrUnencodable(params))
    }

    /// Prepares a call with a typed request, such as
    /// [`ReadResource`](mcp_proto::schema::ReadResource).
    ///
    /// The call is sent when you await it, [wait](Call::wait) for it or [start](Call::start) it.
    pub fn call<'c, R: ClientRequest + Send + 'c>(&'c self, request: R) -> Call<'c, R::Result> {
        Call::new(self, R::METHOD, request)
    }

    /// Prepares a call to any method by name, with raw JSON params.
    ///
    /// The call is sent when you await it, [wait](Call::wait) for it or [start](Call::start) it.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::{Connection, Error};
    /// use serde_json::json;
    ///
    /// async fn reset(connection: &Connection) -> Result<(), Error> {
    ///     let result = connection.call_raw("x/reset", json!({"all": true})).await?;
    ///     println!("{result}");
    ///     Ok(())
    /// }
    /// ```
    pub fn call_raw<'c>(&'c self, method: &str, params: impl Into<Raw>) -> Call<'c, Raw> {
        Call::new(self, method.to_owned(), params.into())
    }

    /// Sends a [ping] and waits for the response.
    ///
    /// Only the legacy era (revisions up to 2025-11-25) defines pings.
    ///
    /// [ping]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping
    ///
    /// # Errors
    /// Fails with [`Error::Call`](crate::Error::Call) if the server does not respond in time. In
    /// the modern era, fails with [`Misuse::Unsupported`](mcp_proto::Misuse::Unsupported).
    pub fn ping(&self) -> Operation<'_, ()> {
        Operation::new(async { self.call(Ping::new()).await.map(|_empty| ()) })
    }

    /// Asks the server to send log messages of at least this level.
    ///
    /// Log messages arrive at [`Client::on_log`](crate::Client::on_log). In the modern era (from
    /// revision 2026-07-28), the level applies only to calls sent afterwards.
    ///
    /// # Errors
    /// Fails with [`Error::Misuse`](crate::Error::Misuse) if the server does not support logging,
    /// and with [`Error::Call`](crate::Error::Call) if the call fails.
    pub fn set_log_level(&self, level: Level) -> Operation<'_, ()> {
        Operation::new(async move {
            let link = self.slot().ready(START_PATIENCE).await?;
            let set = start_call::<Raw>(&link, START_PATIENCE, |state, now| {
                let options = CallOptions::default();
                state.connection.call(now, Command::SetLogLevel { level, options })
            });
            set.await?.await?;
            // Each later session starts with this level.
            let mut later = link.shared.log_level.lock().unwrap_or_else(PoisonError::into_inner);
            *later = Some(level);
            Ok(())
        })
    }
}

fn not_an_object() -> Raw {
    Raw::from_text("null").unwrap_or_else(|_| Raw::empty_object())
}

/// Serializes arguments. `()` is `null` in JSON, and means no arguments.
fn arguments_of(value: &(impl Serialize + ?Sized)) -> Result<Raw, Unencodable> {
    let arguments = Raw::new(value)?;
    Ok(if arguments.as_bytes() == b"null" { Raw::empty_object() } else { arguments })
}

/// Returns the members of a JSON object of strings; `None` for any other value.
fn strings(value: &(impl Serialize + ?Sized)) -> Option<Map<String>> {
    let members = Map::<String>::decode(&arguments_of(value).ok()?).ok()?;
    members.broken.is_empty().then_some(members)
}

/// Params that are refused when the call is sent if they could not be created.
struct OrUnencodable<T>(Option<T>);

impl<T: Encode> Encode for OrUnencodable<T> {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        self.0.as_ref().ok_or(Unencodable)?.encode(revision, out)
    }
}
