//! Options of a server over HTTP for its operation: connections, shutdown, health and session ids.

use std::io;

use http::Method;
use http::request::Parts;
use http::uri::PathAndQuery;
use mcp_proto::http::{Body, Refusal, Reply};

#[cfg(doc)]
use super::limits::HttpLimits;
use super::options::Http;
use super::session_ids::SessionIds;

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
    /// Answers GET and HEAD requests to this path, such as `/healthz`, for load balancers and
    /// supervisors. Default: there is no such path.
    ///
    /// The status is 200, or 503 once a service behind a router was closed. A server that is
    /// started with `serve_http` accepts no connections while it stops. A server with [too many
    /// connections](HttpLimits::connections_max) responds to new ones with status 429 or 503, also
    /// at this path: use the path to find servers that can take requests, not to restart those that
    /// cannot.
    ///
    /// The path is available for any `Host` and without authentication, because health checks
    /// address the server by its IP address. The path takes precedence over all other paths. A
    /// missing slash at its start is added.
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
    /// balancer works for clients of all revisions, and the server keeps no state between requests.
    /// Legacy clients do without the features that need a session:
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
