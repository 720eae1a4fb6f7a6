//! The memory that clients make a server over HTTP hold.

/// The memory that one [`HttpServer`](super::HttpServer) holds because of its client, in bytes.
///
/// A service adds up the usage of all its servers to bound their memory. The numbers count text and
/// a fixed cost for each table entry; the actual allocations are at most about four times as large.
/// The client's identity and capabilities are not included, because
/// [`Limits::peer_bytes_max`](crate::Limits::peer_bytes_max) bounds them and they never change.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ServerUsage {
    /// The bytes of requests in flight, queued events and unsent responses.
    ///
    /// These bytes are released when the application polls and responds, and the client reads.
    pub requests: usize,
    /// The bytes of replay buffers and subscriptions, which an idle session keeps.
    pub session: usize,
}
