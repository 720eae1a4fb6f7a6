//! An open connection to a server: its peer, its subscriptions and its end.

mod calls;
pub(crate) mod lists;

use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_lite::future::block_on;
use mcp_proto::client::{Client as Machine, Command};
use mcp_proto::schema::Encode;
#[cfg(feature = "jsonschema")]
use mcp_proto::schema::{CallToolResult, Tool};
use mcp_proto::{CloseReason, Era, Filter, Peer, Revision};

use crate::client::connector::Connector;
use crate::client::feed::Feed;
use crate::client::in_flight::START_PATIENCE;
use crate::client::recovery::link_slot::LinkSlot;
use crate::client::subscription::Subscription;
use crate::error::Error;
use crate::exec::operation::Operation;
use crate::exec::sole_driver::is_sole_driver;
use crate::process::child::Child;
use crate::transport::link::{Link, State};
#[cfg(feature = "jsonschema")]
use crate::validation::CheckError;
use crate::validation::ResultValidator;

/// A client's connection to a server. Cheap to clone; clones share the connection.
///
/// A lost connection is opened again; see [`Client::recovery`](crate::Client::recovery). This value
/// and its clones remain valid.
///
/// Methods that wait return an [`Operation`] or a [`Call`](crate::Call): programs await them, or
/// block with `.wait()`.
///
/// Dropping the last clone closes the connection. With `mcp-blocking`, the drop blocks until the
/// connection has ended and a server started by `spawn` has exited, except on threads that drive
/// connections. With the async runtimes, that happens in the background;
/// [`close`](Self::close) also waits for it.
#[derive(Clone)]
pub struct Connection {
    inner: Arc<ConnectionInner>,
}

struct ConnectionInner {
    slot: Arc<LinkSlot>,
    /// The link has become that of another connection, and stays open.
    is_taken: AtomicBool,
    #[cfg_attr(not(feature = "jsonschema"), expect(dead_code, reason = "used by the feature"))]
    validator: ResultValidator,
}

impl Connection {
    /// `connector` opens lost connections again; `None` for a pair of byte streams.
    pub(crate) fn new(
        link: Arc<Link<Machine>>,
        child: Option<Arc<Child>>,
        connector: Option<Arc<Connector>>,
    ) -> Self {
        let inner = ConnectionInner {
            slot: LinkSlot::new(link, child, connector),
            is_taken: AtomicBool::new(false),
            validator: ResultValidator::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    pub(crate) fn link(&self) -> Arc<Link<Machine>> {
        self.inner.slot.link()
    }

    pub(crate) fn slot(&self) -> &Arc<LinkSlot> {
        &self.inner.slot
    }

    /// Returns the connector for reconnecting; `None` for a connection over a pair of byte streams.
    pub(crate) fn connector(&self) -> Option<&Arc<Connector>> {
        self.inner.slot.connector()
    }

    /// Takes the link out of a connection without closing it.
    pub(crate) fn into_parts(self) -> (Arc<Link<Machine>>, Option<Arc<Child>>) {
        self.inner.is_taken.store(true, Ordering::Release);
        (self.link(), self.inner.slot.child())
    }

    /// Returns the server's description of itself.
    ///
    /// # Panics
    /// Never panics: a connection exists only after the server has identified itself.
    #[must_use]
    pub fn peer(&self) -> Arc<Peer> {
        self.link().inspect(|state| {
            state.role.peer.clone().unwrap_or_else(|| unreachable!("an open connection has a peer"))
        })
    }

    /// Returns the label set with [`Client::label`](crate::Client::label).
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        self.inner.slot.label()
    }

    /// Returns the negotiated protocol revision.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.peer().revision
    }

    /// Returns the server's era: legacy (up to revision 2025-11-25) or modern.
    ///
    /// To save a round trip when you connect to a legacy server again, pass this era to
    /// [`Client::expect_era`](crate::Client::expect_era).
    #[must_use]
    pub fn era(&self) -> Era {
        self.revision().era()
    }

    /// Checks a tool's result against the tool's output schema (feature `jsonschema`).
    ///
    /// If the tool has no output schema, or the result is an error, the check passes.
    ///
    /// The schema comes from the server and is not trusted. The check therefore refuses schemas
    /// with external references, with `$id` or anchors below the root, with more than 64 regular
    /// expressions or too many levels of nesting, and results that would take too many steps to
    /// check. It runs on another thread, one check of a connection at a time. This method blocks
    /// until the check ends, for at most 2 s. A check takes about 100 MB of memory at most. A check
    /// that takes longer keeps its thread; until that thread ends, no other result of this
    /// connection is checked. If four such threads run in the process, no result of any connection
    /// is checked.
    ///
    /// # Errors
    /// Fails with a [`CheckError`] if the result does not match, if the schema cannot be used, or
    /// if the check is too costly.
    #[cfg(feature = "jsonschema")]
    pub fn check_result(&self, tool: &Tool, result: &CallToolResult) -> Result<(), CheckError> {
        self.inner.validator.check(tool, result)
    }

