//! Options of a server over HTTP for its operation: connections, shutdown, health and session ids.

use std::io;
use std::time::Duration;

use http::Method;
use http::request::Parts;
use http::uri::PathAndQuery;
use mcp_proto::http::{Body, Refusal, Reply};

use super::options::Http;
use super::session_ids::SessionIds;

/// Limits a time so that it can be added to any time of a clock.
const fn at_most_a_year(time: Duration) -> Duration {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    if time.as_secs() < YEAR.as_secs() { time } else { YEAR }
}

fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// Returns whether requests can have this path, as clients encode and normalize it.
fn is_path(path: &str) -> bool {
    let is_segment = |segment: &str| !matches!(segment, "." | "..");
    path.starts_with('/')
        && path.bytes().all(|byte| byte.is_ascii_graphic())
        && path.split('/').all(is_segment)
        && PathAndQuery::try_from(path)
            .is_ok_and(|parsed| parsed.as_str() == path && parsed.query().is_none())
}

impl Http {
    /// Sets how long a connection stays open between two requests. Default: 75 s.
    ///
    /// Behind a load balancer, this time must exceed the time after which the balancer closes idle
    /// connections, which is 60 s in many products: otherwise, the balancer may send a request just
    /// when the server closes the connection, and responds with status 502. The setting applies
    /// only to servers that are started with `serve_http`.
    // SEC-18: bounds the connections that clients keep without using them.
    pub const fn connection_idle_max(mut self, connection_idle_max: Duration) -> Self {
        self.connection_idle_max = at_most_a_year(connection_idle_max);
        self
    }

    /// Sets the maximum number of concurrent requests on one HTTP/2 connection. Default: 100.
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
    #[cfg(feature = "http2")]
    pub const fn http2_streams_max(mut self, streams_max: u32) -> Self {
        self.http2_streams_max = streams_max;
        self
    }

    /// Sets how long the head of a request may take to arrive. Default: 30 s.
    ///
    /// The time starts with the first byte of the head, or when the connection opens for its first
    /// request. After that, the connection is closed. The timeout applies only to servers that are
    /// started with `serve_http`.
    pub const fn head_timeout(mut self, head_timeout: Duration) -> Self {
        self.head_timeout = at_most_a_year(head_timeout);
        self
    }

    /// Sets how long requests in progress may take when the server stops. Default: 2 s.
    ///
    /// Requests in sessions and modern ones have equal time. It also applies to
    /// requests in a session that ends earlier, for example because its client deletes it, and
    /// replaces [`Limits::drain_timeout`](mcp_proto::Limits::drain_timeout), which applies to byte
    /// streams only.
    pub const fn drain_timeout(mut self, drain_timeout: Duration) -> Self {
        self.drain_timeout = at_most_a_year(drain_timeout);
        self
    }

    /// Answers GET and HEAD requests to this path, such as `/healthz`, for load balancers and
    /// supervisors. Default: there is no such path.
    ///
    /// The status is 200, and 503 once a service that a router serves was closed. A server that is
    /// started with `serve_http` accepts no connections once it is stopping. A server that has
    /// [too many connections](Self::connections_max) answers new ones with status 429 or 503, also
    /// here: use the path to find servers that can take requests, not to restart those that cannot.
    ///
    /// Requests are answered for any `Host`, and without authentication, as health checks address
    /// the server by its number. The path takes precedence over all other paths. A missing slash at
    /// its start is added.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::http::Http;
    ///
    /// let options = Http::new().host("mcp.example.com").health("/healthz");
    /// # drop(options);
    /// ```
    pub fn health(mut self, path: &str) -> Self {
        let slash = if path.starts_with('/') { "" } else { "/" };
        self.health = Some(format!("{slash}{path}"));
        self
    }

    /// Serves clients of legacy revisions (up to 2025-11-25) without sessions.
    ///
    /// Each request is then independent of all others, as in the modern era, so that any load
    /// balancer works for clients of all revisions, and the server keeps nothing for them in
    /// between. What needs a session is not available to legacy clients:
    ///
    /// - questions: [`Cx::ask`](crate::Cx::ask) and the like fail, because the capabilities of the
    ///   client are unknown;
    /// - subscriptions and notifications of changed lists;
    /// - tasks: calls of tools that could become tasks run to their end;
    /// - cancellation, except by disconnecting, and the resumption of broken streams;
    /// - the log level of `logging/setLevel`, and the name of the client;
    /// - [HTTP+SSE](Self::sse), whose paths then do not exist.
    ///
    /// GET and DELETE requests receive status 405. Clients of revision 2026-07-28 are not affected.
    pub const fn without_sessions(mut self) -> Self {
        self.has_no_sessions = true;
        self
    }

    /// Leaves out the headers that let pages of [allowed origins](Self::origin) read responses, for
    /// servers behind a proxy that adds these headers.
    pub const fn without_cors(mut self) -> Self {
        self.without_cors = true;
        self
    }

    /// Sets the function that generates session ids. Default: 128 random bits, as 32 digits.
    ///
    /// Use it, for example, to let a load balancer read from the id which instance has the session.
    /// Ids must be unpredictable: include at least 128 random bits. They must consist of 1 to 256
    /// letters and digits of ASCII, and `-`, `.`, `_` and `~`; otherwise, or if the function
    /// panics, the client receives status 500. The function must not block.
    // HTTP-30: ids are unguessable, and visible ASCII. Over HTTP+SSE they are part of a URL.
    pub fn session_ids(mut self, new_id: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.session_ids = SessionIds::new(new_id);
        self
    }

    /// Checks that each path can match a request.
    ///
    /// # Errors
    /// Fails for the first path that cannot, or that another one hides.
    pub(super) fn check_paths(&self) -> io::Result<()> {
        let path = self.path.as_deref();
        let stream = self.sse.as_ref().map(|paths| &*paths.stream);
        let health = self.health.as_deref();
        let any = "; for any path, use `Http::any_path`";
        for (path, setting, remedy) in
            [(path, "Http::path", any), (stream, "Http::sse_at", ""), (health, "Http::health", "")]
        {
            if let Some(path) = path.filter(|path| !is_path(path)) {
                return Err(invalid(format!(
                    "{path:?} matches no path (`{setting}`): begin with `/`, and leave out query, \
                     fragment and spaces{remedy}"
                )));
            }
        }
        let messages = self.sse.as_ref().map(|paths| &*paths.messages);
        if stream.is_some() && stream == messages {
            return Err(invalid(format!(
                "{messages:?} is the path of the HTTP+SSE stream and of its messages: change \
                 `Http::sse_at`"
            )));
        }
        if let Some(health) = health.filter(|_| [path, stream, messages].contains(&health)) {
            return Err(invalid(format!(
                "{health:?} is the path of health checks and of an endpoint: change `Http::health`"
            )));
        }
        Ok(())
    }

    /// Answers a health check; returns `None` for other requests.
    pub(super) fn health_reply(&self, parts: &Parts, is_stopping: bool) -> Option<Reply> {
        if self.health.as_deref() != Some(parts.uri.path()) {
            return None;
        }
        if ![Method::GET, Method::HEAD].contains(&parts.method) {
            let refusal = Refusal::new(405, "health checks use GET or HEAD");
            return Some(refusal.header("allow", "GET, HEAD").into());
        }
        let (status, text) = if is_stopping { (503, "stopping\n") } else { (200, "ok\n") };
        let mut reply = Reply::empty(status);
        reply.headers.push(("content-type", "text/plain".into()));
        reply.headers.push(("cache-control", "no-store".into()));
        reply.body = Body::Whole(text.into());
        Some(reply)
    }
}
