//! The connections of a hub, and which of them may have events, output or a new deadline.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;

use crate::http::server::{HttpServer, ServerExchangeId};
use crate::message_endpoint::MessageEndpoint as _;
use crate::server::Event;
use crate::time::Instant;
use crate::vocabulary::Principal;

/// The id of a connection of an [`HttpHub`](super::HttpHub): of a legacy session, or of a single
/// modern request. Never reused.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct HubConnectionId(u64);

/// The id of an HTTP request and its response in an [`HttpHub`](super::HttpHub). Never reused.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct HubExchangeId(pub(super) u64);

/// How long a connection is kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Tenure {
    /// Until its exchange is over.
    Exchange,
    /// While clients can find its session.
    Session,
    /// Until it is closed: clients cannot find its session any more.
    Closing,
}

#[derive(Debug)]
pub(super) struct HubConnection {
    pub(super) http: HttpServer,
    pub(super) tenure: Tenure,
    pub(super) principal: Option<Principal>,
    pub(super) exchanges: BTreeMap<ServerExchangeId, HubExchangeId>,
    /// Its output and deadline may have changed.
    is_touched: bool,
    /// It may have events.
    has_events: bool,
    /// Its deadline in `Connections::deadlines`.
    deadline: Option<Instant>,
    /// The bytes of the description of its client, which last as long as the session.
    description: usize,
    /// Its part of `Connections::usage`.
    usage: Usage,
}

/// Bytes that connections hold because of their clients.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// All of them.
    pub(super) bytes: usize,
    /// Those of sessions without their requests.
    pub(super) sessions: usize,
}

impl Usage {
    const fn plus(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, sessions: self.sessions + other.sessions }
    }

    const fn minus(self, part: Self) -> Self {
        Self { bytes: self.bytes - part.bytes, sessions: self.sessions - part.sessions }
    }
}

impl HubConnection {
    fn usage(&mut self) -> Usage {
        let usage = self.http.usage();
        // The driver polls the events of a closing one next, which frees it.
        let description = if self.tenure == Tenure::Session { self.description } else { 0 };
        let sessions = usage.session + description;
        Usage { bytes: usage.requests + sessions, sessions }
    }
}

/// Connections by id.
#[derive(Debug, Default)]
pub(super) struct Connections {
    /// Boxed: a tree moves its values.
    open: BTreeMap<HubConnectionId, Box<HubConnection>>,
    touched: VecDeque<HubConnectionId>,
    with_events: VecDeque<HubConnectionId>,
    deadlines: BTreeSet<(Instant, HubConnectionId)>,
    usage: Usage,
    next: u64,
}

impl Connections {
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Returns the bytes that all connections hold because of their clients.
    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    pub(super) fn insert(
        &mut self,
        http: HttpServer,
        tenure: Tenure,
        principal: Option<Principal>,
        description: usize,
    ) -> HubConnectionId {
        let id = HubConnectionId(self.next);
        self.next += 1;
        let connection = HubConnection {
            http,
            tenure,
            principal,
            exchanges: BTreeMap::new(),
            is_touched: false,
            has_events: false,
            deadline: None,
            description,
            usage: Usage::default(),
        };
        self.open.insert(id, Box::new(connection));
        self.touch(id);
        id
    }

    /// Returns a connection whose events, output or deadline the caller may change.
    pub(super) fn touch(&mut self, id: HubConnectionId) -> Option<&mut HubConnection> {
        let connection = self.open.get_mut(&id)?;
        if !core::mem::replace(&mut connection.is_touched, true) {
            self.touched.push_back(id);
        }
        if !core::mem::replace(&mut connection.has_events, true) {
            self.with_events.push_back(id);
        }
        Some(connection)
    }

    pub(super) fn ids(&self) -> Vec<HubConnectionId> {
        self.open.keys().copied().collect()
    }

    /// Returns the connections of a principal.
    pub(super) fn ids_of(&self, principal: &Principal) -> Vec<HubConnectionId> {
        let of_it = self.open.iter().filter(|(_, it)| it.principal.as_ref() == Some(principal));
        of_it.map(|(id, _)| *id).collect()
    }

    /// Returns whether a session must not count as idle.
    pub(super) fn is_busy(&mut self, id: HubConnectionId) -> bool {
        self.open.get_mut(&id).is_some_and(|connection| connection.http.is_busy())
    }

    /// Removes and returns the oldest event of the next connection in turn.
    pub(super) fn poll_event(&mut self) -> Option<(HubConnectionId, Event)> {
        while let Some(id) = self.with_events.pop_front() {
            let Some(connection) = self.open.get_mut(&id) else { continue };
            connection.has_events = false;
            if let Some(event) = connection.http.poll_event() {
                self.touch(id);
                return Some((id, event));
            }
            self.retire(id);
        }
        None
    }

    /// Adds the exchanges of touched connections that became ready to `ready`. Returns the id of
    /// the next session that has closed.
    ///
    /// While all connections together hold more than `bytes_max`, one that has grown loses its
    /// replay buffer.
    pub(super) fn settle(
        &mut self,
        ready: &mut VecDeque<HubExchangeId>,
        bytes_max: usize,
    ) -> Option<String> {
        while let Some(id) = self.touched.pop_front() {
            let Some(connection) = self.open.get_mut(&id) else { continue };
            connection.is_touched = false;
            let others = self.usage.minus(connection.usage);
            let mut usage = connection.usage();
            if usage.bytes > connection.usage.bytes && others.bytes + usage.bytes > bytes_max {
                connection.http.drop_replays();
                usage = connection.usage();
            }
            connection.usage = usage;
            self.usage = others.plus(usage);
            while let Some(exchange) = connection.http.poll_ready() {
                ready.extend(connection.exchanges.get(&exchange));
            }
            let deadline = connection.http.poll_timeout();
            if deadline != connection.deadline {
                self.deadlines.extend(deadline.map(|at| (at, id)));
                if let Some(at) = core::mem::replace(&mut connection.deadline, deadline) {
                    self.deadlines.remove(&(at, id));
                }
            }
            let has_closed = connection.tenure == Tenure::Session && connection.http.is_closed();
            let closed = connection.http.id().filter(|_| has_closed).map(String::from);
            if has_closed {
                connection.tenure = Tenure::Closing;
            }
            self.retire(id);
            if closed.is_some() {
                return closed;
            }
        }
        None
    }

    /// Removes a connection that is over, once its events were polled.
    fn retire(&mut self, id: HubConnectionId) {
        let Some(connection) = self.open.get_mut(&id) else { return };
        if !connection.exchanges.is_empty() || connection.has_events {
            return;
        }
        let is_over = match connection.tenure {
            Tenure::Exchange => true,
            Tenure::Session => false,
            Tenure::Closing => connection.http.is_closed(),
        };
        if !is_over {
            connection.http.shrink();
            return;
        }
        self.usage = self.usage.minus(connection.usage);
        if let Some(at) = connection.deadline {
            self.deadlines.remove(&(at, id));
        }
        self.open.remove(&id);
    }

    /// Advances the time of the connections whose timeouts have expired, which must be settled.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        let due = self.deadlines.range(..=(now, HubConnectionId(u64::MAX)));
        for id in due.map(|(_, id)| *id).collect::<Vec<_>>() {
            if let Some(connection) = self.touch(id) {
                connection.http.handle_timeout(now);
            }
        }
    }

    /// Returns the earliest deadline.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let touched = self.touched.iter().filter_map(|id| self.open.get(id)?.http.poll_timeout());
        touched.chain(self.deadlines.first().map(|(at, _)| *at)).min()
    }
}
