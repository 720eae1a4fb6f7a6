//! A layer for some requests only.

use super::incoming::Incoming;
use super::layer::{Layer, Next};
use super::response::Response;
use crate::box_future::BoxFuture;

/// Creates a layer that passes the requests for which `condition` is true through `layer`, and
/// all others past it.
///
/// `condition` runs for every request and must not block.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use std::time::Duration;
///
/// use mcp_tokio::Server;
/// use mcp_tokio::layers::{Incoming, RateLimit, only};
///
/// let is_search = |request: &Incoming| request.name().as_deref() == Some("search");
/// let server = Server::new("notes", "1.0.0")
///     .layer(only(is_search, RateLimit::new(10, Duration::from_secs(60))));
/// # drop(server);
/// ```
pub fn only<C, L>(condition: C, layer: L) -> Only<C, L>
where
    C: Fn(&Incoming) -> bool + Send + Sync + 'static,
    L: Layer,
{
    Only { condition, layer }
}

/// A layer for some requests only; see [`only`].
pub struct Only<C, L> {
    condition: C,
    layer: L,
}

impl<C, L> Layer for Only<C, L>
where
    C: Fn(&Incoming) -> bool + Send + Sync + 'static,
    L: Layer,
{
    fn call(&self, request: Incoming, next: Next) -> BoxFuture<'static, Response> {
        if (self.condition)(&request) {
            self.layer.call(request, next)
        } else {
            Box::pin(next.run(request))
        }
    }
}

opaque_debug!(Only < C, L > [C, L]);
