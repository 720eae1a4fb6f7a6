//! The link of a connection, which recovery replaces while the handles stay valid.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_lite::future::or;
use mcp_proto::client::Client as Machine;
use mcp_proto::{CallError, CloseReason};

use crate::client::connector::Connector;
use crate::client::context::ClientCx;
use crate::client::feed::{Feed, LinkOwner};
use crate::client::recovery::state::ConnectionState;
use crate::client::recovery::{Recovery, Retry, RetryBudget, is_recoverable};
use crate::error::Error;
use crate::exec::callbacks::CallbackQueue;
use crate::exec::cancellation::Cancellation;
use crate::exec::clock::Clock;
use crate::exec::watched::Watched;
use crate::process::child::Child;
use crate::transport::link::Link;

/// The current link of a connection.
pub(crate) struct LinkSlot {
    pub(super) current: Watched<CurrentLink>,
    label: Option<Arc<str>>,
    /// `None` for a connection over a pair of byte streams, which cannot be opened again.
    connector: Option<Arc<Connector>>,
    /// Set when the application closes the connection or drops its last handle.
    pub(super) closed: Arc<Cancellation>,
    pub(super) clock: Clock,
    budget: Mutex<RetryBudget>,
    /// The callbacks for states that are due: in order, from link to link.
    callbacks: Mutex<CallbackQueue>,
}

