//! The limits of a server over HTTP.

use std::time::Duration;

/// The limits and timeouts of a service over HTTP: of all its clients together, and of each.
///
/// [`Limits`](mcp_proto::Limits) are those of one connection or session. Minor releases add fields:
/// write `..HttpLimits::default()`, and do not destructure without `..`.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::http::{Http, HttpLimits};
///
/// let limits = HttpLimits { sessions_max: 1_000, ..HttpLimits::default() };
/// let options = Http::new().limits(limits);
/// # drop(options);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HttpLimits {
    /// The maximum number of open connections. Default: 10,000.
    ///
    /// When the maximum is reached and another client connects, the connections that have been idle
    /// for longest are closed. If all connections have a request in progress, the new client
    /// receives status 503. Each connection costs about 10 KiB, and up to 200 KiB while its client
    /// sends long headers. The limit applies only to servers that are started with `serve_http`.
    // SEC-18: bounds the memory that clients can claim.
    pub connections_max: usize,

    /// The maximum number of open connections of one client address. Default: 2,500.
    ///
    /// When the maximum is reached and the address connects again, its connections that have been
    /// idle for longest are closed. If all of them have a request in progress, requests on further
    /// connections receive status 429. The 64-bit network of an IPv6 address counts as one address,
    /// and so do all loopback addresses. Behind a proxy, all clients have the proxy's address: set
    /// this limit to the value of [`connections_max`](Self::connections_max).
    // SEC-18: bounds what one client can claim.
    pub connections_per_address_max: usize,

    /// The maximum number of concurrent requests on one HTTP/2 connection (feature `tls`).
    /// Default: 100.
    ///
    /// Clients learn the limit when they connect; streams beyond it are reset with
    /// `REFUSED_STREAM`, and can be sent again. Each request in flight on a connection, except for
    /// one, also counts like a connection in [`connections_max`](Self::connections_max) and
    /// [`connections_per_address_max`](Self::connections_per_address_max), and receives status 503
    /// or 429 beyond these. Event streams that wait for messages count in
    /// [`listeners_per_address_max`](Self::listeners_per_address_max) instead.
    ///
    /// Each permitted stream adds 4 KiB to what a connection can cost; its response is reset if the
    /// client does not read it for [`Limits::stall_timeout`](mcp_proto::Limits::stall_timeout). A
    /// connection that sends more than 2,000 control frames a second, such as pings, is read more
    /// slowly.
    // SEC-18: bounds what one connection can claim.
    pub http2_streams_max: u32,

    /// The maximum number of concurrent sessions. Default: 10,000.
    ///
    /// Only clients of legacy revisions (up to 2025-11-25) open sessions.
    ///
    /// When the maximum is reached and another client opens a session, the idle session that would
    /// expire first is ended. Only the 64 sessions that expire first are examined. If all of them
    /// have a request in flight or an open stream, the new client receives status 503. Each idle
    /// session costs about 3 KiB.
    // SEC-18: bounds the memory that clients can claim.
    pub sessions_max: usize,

    /// The maximum number of sessions of one client address. Default: 2,500.
    ///
    /// Requests for further sessions receive status 429. The 64-bit network of an IPv6 address
    /// counts as one address. Behind a proxy, all clients have the proxy's address: set this limit
    /// to the value of [`sessions_max`](Self::sessions_max).
    // SEC-18: bounds what one client can claim.
    pub sessions_per_address_max: usize,

    /// The maximum number of sessions of one [`Principal`](mcp_proto::Principal). Default: 2,500.
    ///
    /// Requests for further sessions receive status 429. Without this limit, a client could end the
    /// idle sessions of all others by opening sessions until
    /// [`sessions_max`](Self::sessions_max) is reached. Requests without a principal are not
    /// limited.
    // SEC-18: bounds what one client can claim.
    pub sessions_per_principal_max: usize,

    /// The maximum bytes that all sessions and subscriptions together hold while idle.
    /// Default: 256 MiB.
    ///
    /// The limit counts replay buffers, subscriptions, and the data that clients send in
    /// `initialize` requests of more than 1 KiB.
    ///
    /// While the limit is exceeded, a session that grows loses its replay buffers. A message in a
    /// session, or a request for a new session or subscription, then ends idle sessions. If this
    /// does not free enough bytes, the message or request receives status 503.
    // SEC-18: bounds the memory that clients can claim.
    pub sessions_bytes_max: usize,

    /// The maximum bytes that all requests and responses together hold. Default: 256 MiB.
    ///
    /// The limit counts request bodies that are being read, requests in flight, and responses that
    /// wait for their clients. It also counts the headers of each request until its handler has
    /// ended: their text, and 512 bytes plus 128 bytes a header.
    ///
    /// Further requests receive status 503.
    // SEC-18: bounds the memory that clients can claim.
    pub requests_bytes_max: usize,

    /// The maximum total bytes of the requests of one client address. Default: 64 MiB.
    ///
    /// A body counts from its arrival until the response is complete. If the client hangs up, the
    /// body counts for as long as the session keeps the request. A request that is cancelled stops
    /// counting immediately, even if its handler continues. The headers count as in
    /// [`requests_bytes_max`](Self::requests_bytes_max).
    ///
    /// Further requests from the address receive status 429. The limit applies only to requests
    /// with a [`PeerAddress`](super::PeerAddress) extension. Behind a proxy, all requests may have
    /// the proxy's address. In that case, set this limit to the value of
    /// [`requests_bytes_max`](Self::requests_bytes_max).
    // SEC-18: bounds the memory that one client can keep from others.
    pub requests_bytes_per_address_max: usize,

    /// The maximum size of a request body in bytes. Default: 4 MiB.
    ///
    /// Larger bodies receive status 413.
    /// [`Limits::message_bytes_max`](mcp_proto::Limits::message_bytes_max) applies as well.
    pub body_bytes_max: usize,

    /// The maximum size, in bytes, of a client's identity and capabilities in `initialize`.
    ///
    /// Default: 64 KiB.
    ///
    /// An `initialize` request with larger data is refused.
    /// [`Limits::peer_bytes_max`](mcp_proto::Limits::peer_bytes_max) applies as well. Each session
    /// keeps the decoded data, which takes up to 24 times as much memory as the JSON text.
    pub peer_bytes_max: usize,

    /// The maximum number of concurrent subscriptions outside of sessions. Default: 10,000.
    ///
    /// Clients open such subscriptions in the modern era (from revision 2026-07-28), which has no
    /// sessions. Requests for further subscriptions receive status 503.
    // SEC-18: bounds the memory that clients can claim.
    pub listeners_max: usize,

    /// The maximum number of event streams of one client address that wait for messages:
    /// subscriptions, and the streams that clients of sessions open with a GET request. Default:
    /// 1,250.
    ///
    /// Requests for further streams receive status 429. Over HTTP/2, such a stream does not count
    /// in [`connections_per_address_max`](Self::connections_per_address_max). Behind a proxy, set
    /// this limit to the value of [`connections_max`](Self::connections_max).
    // SEC-18: bounds what one client can claim, and leaves it connections for its requests.
    pub listeners_per_address_max: usize,

    /// How long a session may be idle before the server ends it. Default: 30 min.
    ///
    /// A session with a request in flight or an open stream is not idle.
    pub idle_max: Duration,

    /// How long a session is kept if no message follows `initialize`. Default: 20 s.
    pub unconfirmed_max: Duration,

    /// How long a connection stays open between two requests. Default: 75 s.
    ///
    /// Behind a load balancer, this time must exceed the time after which the balancer closes idle
    /// connections, which is 60 s in many products: otherwise, the balancer may send a request just
    /// when the server closes the connection, and responds with status 502. The setting applies
    /// only to servers that are started with `serve_http`.
    // SEC-18: bounds the connections that clients keep without using them.
    pub connection_idle_max: Duration,

    /// How long the head of a request may take to arrive. Default: 30 s.
    ///
    /// The time starts with the first byte of the head, or when the connection opens for its first
    /// request. After that, the connection is closed. The timeout applies only to servers that are
    /// started with `serve_http`.
    pub head_timeout: Duration,

    /// How long the body of a request may take to arrive. Default: 30 s.
    ///
    /// A request that takes longer receives status 408.
    pub body_timeout: Duration,

    /// How long [`Http::authenticating`](super::Http::authenticating),
    /// [`Http::authorizing`](super::Http::authorizing) and
    /// [`Http::checking`](super::Http::checking) may take for a request. Default: 30 s.
    ///
    /// A request for which one of them takes longer receives status 503.
    pub authentication_timeout: Duration,

    /// How long requests in progress may take when the server stops. Default: 2 s.
    ///
    /// This timeout applies to requests in sessions and to modern requests alike. It also applies
    /// to requests in a session that ends earlier, for example because its client deletes it. Over
    /// HTTP, it replaces [`Limits::drain_timeout`](mcp_proto::Limits::drain_timeout), which applies
    /// to byte streams only.
    pub drain_timeout: Duration,
}

