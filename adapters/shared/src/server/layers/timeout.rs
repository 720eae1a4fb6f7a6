//! A layer that limits the time that a request takes.

use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::or;
use mcp_proto::schema::{CallTool, ClientRequest};

use super::function::timed_out;
use super::incoming::{Deadline, Incoming};
use super::layer::{Layer, Next};
use super::response::Response;
use crate::box_future::BoxFuture;

/// Limits the time that each request takes in the inner layers and in its handler.
///
/// A request that takes longer fails with an error that names the tool, prompt or resource, and the
/// timeout. A call of a tool then has a result with `isError`, so that the model can react; other
/// requests fail with `-32603`.
///
/// An asynchronous handler is dropped at its current `.await`. A function cannot be interrupted:
/// its request is answered immediately and its [`Cx`](crate::Cx) is cancelled, and its thread no
/// longer counts towards [`Server::threads_max`](crate::Server::threads_max). Outer layers see the
/// response once the function has returned. Register functions that are sometimes slow as blocking,
/// for example with [`Tool::always_on_pool`](crate::Tool::always_on_pool): on tokio and smol, a
/// function that runs on the thread that drives its connection delays the timeout.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use std::time::Duration;
///
/// use mcp_tokio::Server;
/// use mcp_tokio::layers::Timeout;
///
/// let server = Server::new("weather", "1.0.0")
///     .layer(Timeout::new(Duration::from_secs(30)).for_tool("forecast", Duration::from_secs(120)))
///     .tool("today", "Today's weather", || "sunny");
/// # drop(server);
/// ```
#[derive(Clone, Debug)]
pub struct Timeout {
    timeout: Duration,
    tools: Vec<(String, Duration)>,
}

impl Timeout {
    /// Creates a layer with this timeout for every request.
    #[must_use]
    pub const fn new(timeout: Duration) -> Self {
        Self { timeout, tools: Vec::new() }
    }

    /// Sets the timeout of one tool.
    #[must_use]
    pub fn for_tool(mut self, tool: &str, timeout: Duration) -> Self {
        self.tools.push((tool.to_owned(), timeout));
        self
    }

    fn of(&self, request: &Incoming) -> Duration {
        if self.tools.is_empty() || request.method() != CallTool::METHOD {
            return self.timeout;
        }
        let name = request.name();
        let tool = self.tools.iter().rev().find(|(tool, _)| name.as_deref() == Some(tool));
        tool.map_or(self.timeout, |(_, timeout)| *timeout)
    }
}

impl Layer for Timeout {
    fn call(&self, request: Incoming, next: Next) -> BoxFuture<'static, Response> {
        let timeout = self.of(&request);
        let state = Arc::clone(&request.cx().request);
        let at = state.link.clock.now() + timeout;
        let is_first = || request.extension::<Deadline>().is_none_or(|outer| at < outer.at);
        if next.is_function() && is_first() {
            request.set_extension(Deadline { at, timeout });
        }
        Box::pin(async move {
            let late = async {
                state.sleep_until(at).await;
                timed_out(&state.request, timeout).into()
            };
            or(next.run(request), late).await
        })
    }
}