    /// Subscribes to changes in lists and resources.
    ///
    /// Waits for the server's acknowledgment. The server may accept only a part of `filter`; see
    /// [`Subscription::acknowledged`].
    ///
    /// # Errors
    /// Fails with [`Error::Misuse`] if the server does not support the subscription, and with
    /// [`Error::Call`] if it does not acknowledge the subscription in time.
    pub fn subscribe(&self, filter: &Filter) -> Operation<'_, Subscription> {
        let feed = Feed::new(filter);
        // From here on, dropping the operation ends the subscription.
        let listening = Subscription::new(Arc::clone(&feed));
        Operation::new(async move {
            let link = self.inner.slot.ready(START_PATIENCE).await?;
            if let Some(connector) = self.connector() {
                connector.add_feed(&feed);
            }
            feed.start(&link).await?;
            feed.wait_open().await?;
            Ok(listening)
        })
    }

    /// Sends a notification by method name.
    ///
    /// `params` may be a schema type, a [`Raw`](mcp_proto::Raw) or a `serde_json::Value`.
    ///
    /// If the output queue is full, waits until there is room, for at most 10 s.
    ///
    /// # Errors
    /// Fails with [`Error::Misuse`], without sending anything, if
    /// - the output queue is still full after 10 s ([`Blocked`](mcp_proto::Misuse::Blocked));
    /// - the connection is closing or closed ([`Closed`](mcp_proto::Misuse::Closed));
    /// - over HTTP, the server dropped the session and a new one was not open within 10 s
    ///   ([`NotReady`](mcp_proto::Misuse::NotReady));
    /// - this client did not declare the required capability
    ///   ([`Undeclared`](mcp_proto::Misuse::Undeclared));
    /// - `params` is not a JSON object ([`Unencodable`](mcp_proto::Misuse::Unencodable));
    /// - the negotiated revision does not let clients send the notification, or only this library
    ///   may send it ([`Unsupported`](mcp_proto::Misuse::Unsupported)).
    pub fn notify_raw<'a>(
        &'a self,
        method: &'a str,
        params: Option<&'a (dyn Encode + Sync)>,
    ) -> Operation<'a, ()> {
        let send = move |state: &mut State<Machine>, now| {
            let params = params.map(|params| params as &dyn Encode).into();
            state.connection.run(now, Command::Notify { method, params })
        };
        Operation::new(async move {
            let link = self.inner.slot.ready(NOTIFY_PATIENCE).await?;
            Ok(link.with_room(NOTIFY_PATIENCE, send).await?)
        })
    }

    /// Closes the connection, shuts down a server started by `spawn`, and waits for it to exit.
    ///
    /// Returns the exit status of a server started by `spawn`. Returns `None` for other
    /// connections, or if the status is unknown. Calls in flight fail with
    /// [`CallError::Lost`](mcp_proto::CallError::Lost).
    ///
    /// If no other connection shares its authorization and its token is being renewed, this waits
    /// up to 5 s until the new token is stored. A renewal that takes longer is finished and stored
    /// in the background if the runtime keeps running; otherwise, a refresh token that the
    /// authorization server has replaced is lost, and the user logs in again.
    ///
    /// # Errors
    /// Fails with [`Error::Closed`] if the connection ended because of a protocol fault.
    pub fn close(self) -> Operation<'static, Option<ExitStatus>> {
        Operation::new(async move {
            self.start_close();
            self.inner.slot.wait_ended().await;
            match self.close_reason() {
                Some(why @ CloseReason::Fault(_)) => Err(Error::Closed(why)),
                _ => Ok(self.inner.slot.child().and_then(|child| child.status())),
            }
        })
    }

    /// Starts closing the connection and returns immediately; see [`close`](Self::close).
    pub fn start_close(&self) {
        self.inner.slot.close();
    }

    /// Waits while the connection is being [recovered](crate::Client::recovery). Returns
    /// immediately if the connection is open.
    ///
    /// # Errors
    /// Fails with [`Error::Closed`] if the connection has ended.
    pub fn ready(&self) -> Operation<'_, ()> {
        Operation::new(self.inner.slot.open())
    }

    /// Waits until the connection has ended. A connection that is being
    /// [recovered](crate::Client::recovery) has not ended.
    ///
    /// By then, a server started by `spawn` has been shut down. The last events have also been
    /// handled, unless that takes longer than 500 ms.
    ///
    /// # Errors
    /// Never fails, except as [`Operation::wait`] does.
    pub fn wait_ended(&self) -> Operation<'_, ()> {
        Operation::new(async {
            self.inner.slot.wait_ended().await;
            Ok(())
        })
    }

    /// Returns why the connection ended; `None` while it is open or being
    /// [recovered](crate::Client::recovery).
    #[must_use]
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.inner.slot.close_reason()
    }

    /// Returns the last lines, 32 at most, that the server wrote to stderr.
    ///
    /// The list is empty unless the server was started by `spawn`.
    #[must_use]
    pub fn stderr(&self) -> Vec<String> {
        self.inner.slot.child().map(|child| child.stderr()).unwrap_or_default()
    }

    pub(crate) async fn failed_start(self, why: CloseReason, probed: bool) -> Error {
        self.start_close();
        let (link, child) = (self.link(), self.inner.slot.child());
        link.wait_ended().await;
        let status = child.as_ref().and_then(|child| child.status());
        let program = child.as_ref().map(|child| child.program().into());
        let violations =
            link.with(|state, _| std::mem::take(&mut state.role.early_violations)).into();
        let stderr = self.stderr().into();
        Error::Start { why, program, status, violations, stderr, probed, http: None }
    }
}

/// How long a notification waits for room in the output queue.
const NOTIFY_PATIENCE: Duration = Duration::from_secs(10);

opaque_debug!(Connection);

impl Drop for ConnectionInner {
    fn drop(&mut self) {
        if *self.is_taken.get_mut() {
            return;
        }
        self.slot.close();
        let link = self.slot.link();
        // A thread that drives connections must not wait: it would wait for itself.
        if link.shared.workers.waits_for_ends() && !is_sole_driver() {
            block_on(link.wait_ended());
        }
    }
}