impl HttpLimits {
    /// Returns the maximum memory, in bytes, that clients can make a server with these limits
    /// hold.
    ///
    /// The value is an upper bound, not an estimate. With the default limits, the value is about
    /// 4.5 GiB, and with the feature `tls`, which adds 0.9 MiB a connection, about 13 GiB.
    ///
    /// The bound covers all connections, sessions, subscriptions and requests of a service. In
    /// contrast, [`Limits::memory_max`](mcp_proto::Limits::memory_max) covers a single connection.
    /// The bound does not include socket buffers, or memory that the application supplies, such as
    /// its responses.
    #[must_use]
    pub const fn memory_max(&self) -> usize {
        let http2 = if cfg!(feature = "tls") { http2_bytes(self.http2_streams_max) } else { 0 };
        let connection_bytes = CONNECTION_BYTES + http2;
        let connections = self.connections_max.saturating_mul(connection_bytes);
        let sessions = self.sessions_max.saturating_mul(SESSION_BYTES);
        let listeners = self.listeners_max.saturating_mul(SESSION_BYTES);
        // One request beyond the budget may be in progress on each limit.
        let requests = self.requests_bytes_max.saturating_add(self.body_bytes_max);
        let kept = self.sessions_bytes_max.saturating_add(self.body_bytes_max);
        let counted = requests.saturating_add(kept).saturating_mul(COUNTED_FACTOR);
        connections.saturating_add(sessions).saturating_add(listeners).saturating_add(counted)
    }

