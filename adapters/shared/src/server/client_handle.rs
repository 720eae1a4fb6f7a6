//! A handle to a connected client, for use outside of its requests.

use std::fmt;
use std::sync::{Arc, Weak};

use mcp_proto::schema::Level;
use mcp_proto::server::{Command, Server as Machine};
use mcp_proto::{Misuse, Peer, Principal, Raw};
use serde::Serialize;

use crate::server::handler::context::{Cx, HandlerLink as _};
use crate::transport::link::Link;

/// A client that is connected to a server, for use outside of a request.
///
/// The callbacks of a [`Server`](crate::Server), such as
/// [`on_session`](crate::Server::on_session), and [`Cx::client`] provide it. Cheap to clone, and
/// usable from any thread. A handle does not keep the connection open.
///
/// ```
/// use mcp_adapter::Server;
/// use mcp_adapter::proto::schema::Level;
///
/// let server = Server::new("notes", "1.0.0").logging().on_session(|client| {
///     let _ignored = client.log(Level::Info, "welcome");
/// });
/// # drop(server);
/// ```
#[derive(Clone)]
pub struct ClientHandle {
    link: Weak<Link<Machine>>,
    peer: Option<Arc<Peer>>,
    principal: Option<Principal>,
    #[cfg(feature = "http")]
    session_id: Option<Arc<str>>,
}

impl ClientHandle {
    /// Creates a handle to the client of a connection, as it is now.
    pub(crate) fn of_connection(link: &Arc<Link<Machine>>) -> Self {
        let (peer, principal) =
            link.inspect(|state| (state.connection.peer().cloned(), state.role.principal.clone()));
        Self::new(link, peer, principal)
    }

    fn new(
        link: &Arc<Link<Machine>>,
        peer: Option<Arc<Peer>>,
        principal: Option<Principal>,
    ) -> Self {
        Self {
            link: Arc::downgrade(link),
            peer,
            principal,
            #[cfg(feature = "http")]
            session_id: link.session_id().map(Into::into),
        }
    }

    /// Returns the client's description of itself, and the protocol revision.
    ///
    /// Returns `None` in a notification of the modern era (from revision 2026-07-28), in which only
    /// requests describe their client. The description is not verified.
    #[must_use]
    pub fn peer(&self) -> Option<&Peer> {
        self.peer.as_deref()
    }

    /// Returns the authenticated identity of the client.
    ///
    /// Returns `None` if the client is not authenticated, as over stdio.
    #[must_use]
    pub const fn principal(&self) -> Option<&Principal> {
        self.principal.as_ref()
    }

    /// Returns the id of the client's HTTP session.
    ///
    /// Returns `None` if the client is not connected over HTTP, and in revision 2026-07-28, which
    /// has no sessions. The id is a credential: do not log it.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }

    /// Sends a log message that belongs to no request, unless its level is below the client's
    /// threshold. Never waits.
    ///
    /// # Errors
    /// Fails with
    /// - [`Misuse::Undeclared`] if the server does not declare [logging](crate::Server::logging);
    /// - [`Misuse::Unsupported`] in the modern era (from revision 2026-07-28), in which a log
    ///   message belongs to a request: use [`Cx::log`];
    /// - [`Misuse::Blocked`] if the output queue is full;
    /// - [`Misuse::Closed`] if the connection has ended;
    /// - [`Misuse::Unencodable`] if `data` cannot be serialized as JSON.
    pub fn log<T: Serialize + ?Sized>(&self, level: Level, data: &T) -> Result<(), Misuse> {
        let data = &Raw::new(data)?;
        let link = self.link()?;
        link.apply(Command::Log { incoming: None, level, logger: None, data })
    }

    /// Returns the connection, if it is open and has a session.
    fn link(&self) -> Result<Arc<Link<Machine>>, Misuse> {
        let link = self.link.upgrade().ok_or(Misuse::Closed)?;
        if link.inspect(|state| state.connection.peer().is_none()) {
            return Err(Misuse::Unsupported);
        }
        Ok(link)
    }
}

impl Cx {
    /// Returns a handle to the client, which stays usable after the request.
    #[must_use]
    pub fn client(&self) -> ClientHandle {
        let context = &self.request.context;
        let peer = Some(Arc::clone(&context.peer));
        ClientHandle::new(&self.request.link, peer, context.principal().cloned())
    }
}

impl fmt::Debug for ClientHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientHandle").field("principal", &self.principal).finish_non_exhaustive()
    }
}
