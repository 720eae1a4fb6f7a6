//! Servers of single exchanges of legacy clients, without sessions.

use alloc::format;
use alloc::sync::Arc;

use super::scope::Scope;
use super::{HttpServer, StreamSettings};
use crate::http::validate::PostedMessage;
use crate::method::MethodId;
use crate::revision::Revision;
use crate::server::Server;
use crate::time::Instant;

impl HttpServer {
    /// Creates the server of a single exchange of a legacy client, on a service
    /// [without sessions](crate::http::Policy::without_sessions).
    ///
    /// The arguments are those of [`Post::Sessionless`](crate::http::Post::Sessionless), and the
    /// message must be the first that the server handles. Unless it is `initialize`, the server
    /// behaves as after a handshake with a client without name and capabilities: its application
    /// cannot request input. Create `server` with a [configuration without
    /// sessions](crate::server::Config::without_sessions).
    ///
    /// The request is cancelled if the client disconnects before the response is complete.
    #[must_use]
    pub fn sessionless(
        now: Instant,
        server: Server,
        revision: Revision,
        message: &PostedMessage,
        settings: impl Into<Arc<StreamSettings>>,
    ) -> Self {
        let mut single = Self::with_scope(server, Scope::Single(revision), settings.into());
        let is_initialize = matches!(
            message,
            PostedMessage::Request { method, .. } if method.id() == Some(MethodId::Initialize)
        );
        if !is_initialize {
            single.assume_handshake(now, revision);
        }
        single
    }

    /// Opens the connection for a client that has done so in another exchange.
    fn assume_handshake(&mut self, now: Instant, revision: Revision) {
        let initialize = format!(
            r#"{{"jsonrpc":"2.0","id":"mcp-proto/sessionless","method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"","version":""}}}}}}"#
        );
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        for (is_request, message) in [(true, &*initialize), (false, initialized)] {
            let id = self.handle_post(now, is_request, message.as_bytes());
            let answered = self.poll_reply(id);
            debug_assert!(answered.is_some_and(|reply| reply.status < 300));
        }
        // No session has begun.
        while self.poll_event().is_some() {}
    }
}