    /// Limits times so that they can be added to any time of a clock.
    pub(super) const fn bounded(mut self) -> Self {
        self.connection_idle_max = at_most_a_year(self.connection_idle_max);
        self.head_timeout = at_most_a_year(self.head_timeout);
        self.drain_timeout = at_most_a_year(self.drain_timeout);
        self
    }
}

/// Limits a time so that it can be added to any time of a clock.
const fn at_most_a_year(time: Duration) -> Duration {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    if time.as_secs() < YEAR.as_secs() { time } else { YEAR }
}

/// The memory of a connection: its task, and two buffers for heads of at most 64 KiB.
const CONNECTION_BYTES: usize = 200 << 10;

/// The memory of an HTTP/2 connection beyond that of any connection: the bodies that were not read,
/// the tables of header compression, and for each stream a request that was reset or the end of a
/// response that its client has not read.
const fn http2_bytes(streams_max: u32) -> usize {
    (512 << 10) + streams_max as usize * (4 << 10)
}

/// The memory of a session or subscription that is not counted in a budget: its tables, its tasks,
/// and the description of its client if that is short.
const SESSION_BYTES: usize = 32 << 10;

/// The memory behind a counted byte: a retained part of a body keeps the whole body alive, and
/// buffers double their capacity.
const COUNTED_FACTOR: usize = 4;

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connections_max: 10_000,
            connections_per_address_max: 2_500,
            http2_streams_max: 100,
            sessions_max: 10_000,
            sessions_per_address_max: 2_500,
            sessions_per_principal_max: 2_500,
            sessions_bytes_max: 256 << 20,
            requests_bytes_max: 256 << 20,
            requests_bytes_per_address_max: 64 << 20,
            body_bytes_max: 4 << 20,
            peer_bytes_max: 64 << 10,
            listeners_max: 10_000,
            listeners_per_address_max: 1_250,
            idle_max: Duration::from_secs(30 * 60),
            unconfirmed_max: Duration::from_secs(20),
            connection_idle_max: Duration::from_secs(75),
            head_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(30),
            authentication_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_service_follows_from_its_limits() {
        let default = HttpLimits::default().memory_max();
        let gib = if cfg!(feature = "tls") { 12..14 } else { 4..5 };
        assert!(gib.contains(&(default >> 30)), "{default}");
        let small = HttpLimits {
            connections_max: 100,
            sessions_max: 100,
            listeners_max: 100,
            sessions_bytes_max: 8 << 20,
            requests_bytes_max: 8 << 20,
            ..HttpLimits::default()
        };
        let mib = if cfg!(feature = "tls") { 256 } else { 128 };
        assert!(small.memory_max() < mib << 20, "{}", small.memory_max());
        let endless = HttpLimits { sessions_max: usize::MAX, ..HttpLimits::default() };
        assert_eq!(endless.memory_max(), usize::MAX);
    }
}
