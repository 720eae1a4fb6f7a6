//! Actions that run once, although their handler may run again.

use std::future::Future;

use mcp_proto::{ErrorObject, Raw};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::box_future::BoxFuture;
use crate::server::handler::context::Cx;
use crate::server::handler::function::{IsAsync, IsSync};
use crate::server::handler::handler_error::HandlerError;

impl Cx {
    /// Runs `action` in only one run of the handler, and returns its result in each run.
    ///
    /// `action` is a function that returns a `Result`, or a future of one; the future is awaited.
    ///
    /// A handler that [asks](Self::ask) runs again from its start for each answer. Put what must
    /// not happen again, such as a payment, into this method. `key` identifies the action and must
    /// be unique within the handler. An action that fails is not kept: the next run tries again.
    ///
    /// The result is kept like the [state](Self::state): on the server in a legacy session, and by
    /// the client in the modern era (from revision 2026-07-28). Keep it small and free of secrets:
    /// the client can read it. It cannot forge it, unless the server is
    /// [without a seal](crate::Server::seal).
    ///
    /// In a task that may be started again after a restart of the server, the result is also saved
    /// immediately. `action` runs again only if the server is killed after `action` and before
    /// that.
    ///
    /// This protects against repeated runs of the handler, not against repeated requests: `action`
    /// runs again if the client sends the whole request again, for example after a lost connection.
    /// In the modern era, it also runs again if the client repeats a round from before `action`,
    /// even with a seal, because the server remembers no rounds. Pass an idempotency key to a
    /// service where that matters, made from what must happen only once, such as the number of an
    /// order.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::{Cx, HandlerError, Server};
    ///
    /// fn pay() -> Result<u64, HandlerError> {
    ///     Ok(17) // the number of the receipt
    /// }
    ///
    /// let server = Server::new("shop", "1.0.0").tool("buy", "Buys a book", |cx: Cx| {
    ///     if !cx.confirm("buy", "Buy it?")? {
    ///         return Ok("not bought".to_owned());
    ///     }
    ///     let receipt = cx.once("pay", pay)?; // or `once("pay", || async { .. }).await?`
    ///     let is_gift = cx.confirm("gift", "Is it a gift?")?;
    ///     Ok(format!("receipt {receipt}, gift: {is_gift}"))
    /// });
    /// # drop(server);
    /// ```
    ///
    /// # Errors
    /// Fails with the error of `action`. Fails with `-32603` if the result of `action` cannot be
    /// serialized, and with `-32602` if the kept result cannot be deserialized as `T`.
    pub fn once<'a, R: OnceResult<M> + 'a, M>(
        &'a self,
        key: &'a str,
        action: impl FnOnce() -> R + Send + 'a,
    ) -> R::Output<'a> {
        R::once(self, key, action)
    }

    fn done<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, HandlerError> {
        let done = self.rounds().done(key).cloned();
        done.map(|result| result.parse()).transpose().map_err(|error| {
            let message = format!("invalid request state of `{key}`: {error}");
            HandlerError::refused(ErrorObject::invalid_params(message))
        })
    }

    fn set_done<T: Serialize>(&self, key: &str, result: T) -> Result<T, HandlerError> {
        let kept = Raw::new(&result).map_err(|error| {
            let message = format!("the result of `{key}` cannot be kept: {error}");
            HandlerError::refused(ErrorObject::internal(message))
        })?;
        self.rounds().set_done(key, kept);
        self.keep_rounds();
        Ok(result)
    }
}

/// A value that an action of [`Cx::once`] can return: a `Result`, or a future of one.
///
/// `M` tells the two apart, and is always inferred.
#[diagnostic::on_unimplemented(
    message = "an action of `Cx::once` cannot return `{Self}`",
    note = "return `Result<T, HandlerError>`, or a future of it, in which `T` implements \
            `serde::Serialize` and `serde::de::DeserializeOwned`"
)]
pub trait OnceResult<M>: Sized {
    /// The type that [`Cx::once`] returns.
    #[doc(hidden)]
    type Output<'a>
    where
        Self: 'a;

    /// Runs the action unless it has run already.
    #[doc(hidden)]
    fn once<'a>(
        cx: &'a Cx,
        key: &'a str,
        action: impl FnOnce() -> Self + Send + 'a,
    ) -> Self::Output<'a>
    where
        Self: 'a;
}

impl<T: Serialize + DeserializeOwned> OnceResult<IsSync> for Result<T, HandlerError> {
    type Output<'a>
        = Self
    where
        Self: 'a;

    fn once<'a>(cx: &'a Cx, key: &'a str, action: impl FnOnce() -> Self + Send + 'a) -> Self
    where
        Self: 'a,
    {
        match cx.done(key)? {
            Some(result) => Ok(result),
            None => cx.set_done(key, action()?),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<F, T> OnceResult<IsAsync> for F
where
    F: Future<Output = Result<T, HandlerError>> + Send,
    T: Serialize + DeserializeOwned + Send,
{
    type Output<'a>
        = BoxFuture<'a, Result<T, HandlerError>>
    where
        Self: 'a;

    fn once<'a>(
        cx: &'a Cx,
        key: &'a str,
        action: impl FnOnce() -> Self + Send + 'a,
    ) -> BoxFuture<'a, Result<T, HandlerError>>
    where
        Self: 'a,
    {
        Box::pin(async move {
            match cx.done(key)? {
                Some(result) => Ok(result),
                None => cx.set_done(key, action().await?),
            }
        })
    }
}
