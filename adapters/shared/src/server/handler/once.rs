//! What a handler that runs again must not do twice.

use std::future::Future;

use mcp_proto::{ErrorObject, Raw};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::server::handler::context::{AsyncCx, Cx};
use crate::server::handler::tool_error::ToolError;

impl Cx {
    /// Runs `action` in only one run of the handler, and returns its result in each run.
    ///
    /// A handler that [asks](Self::ask) runs again from its start for each answer. Put what must
    /// not happen again, such as a payment, into this method. `key` identifies the action and must
    /// be unique within the handler. An action that fails is not kept: the next run tries again.
    ///
    /// The result is kept like the [state](Self::state): on the server in a legacy session, and by
    /// the client in the modern era (from revision 2026-07-28). Keep it small and free of secrets:
    /// the client can read it. It cannot forge it, unless the feature `seal` is disabled.
    ///
    /// In a task that may be started again after a restart of the server, the result is also saved
    /// at once. `action` runs again only if the server is killed after `action` and before that.
    ///
    /// This protects from runs of the handler, not from the client: `action` runs again if the
    /// client sends the whole request again, for example after a lost connection. In the modern
    /// era, it also runs again if the client repeats a round from before `action`, even with a
    /// seal, because the server remembers no rounds. Pass an idempotency key to a service where
    /// that matters, made from what must happen only once, such as the number of an order.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::{Server, ToolError};
    ///
    /// fn pay() -> Result<u64, ToolError> {
    ///     Ok(17) // the number of the receipt
    /// }
    ///
    /// let server = Server::new("shop", "1.0.0").tool("buy", "Buys a book", |(), cx| {
    ///     if !cx.confirm("buy", "Buy it?")? {
    ///         return Ok("not bought".to_owned());
    ///     }
    ///     let receipt = cx.once("pay", pay)?;
    ///     let is_gift = cx.confirm("gift", "Is it a gift?")?;
    ///     Ok(format!("receipt {receipt}, gift: {is_gift}"))
    /// });
    /// # drop(server);
    /// ```
    ///
    /// # Errors
    /// Fails with the error of `action`. Fails with `-32603` if the result of `action` cannot be
    /// serialized, and with `-32602` if the kept result cannot be deserialized as `T`.
    pub fn once<T: Serialize + DeserializeOwned>(
        &self,
        key: &str,
        action: impl FnOnce() -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        match self.done(key)? {
            Some(result) => Ok(result),
            None => self.set_done(key, action()?),
        }
    }

    fn done<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ToolError> {
        let done = self.rounds().done(key).cloned();
        done.map(|result| result.parse()).transpose().map_err(|error| {
            let message = format!("invalid request state of `{key}`: {error}");
            ToolError::refused(ErrorObject::invalid_params(message))
        })
    }

    fn set_done<T: Serialize>(&self, key: &str, result: T) -> Result<T, ToolError> {
        let kept = Raw::new(&result).map_err(|error| {
            let message = format!("the result of `{key}` cannot be kept: {error}");
            ToolError::refused(ErrorObject::internal(message))
        })?;
        self.rounds().set_done(key, kept);
        self.keep_rounds();
        Ok(result)
    }
}

impl AsyncCx {
    /// Runs `action` in only one run of the handler; see [`Cx::once`].
    ///
    /// # Errors
    /// Fails under the conditions listed for [`Cx::once`].
    pub async fn once<T: Serialize + DeserializeOwned>(
        &self,
        key: &str,
        action: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        match self.done(key)? {
            Some(result) => Ok(result),
            None => self.set_done(key, action.await?),
        }
    }
}
