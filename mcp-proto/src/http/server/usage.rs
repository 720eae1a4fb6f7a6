//! The memory that clients make a server over HTTP hold.

/// The bytes that a client makes an [`HttpServer`](super::HttpServer) hold.
///
/// A service adds up the usage of all its servers to bound their memory. The numbers count text and
/// a fixed cost for each table entry; the allocations behind them are at most about four times as
/// large. The description of the client is not included, because it is bounded by
/// [`Limits::peer_bytes_max`](crate::Limits::peer_bytes_max) and never changes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ServerUsage {
    /// The bytes of requests in flight, queued events and unsent responses.
    ///
    /// They are released as the application and the client proceed.
    pub requests: usize,
    /// The bytes of replay buffers and subscriptions, which an idle session keeps.
    pub session: usize,
}
