//! A handle to a connected client, for use outside of its requests.

use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_proto::schema::{CancelTask, Decode as _, Encode, Level, ServerRequest};
use mcp_proto::server::{Command, Server as Machine};
use mcp_proto::{CallError, CallId, CallOptions, Misuse, Payload, Peer, Principal, Raw};
use serde::Serialize;

use crate::error::Error;
use crate::exec::operation::Operation;
use crate::exec::watched::Watched;
use crate::server::handler::context::{Cx, HandlerLink as _};
use crate::transport::link::{Link, State};

/// A client that is connected to a server, for use outside of a request.
///
/// The callbacks of a [`Server`](crate::Server), such as
/// [`on_session`](crate::Server::on_session), and [`Cx::client`] provide it. Cheap to clone, and
/// usable from any thread. A handle does not keep the connection open.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::Server;
/// use mcp_tokio::proto::schema::Level;
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
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has sessions"))]
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
            session_id: link.lock().connection.session_id().map(Into::into),
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

    /// Returns the id of the client's HTTP session (feature `http`).
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

    /// Sends a notification of an [extension](crate::Server::extension) to the client by method
    /// name. Never waits.
    ///
    /// `params` may be a schema type, a [`Raw`] or a `serde_json::Value`.
    ///
    /// # Errors
    /// Fails with
    /// - [`Misuse::Undeclared`] if the client lacks the extension;
    /// - [`Misuse::Unsupported`] if servers do not send the notification, and in the modern era
    ///   (from revision 2026-07-28), in which notifications belong to a request or a subscription:
    ///   use [`Changes::element_changed`](crate::Changes::element_changed);
    /// - [`Misuse::Blocked`] if the output queue is full;
    /// - [`Misuse::Closed`] if the connection has ended;
    /// - [`Misuse::Unencodable`] if `params` is not a JSON object.
    pub fn notify_raw(&self, method: &str, params: Option<&dyn Encode>) -> Result<(), Misuse> {
        self.link()?.apply(Command::Notify { method, params: params.into() })
    }

    /// Sends a request to the client and waits for its result.
    ///
    /// Use it in callbacks, on other threads, and in handlers. A callback holds one of 512 threads
    /// of the server until the client answers. `request` is, for example, a
    /// [`ListRoots`](mcp_proto::schema::ListRoots), a
    /// [`CreateMessage`](mcp_proto::schema::CreateMessage), or a
    /// [`Ping`](mcp_proto::schema::Ping). A handler that needs input for its own request calls
    /// [`Cx::ask`] instead, which works in every revision. Dropping the operation while it waits
    /// cancels the request.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::Server;
    /// use mcp_tokio::proto::schema::ListRoots;
    ///
    /// let server = Server::new("notes", "1.0.0").on_notification(|_, _, client| {
    ///     if let Ok(listed) = client.request(ListRoots::new()).wait() {
    ///         println!("{} roots", listed.roots.len());
    ///     }
    /// });
    /// # drop(server);
    /// ```
    ///
    /// # Errors
    /// The operation fails with
    /// - [`Error::Misuse`] if the request cannot be sent: with [`Misuse::Unsupported`] in the
    ///   modern era (from revision 2026-07-28), in which servers send no requests; with
    ///   [`Misuse::Undeclared`] if the client lacks the required capability; with
    ///   [`Misuse::Closed`] if the connection has ended;
    /// - [`Error::Call`] if the client returns an error, the connection ends, or no response
    ///   arrives within [`Limits::call_timeout`](mcp_proto::Limits::call_timeout) (60 s unless
    ///   changed);
    /// - [`Error::Decode`] if the result does not match the method.
    pub fn request<'a, Q: ServerRequest + Send + Sync + 'a>(
        &'a self,
        request: Q,
    ) -> Operation<'a, Q::Result> {
        Operation::new(async move {
            let result = self.call(&self.link()?, Q::METHOD, &request.readable()).await?;
            Ok(Q::Result::decode(&result)?)
        })
    }

    /// Sends a request and waits for its result. Dropping the future cancels the request.
    pub(crate) async fn call(
        &self,
        link: &Arc<Link<Machine>>,
        method: &str,
        params: &(dyn Encode + Sync),
    ) -> Result<Raw, Error> {
        let open = Arc::new(OpenCall::default());
        let send = |state: &mut State<Machine>, now| {
            let (params, options) = (Payload::Value(params), CallOptions::default());
            let call = state.connection.call(now, Command::Call { method, params, options })?;
            state.role.insert_call(call, Arc::clone(&open));
            Ok(call)
        };
        let call = link.with_room(REQUEST_PATIENCE, send).await?;
        let _cancel = CancelOnDrop { link: Arc::clone(link), call };
        let waiting = GiveUpOnDrop { link, open: &open };
        let outcome = waiting.open.when(CallState::take).await;
        Ok(outcome?)
    }

    /// Returns the connection, if it is open and has a session.
    pub(crate) fn link(&self) -> Result<Arc<Link<Machine>>, Misuse> {
        let link = self.link.upgrade().ok_or(Misuse::Closed)?;
        if link.inspect(|state| state.connection.peer().is_none()) {
            return Err(Misuse::Unsupported);
        }
        Ok(link)
    }
}

