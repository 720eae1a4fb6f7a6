//! The handlers and callbacks of a client.

use std::future::Future;
use std::sync::{Arc, Mutex};

use mcp_proto::schema::{
    CreateMessage, CreateMessageResult, Decode, Elicit, ElicitResult, ElicitUrl, Encode, ListRoots,
    ListRootsResult, LogMessage, Root,
};
use mcp_proto::{Capability, ErrorObject, Raw, Request, Violation};

use super::Client;
use crate::BoxFuture;
use crate::client::context::{AsyncClientCx, ClientCx};
use crate::client::request_handler::{Answer, FORM, RequestHandler, URL};

impl Client {
    /// Sets the function that answers form [elicitations] by showing the form to the user.
    ///
    /// `answer` runs on a thread of its own and may block. Its [context](ClientCx) identifies the
    /// connection and reports the cancellation of the request.
    ///
    /// [`Form`](mcp_proto::schema::Form) has methods that fill in default values and check an
    /// answer.
    ///
    /// [elicitations]: https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
    // CAP-02: the handler declares the capability.
    pub fn on_elicitation(
        self,
        answer: impl Fn(Elicit, ClientCx) -> ElicitResult + Send + Sync + 'static,
    ) -> Self {
        let answer = move |form: Elicit, cx| Ok(answer(form, cx));
        self.declare(Capability::ElicitationForm).handle(FORM, answer)
    }

    /// Sets the function that answers URL elicitations (since 2025-11-25) by sending the user to
    /// the URL.
    ///
    /// `answer` must show the full URL to the user and open it only with the user's consent.
    // SEC-07: no URL is opened without consent.
    pub fn on_url_elicitation(
        self,
        answer: impl Fn(ElicitUrl, ClientCx) -> ElicitResult + Send + Sync + 'static,
    ) -> Self {
        let answer = move |url: ElicitUrl, cx| Ok(answer(url, cx));
        self.declare(Capability::ElicitationUrl).handle(URL, answer)
    }