/// A link, and whether the connection uses it.
pub(super) struct CurrentLink {
    pub(super) link: Arc<Link<Machine>>,
    pub(super) child: Option<Arc<Child>>,
    pub(super) phase: Phase,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Phase {
    /// The link is in use, or its end has not been handled yet.
    Open,
    /// The link has ended, and another one is being opened.
    Recovering,
    /// The last link has ended, and none follows.
    Over,
}

impl LinkSlot {
    pub(crate) fn new(
        link: Arc<Link<Machine>>,
        child: Option<Arc<Child>>,
        connector: Option<Arc<Connector>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            label: link.shared.label.clone(),
            current: Watched::new(CurrentLink { link, child, phase: Phase::Open }),
            connector,
            closed: Arc::default(),
            clock: Clock::new(),
            budget: Mutex::default(),
            callbacks: Mutex::default(),
        })
    }

    pub(crate) fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    pub(crate) fn link(&self) -> Arc<Link<Machine>> {
        Arc::clone(&self.current.lock().link)
    }

    pub(crate) fn child(&self) -> Option<Arc<Child>> {
        self.current.lock().child.clone()
    }

    pub(crate) const fn connector(&self) -> Option<&Arc<Connector>> {
        self.connector.as_ref()
    }

    /// Starts closing the connection, which is not recovered any more.
    pub(crate) fn close(&self) {
        self.closed.set();
        // After the flag: a concurrent recovery that replaces the link closes it.
        let link = self.link();
        link.with(|state, now| state.connection.close(now));
        self.current.change(|_| {});
    }

    /// Returns why the connection has ended; `None` while it is open or being recovered.
    pub(crate) fn close_reason(&self) -> Option<CloseReason> {
        let link = {
            let current = self.current.lock();
            (current.phase != Phase::Recovering).then(|| Arc::clone(&current.link))
        };
        let why = link?.inspect(|state| state.connection.close_reason().cloned())?;
        let is_over = self.current.lock().phase == Phase::Over;
        (is_over || !self.recovers_from(&why)).then_some(why)
    }

    /// Waits until the connection has ended, and any recovery.
    pub(crate) async fn wait_ended(&self) {
        loop {
            let link = self.link();
            link.wait_ended().await;
            let has_ended = self
                .current
                .when(|current| match current.phase {
                    _ if !Arc::ptr_eq(&current.link, &link) => Some(false),
                    Phase::Over => Some(true),
                    Phase::Open => (!self.may_recover()).then_some(true),
                    Phase::Recovering => None,
                })
                .await;
            if has_ended {
                return;
            }
        }
    }

    /// Waits until the connection is open.
    ///
    /// # Errors
    /// Fails with [`Error::Closed`] if it has ended.
    pub(crate) async fn open(&self) -> Result<(), Error> {
        let is_open = |current: &mut CurrentLink| {
            let is_closed = current.link.inspect(|state| state.connection.is_closed());
            match current.phase {
                Phase::Open if !is_closed => Some(true),
                // The end is about to be handled.
                Phase::Open => (!self.may_recover()).then_some(false),
                Phase::Recovering => None,
                Phase::Over => Some(false),
            }
        };
        if self.current.when(is_open).await {
            return Ok(());
        }
        Err(Error::Closed(self.close_reason().unwrap_or(CloseReason::Local)))
    }

    /// Returns the link to send on; during a recovery, waits for the next one for at most
    /// `patience`.
    ///
    /// # Errors
    /// Fails with [`CallError::TimedOut`] if there is none in time.
    pub(crate) async fn ready(&self, patience: Duration) -> Result<Arc<Link<Machine>>, Error> {
        let ready = |current: &mut CurrentLink| {
            (current.phase != Phase::Recovering).then(|| Arc::clone(&current.link))
        };
        // Tried first without waiting: almost all calls find the link.
        let found = ready(&mut self.current.lock());
        match found {
            Some(link) => Ok(link),
            None => self.within(patience, self.current.when(ready)).await,
        }
    }

    /// Returns the link after `closed`, on which a command has found the connection closed; `None`
    /// if none follows.
    ///
    /// # Errors
    /// Fails with [`CallError::TimedOut`] if that is not known after `patience`.
    pub(crate) async fn after(
        &self,
        closed: &Arc<Link<Machine>>,
        patience: Duration,
    ) -> Result<Option<Arc<Link<Machine>>>, Error> {
        if !self.may_recover() {
            return Ok(None);
        }
        let next = self.current.when(|current| match current.phase {
            Phase::Over => Some(None),
            _ if self.closed.is_set() => Some(None),
            Phase::Open if !Arc::ptr_eq(&current.link, closed) => {
                Some(Some(Arc::clone(&current.link)))
            }
            Phase::Open | Phase::Recovering => None,
        });
        self.within(patience, next).await
    }

    async fn within<T>(
        &self,
        patience: Duration,
        ready: impl Future<Output = T>,
    ) -> Result<T, Error> {
        let late = async {
            match &self.connector {
                Some(connector) => connector.target.runtime().sleep(patience).await,
                None => std::future::pending().await,
            }
            Err(CallError::TimedOut.into())
        };
        or(async { Ok(ready.await) }, late).await
    }

    fn may_recover(&self) -> bool {
        let is_on = |connector: &Arc<Connector>| !connector.connection.recovery.is_off();
        self.connector.as_ref().is_some_and(is_on) && !self.closed.is_set()
    }

    /// Returns the next attempt; `None` if there were too many.
    pub(super) fn next_retry(&self, recovery: &Recovery) -> Option<Retry> {
        lock(&self.budget).next(recovery, self.clock.now())
    }

    /// Declares that `link` reports its end to this slot, and reports that it is open.
    pub(crate) fn attach(self: &Arc<Self>, link: &Arc<Link<Machine>>) {
        // First: without an owner, the link cannot report its end yet.
        self.report(link, ConnectionState::Connected);
        let owner: Arc<dyn LinkOwner> = Arc::clone(self) as _;
        let closed = {
            let mut state = link.lock();
            state.role.owner = Some(Arc::downgrade(&owner));
            state.role.closed.clone()
        };
        if let Some(why) = closed {
            Arc::clone(self).on_closed(link, &why);
        }
    }

    /// Ends the subscriptions that wait for another link.
    pub(super) fn lose_feeds(&self) {
        if let Some(connector) = &self.connector {
            connector.feeds().iter().for_each(|feed| feed.lost());
        }
    }

    /// Reports a state to the application.
    pub(super) fn report(self: &Arc<Self>, link: &Arc<Link<Machine>>, state: ConnectionState) {
        let Some(callback) = link.shared.callbacks.on_connection_state.clone() else { return };
        let cx = ClientCx::of_connection(link, None);
        let job = Box::new(move || callback(&state, &cx));
        if lock(&self.callbacks).push(0, job) {
            let slot = Arc::clone(self);
            let lane = std::ptr::from_ref(&**self).addr();
            link.shared.callback_threads.run(lane, move || slot.run_callbacks());
        }
    }

    fn run_callbacks(&self) {
        loop {
            let next = lock(&self.callbacks).pop();
            let Some(callback) = next else { return };
            let _panicked = catch_unwind(AssertUnwindSafe(callback));
        }
    }
}

impl LinkOwner for LinkSlot {
    fn on_closed(self: Arc<Self>, link: &Arc<Link<Machine>>, why: &CloseReason) -> bool {
        let recovers = self.recovers_from(why);
        let mut is_handled = true;
        self.current.change(|current| {
            if current.phase == Phase::Open && Arc::ptr_eq(&current.link, link) {
                current.phase = if recovers { Phase::Recovering } else { Phase::Over };
                is_handled = false;
            }
        });
        if is_handled {
            return self.current.lock().phase != Phase::Over;
        }
        if *why != CloseReason::Local {
            self.report(link, ConnectionState::Lost { reason: why.clone() });
        }
        if recovers {
            self.start_recovery(link, why);
        } else {
            self.lose_feeds();
        }
        recovers
    }

    fn recovers_from(&self, why: &CloseReason) -> bool {
        is_recoverable(why) && self.may_recover()
    }

    fn resume_stream(self: Arc<Self>, feed: &Arc<Feed>) -> bool {
        self.start_stream_again(feed)
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
