//! Layers: middleware around the requests of a server.
//!
//! A [`Layer`] runs around every request that reaches the application: calls of tools, reads of
//! resources, prompts, completions, lists, subscriptions, and requests that fail because their tool
//! or resource is unknown. Layers see both asynchronous handlers and functions that block. Messages
//! that the library answers itself, such as `initialize`, `ping` and those with unknown methods, do
//! not pass through layers.
//!
//! [`Server::layer`](crate::Server::layer) adds a layer. The layer added first is the outermost:
//! it sees a request first and the response last.
//!
//! ```
//! # use mcp_adapter as mcp_tokio;
//! use mcp_tokio::Server;
//! use mcp_tokio::layers::{Incoming, Next, Response};
//! use mcp_tokio::proto::ErrorObject;
//!
//! let server = Server::new("notes", "1.0.0").layer(|request: Incoming, next: Next| async move {
//!     if request.name().as_deref() == Some("delete") && request.principal().is_none() {
//!         return Response::from(ErrorObject::new(-32001, "log in to delete notes"));
//!     }
//!     let response = next.run(request).await;
//!     eprintln!("answered: {:?}", response.outcome());
//!     response
//! });
//! # drop(server);
//! ```
//!
//! This module also contains layers for common tasks: [`Timeout`], [`ConcurrencyLimit`],
//! [`RateLimit`], [`observe`] and, with the feature `tracing`, `Tracing`. [`only`] applies a layer
//! to some requests.
//!
//! # Order of events
//!
//! A request is looked up, and the arguments of a tool checked, before its layers run; the result
//! is applied when the innermost layer calls [`Next::run`]. A request that asks for input and is
//! sent again with the answers passes through the layers again.
//!
//! # Waiting
//!
//! A layer may wait, for example with `request.cx().sleep(duration)`, which works on any runtime.
//! A layer must not block.
//!
//! A function that handles a request runs within the call of [`Next::run`], on the thread that
//! polls the layers: the thread that drives the connection, if the function proved quick, or a
//! thread of the pool. If a layer waits, the rest of the request moves to a thread of the pool and
//! occupies it during the wait. An asynchronous handler runs as part of the future of its layers.
//!
//! # Panics and cancellation
//!
//! A panic of a layer fails only its request, with an internal error. If a handler panics, the
//! layers receive that error as the response.
//!
//! When a request is cancelled or its connection ends, the futures of its layers are dropped at
//! their current `.await`. The future of an asynchronous handler is dropped with them. A function
//! runs to its end first.
//!
//! # Cost
//!
//! A server without layers does nothing for them. Each layer allocates its future, and costs about
//! 300 instructions; the first costs 1,100.

mod concurrency_limit;
mod function;
mod incoming;
mod layer;
mod observe;
mod only;
mod rate_limit;
mod response;
mod start;
mod timeout;
#[cfg(feature = "tracing")]
mod tracing;

pub use self::concurrency_limit::ConcurrencyLimit;
pub use self::incoming::Incoming;
pub(super) use self::layer::Layers;
pub use self::layer::{Layer, Next};
pub use self::observe::{Observation, Observe, observe};
pub use self::only::{Only, only};
pub use self::rate_limit::{LIMIT_EXCEEDED, RateLimit};
pub use self::response::Response;
pub(super) use self::start::start;
pub use self::timeout::Timeout;
#[cfg(feature = "tracing")]
pub use self::tracing::Tracing;
pub use crate::outcome::Outcome;