    /// Sets an asynchronous function that answers form elicitations.
    ///
    /// See [`on_elicitation`](Self::on_elicitation). The future that `answer` returns runs on the
    /// adapter's runtime. The future is dropped when the request is cancelled or the connection
    /// ends.
    pub fn on_elicitation_async<F: Future<Output = ElicitResult> + Send + 'static>(
        self,
        answer: impl Fn(Elicit, AsyncClientCx) -> F + Send + Sync + 'static,
    ) -> Self {
        let answer = move |form: Elicit, cx| {
            let answer = answer(form, cx);
            async move { Ok(answer.await) }
        };
        self.declare(Capability::ElicitationForm).handle_async(FORM, answer)
    }

    /// Sets an asynchronous function that answers URL elicitations.
    ///
    /// See [`on_url_elicitation`](Self::on_url_elicitation). The function's future runs on the
    /// adapter's runtime.
    pub fn on_url_elicitation_async<F: Future<Output = ElicitResult> + Send + 'static>(
        self,
        answer: impl Fn(ElicitUrl, AsyncClientCx) -> F + Send + Sync + 'static,
    ) -> Self {
        let answer = move |url: ElicitUrl, cx| {
            let answer = answer(url, cx);
            async move { Ok(answer.await) }
        };
        self.declare(Capability::ElicitationUrl).handle_async(URL, answer)
    }

    /// Sets the function that answers [sampling] requests by calling a model.
    ///
    /// If `sample` returns an error, the server receives the error.
    ///
    /// [sampling]: https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
    pub fn on_sampling(
        self,
        sample: impl Fn(CreateMessage, ClientCx) -> Result<CreateMessageResult, ErrorObject>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.declare(Capability::Sampling).handle("sampling/createMessage", sample)
    }

    /// Sets an asynchronous function that answers sampling requests.
    ///
    /// See [`on_sampling`](Self::on_sampling). The function's future runs on the adapter's runtime.
    pub fn on_sampling_async<F>(
        self,
        sample: impl Fn(CreateMessage, AsyncClientCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<CreateMessageResult, ErrorObject>> + Send + 'static,
    {
        self.declare(Capability::Sampling).handle_async("sampling/createMessage", sample)
    }

    /// Sets the function that returns the list of [roots] when the server requests it.
    ///
    /// [roots]: https://modelcontextprotocol.io/specification/2025-11-25/client/roots
    pub fn on_roots(self, roots: impl Fn(ClientCx) -> Vec<Root> + Send + Sync + 'static) -> Self {
        let answer = move |_: ListRoots, cx| Ok(ListRootsResult::new(roots(cx)));
        self.declare(Capability::Roots).handle("roots/list", answer)
    }

    /// Calls `callback` with the method and params of each notification from the server.
    ///
    /// Notifications arrive in order and one at a time. Log messages are included
    /// unless [`on_log`](Self::on_log) is set. Changes reported by a
    /// [`Subscription`](crate::Subscription) are not included.
    ///
    /// `callback` runs on a separate thread and may block. Each connection queues up to 1,024
    /// notifications, with up to 32 MiB of params in total. Clones of this client share `callback`,
    /// which runs for one connection at a time.
    ///
    /// While the queue is full, the connection reads no messages. If `callback` waits for the
    /// result of a call during that time, the call may time out.
    pub fn on_notification(
        mut self,
        callback: impl FnMut(&str, Option<&Raw>, &ClientCx) + Send + 'static,
    ) -> Self {
        self.callbacks.on_notification = Some(Arc::new(Mutex::new(callback)));
        self
    }

    /// Calls `callback` with each [log message] from the server.
    ///
    /// [`set_log_level`](crate::Connection::set_log_level) selects the messages that the server
    /// sends. `callback` runs like that of [`on_notification`](Self::on_notification), never
    /// concurrently with it for one connection, and shares its queue. The callback for
    /// notifications then receives only malformed log messages.
    ///
    /// [log message]: https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::Client;
    ///
    /// let client = Client::new("demo", "1.0.0").on_log(|log, cx| {
    ///     println!("{}: {}", cx.label().unwrap_or("server"), log.data);
    /// });
    /// # drop(client);
    /// ```
    pub fn on_log(
        mut self,
        callback: impl Fn(&LogMessage, &ClientCx) + Send + Sync + 'static,
    ) -> Self {
        self.callbacks.on_log = Some(Arc::new(callback));
        self
    }

    /// Calls `callback` with each line that a server started by `spawn` writes to stderr.
    ///
    /// Lines arrive in order and without their end. A line of more than 1,024 bytes is split, and
    /// invalid UTF-8 is replaced. [`Connection::stderr`](crate::Connection::stderr) keeps the last
    /// lines in any case.
    ///
    /// `callback` runs on a separate thread and may block: the server never waits for it. While
    /// 1,024 lines of a connection wait, each further line replaces the oldest one. The last lines
    /// may arrive after the connection has ended.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::Client;
    ///
    /// let client = Client::new("demo", "1.0.0").on_stderr(|line, cx| {
    ///     eprintln!("[{}] {line}", cx.label().unwrap_or("server"));
    /// });
    /// # drop(client);
    /// ```
    pub fn on_stderr(mut self, callback: impl Fn(&str, &ClientCx) + Send + Sync + 'static) -> Self {
        self.callbacks.on_stderr = Some(Arc::new(callback));
        self
    }

    /// Calls `callback` for every protocol violation by the server.
    ///
    /// `callback` may block. For one connection, this callback and that of
    /// [`on_notification`](Self::on_notification) never run concurrently.
    pub fn on_violation(
        mut self,
        callback: impl Fn(&Violation, &ClientCx) + Send + Sync + 'static,
    ) -> Self {
        self.callbacks.on_violation = Some(Arc::new(callback));
        self
    }
}

// Registration, for handlers of either kind.
impl Client {
    pub(super) fn handle<Q: Decode, A: Encode + Send + 'static>(
        mut self,
        key: &'static str,
        answer: impl Fn(Q, ClientCx) -> Result<A, ErrorObject> + Send + Sync + 'static,
    ) -> Self {
        let handler = move |request: &Request, cx| {
            Ok(Box::new(answer(decode(request)?, cx)?) as Box<dyn Encode + Send>)
        };
        self.handlers.insert(key, RequestHandler::Blocking(Arc::new(handler)));
        self
    }

    pub(super) fn handle_async<Q: Decode + Send, A: Encode + Send + 'static, F>(
        mut self,
        key: &'static str,
        answer: impl Fn(Q, AsyncClientCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<A, ErrorObject>> + Send + 'static,
    {
        let handler = move |request: &Request, cx| {
            let answer = decode(request).map(|decoded| answer(decoded, cx));
            let answer = async move { Ok(Box::new(answer?.await?) as Box<dyn Encode + Send>) };
            Box::pin(answer) as BoxFuture<'static, Answer>
        };
        self.handlers.insert(key, RequestHandler::Async(Arc::new(handler)));
        self
    }
}

fn decode<Q: Decode>(request: &Request) -> Result<Q, ErrorObject> {
    request.decode().map_err(|error| ErrorObject::invalid_params(error.to_string()))
}
