//! Handlers that ask for a completion by the client's model, or for the client's roots.

use mcp_proto::NeededInput;
use mcp_proto::schema::{CreateMessage, CreateMessageResult, ListRootsResult, Root};

use crate::server::handler::context::Cx;
use crate::server::handler::handler_error::HandlerError;

impl Cx {
    /// Asks for a completion by the client's model: [sampling][spec].
    ///
    /// Like [`ask`](Self::ask), this method fails until the client has answered: the error that the
    /// handler returns sends the request, and the handler runs again with the answer.
    ///
    /// If the client does not support sampling, the request fails with the error codes that
    /// [`ask`](Self::ask) names.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::proto::schema::{CreateMessage, Role, SamplingMessage};
    /// use mcp_tokio::{Cx, Server};
    ///
    /// let server = Server::new("editor", "1.0.0").tool("title", "Suggests a title", |cx: Cx| {
    ///     let question = SamplingMessage::new(Role::User, "Suggest a title for this page.");
    ///     let answer = cx.sample("title", CreateMessage::new(vec![question], 20))?;
    ///     Ok(format!("suggested by {}: {:?}", answer.model, answer.content))
    /// });
    /// # drop(server);
    /// ```
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
    ///
    /// # Errors
    /// Fails if the request has not been answered yet; propagate this error with `?`. Fails with
    /// `-32602` if the answer cannot be decoded.
    pub fn sample(
        &self,
        key: &str,
        request: CreateMessage,
    ) -> Result<CreateMessageResult, HandlerError> {
        self.ask_any(key, NeededInput::from(request))
    }

    /// Asks for the client's [roots][spec]: the directories and files that the server may use.
    ///
    /// Like [`ask`](Self::ask), this method fails until the client has answered: the error that the
    /// handler returns sends the request, and the handler runs again with the answer.
    ///
    /// If the client does not support roots, the request fails with the error codes that
    /// [`ask`](Self::ask) names.
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/client/roots
    ///
    /// # Errors
    /// Fails if the request has not been answered yet; propagate this error with `?`. Fails with
    /// `-32602` if the answer cannot be decoded.
    pub fn roots(&self, key: &str) -> Result<Vec<Root>, HandlerError> {
        let result: ListRootsResult = self.ask_any(key, NeededInput::Roots)?;
        Ok(result.roots.into_iter().collect())
    }
}