/// How long a request waits for room in the output queue.
pub(crate) const REQUEST_PATIENCE: Duration = Duration::from_secs(10);

/// A request to the client.
pub(crate) type OpenCall = Watched<CallState>;

/// The state of a request to the client, which its sender and the dispatcher of events change.
#[derive(Debug, Default)]
pub(crate) enum CallState {
    #[default]
    Open,
    Ended(Result<Raw, CallError>),
    /// Nothing waits for the outcome.
    GivenUp,
}

impl CallState {
    /// Takes the outcome, if the request has ended.
    pub(crate) fn take(&mut self) -> Option<Result<Raw, CallError>> {
        match std::mem::take(self) {
            Self::Ended(outcome) => Some(outcome),
            other => {
                *self = other;
                None
            }
        }
    }
}

/// Hands the outcome of a request to its sender.
// CAN-10: nothing waits for a task whose request was given up.
pub(crate) fn complete(
    link: &Arc<Link<Machine>>,
    open: &OpenCall,
    outcome: Result<Raw, CallError>,
) {
    let mut unread = None;
    open.change(|state| match state {
        CallState::GivenUp => unread = outcome.ok(),
        CallState::Open | CallState::Ended(_) => *state = CallState::Ended(outcome),
    });
    if let Some(created) = unread {
        cancel_late(link, &created);
    }
}

/// Cancels a request to the client when dropped, unless it has ended.
pub(crate) struct CancelOnDrop {
    pub(crate) link: Arc<Link<Machine>>,
    pub(crate) call: CallId,
}

/// Gives a request up when dropped, and cancels the task that its unread response has created.
struct GiveUpOnDrop<'a> {
    link: &'a Arc<Link<Machine>>,
    open: &'a OpenCall,
}

impl Drop for GiveUpOnDrop<'_> {
    // CAN-10: nothing waits for the task.
    fn drop(&mut self) {
        let state = std::mem::replace(&mut *self.open.lock(), CallState::GivenUp);
        if let CallState::Ended(Ok(created)) = state {
            cancel_late(self.link, &created);
        }
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let _ended =
            self.link.apply(Command::Cancel { call: self.call, reason: "no longer wanted" });
    }
}

/// Cancels the task that a request has created after it was given up.
// CAN-10: nothing waits for the task.
pub(crate) fn cancel_late(link: &Arc<Link<Machine>>, created: &Raw) {
    let id = created.member("task").and_then(|task| task.member("taskId"));
    let Some(id) = id.as_ref().and_then(Raw::to_text) else { return };
    let params = CancelTask::new(id);
    let command = Command::Call {
        method: "tasks/cancel",
        params: Payload::Value(&params),
        options: CallOptions::default(),
    };
    // If that is not possible, the client ends the task when its time is over.
    let _not_possible = link.with(|state, now| state.connection.call(now, command));
}

impl Cx {
    /// Returns a handle to the client, which stays usable after the request.
    #[must_use]
    pub fn client(&self) -> ClientHandle {
        // From now on the handler runs on the pool, where it may wait for the client.
        self.request.pace.disprove();
        let context = &self.request.context;
        let peer = Some(Arc::clone(&context.peer));
        ClientHandle::new(&self.request.link, peer, context.principal().cloned())
    }
}

opaque_debug!(ClientHandle, it => principal: it.principal);
