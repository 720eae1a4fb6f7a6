//! The memory that clients make a server over HTTP hold.

/// The memory that one [`HttpServer`](super::HttpServer) holds because of its client, in bytes.
///
/// A service adds up the usage of all its servers to bound their memory. The numbers are estimates:
/// the lengths of the stored messages, plus a fixed cost for each stored entry. The actual
/// allocations are at most about four times as large. The client's identity and capabilities are
/// not included; [`Limits::peer_bytes_max`](crate::Limits::peer_bytes_max) bounds them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ServerUsage {
    /// The bytes of requests in flight, queued events and unsent responses.
    ///
    /// These bytes are released as the application polls events and responds to requests, and as
    /// the client reads the responses.
    pub requests: usize,
    /// The bytes of replay buffers and subscriptions, which an idle session keeps.
    pub session: usize,
}
