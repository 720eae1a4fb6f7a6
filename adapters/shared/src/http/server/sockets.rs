//! The open connections of a listening server: their limits, and which to close to make room.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize};
use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
#[cfg(feature = "tls")]
use std::time::{Duration, Instant};

use event_listener::Event;

use super::budget::{AddressShare, Counters, PeerAddress, Rejection};
use super::idle_timer::Activity;
#[cfg(feature = "tls")]
use crate::box_future::BoxFuture;

/// The open connections of one listening server.
#[derive(Debug)]
pub(super) struct Sockets {
    table: Mutex<SocketTable>,
    counters: Arc<Counters>,
    connections_max: usize,
    per_address_max: usize,
    /// The number of times that a connection has become idle.
    idle_count: AtomicU64,
    /// The requests on HTTP/2 connections that count like a connection.
    streams: AtomicUsize,
    /// Notified when the last connection has closed.
    empty: Event,
}

#[derive(Debug, Default)]
struct SocketTable {
    /// The connections that are not about to be closed, by number.
    open: BTreeMap<u64, OpenEntry>,
    next: u64,
    /// All connections, including those that are about to be closed or that are being refused.
    driven: usize,
    /// The connections that are being refused, by number.
    refused: BTreeMap<u64, Arc<SocketState>>,
}

/// An open connection in the table.
#[derive(Debug)]
struct OpenEntry {
    state: Arc<SocketState>,
    network: Option<IpAddr>,
    /// Its place in the limit of its address.
    _place: AddressShare,
}

/// The state of a connection, shared by its task and the table.
#[derive(Debug, Default)]
struct SocketState {
    in_flight: AtomicUsize,
    /// The place of the connection in the order in which connections became idle.
    idle_since: AtomicU64,
    /// A request has begun.
    is_used: AtomicBool,
    /// Bytes have arrived while no request was in flight.
    has_bytes: AtomicBool,
    /// The last request was answered before its body was read, so these bytes may be the rest of
    /// that.
    has_rest: AtomicBool,
    /// The rest is so long that hyper closes the connection instead of reading it.
    has_long_rest: AtomicBool,
    /// Bytes wait until the peer reads.
    is_writing: AtomicBool,
    shutdown: AtomicU8,
    shutdown_requested: Event,
}

/// How a connection must end.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[repr(u8)]
pub(super) enum SocketEnd {
    /// Once its request in progress is answered.
    Graceful = 1,
    /// Immediately.
    Abort = 2,
}

/// A connection in its table, which it leaves when dropped.
#[derive(Debug)]
pub(super) struct OpenSocket {
    sockets: Arc<Sockets>,
    state: Arc<SocketState>,
    number: u64,
    pub(super) rejection: Option<Rejection>,
    #[cfg(feature = "tls")]
    activity: StreamActivity,
}

/// Records the bytes on the socket of a connection.
#[derive(Debug)]
pub(super) struct SocketMeter(Arc<SocketState>);

/// A request in flight on a connection, until it is dropped.
#[derive(Debug)]
pub(super) struct RequestInFlight {
    state: Arc<SocketState>,
    sockets: Arc<Sockets>,
    #[cfg(feature = "tls")]
    stream: Option<StreamPlace>,
}

/// What an HTTP/2 connection needs to count its streams.
#[cfg(feature = "tls")]
#[derive(Debug)]
struct StreamActivity {
    network: Option<IpAddr>,
    opened: Instant,
    /// When the last request ended, in milliseconds since `opened`.
    ended: Arc<AtomicU64>,
}

/// The place of an HTTP/2 stream in the limits of connections.
#[cfg(feature = "tls")]
#[derive(Debug)]
struct StreamPlace {
    opened: Instant,
    ended: Arc<AtomicU64>,
    /// `None` if the connection had no other request in flight, or once separate limits apply to
    /// the request.
    counted: Option<AddressShare>,
}

impl Sockets {
    pub(super) fn new(
        counters: Arc<Counters>,
        connections_max: usize,
        per_address_max: usize,
    ) -> Arc<Self> {
        Arc::new(Self {
            table: Mutex::default(),
            counters,
            connections_max,
            per_address_max,
            idle_count: AtomicU64::new(0),
            streams: AtomicUsize::new(0),
            empty: Event::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, SocketTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a connection has become idle.
    fn idle(&self, state: &SocketState) {
        state.idle_since.store(self.idle_count.fetch_add(1, Relaxed), Relaxed);
    }

    /// Adds a connection. At a limit, connections that have been idle for longest make room: at the
    /// limit of the address, only those of the address.
    ///
    /// If a limit is reached nevertheless, the connection must be answered with its
    /// [rejection](OpenSocket::rejection). Returns `None` if too many are being answered so.
    ///
    /// A connection without an address is not limited by address.
    pub(super) fn admit(self: &Arc<Self>, address: Option<IpAddr>) -> Option<OpenSocket> {
        let network = address.map(|address| PeerAddress(address).network());
        let state = Arc::new(SocketState::default());
        self.idle(&state);
        let mut table = self.lock();
        let number = table.next;
        let rejection = match self.place(&mut table, network) {
            Ok(_place) => {
                let entry = OpenEntry { state: Arc::clone(&state), network, _place };
                table.open.insert(number, entry);
                None
            }
            Err(rejection) => {
                self.counters.refuse(rejection);
                if table.refused.len() >= REFUSED_MAX {
                    return None;
                }
                table.refused.insert(number, Arc::clone(&state));
                Some(rejection)
            }
        };
        table.next += 1;
        table.driven += 1;
        drop(table);
        self.counters.connections.fetch_add(1, Relaxed);
        Some(OpenSocket {
            sockets: Arc::clone(self),
            state,
            number,
            rejection,
            #[cfg(feature = "tls")]
            activity: StreamActivity { network, opened: Instant::now(), ended: Arc::default() },
        })
    }

    /// Takes a place for a connection, or for a request that counts like one.
    ///
    /// The place of an unknown address is not limited by address.
    fn place(
        &self,
        table: &mut SocketTable,
        network: Option<IpAddr>,
    ) -> Result<AddressShare, Rejection> {
        let by_address = &self.counters.connections_by_address;
        let take = || by_address.take(network, self.per_address_max);
        let place = match take() {
            None if self.make_room(table, network, self.per_address_max) => take(),
            taken => taken,
        };
        let place = place.ok_or(Rejection::Address)?;
        let held = table.open.len().saturating_add(self.streams.load(Relaxed));
        if held >= self.connections_max && !self.make_room(table, None, self.connections_max) {
            return Err(Rejection::Service);
        }
        Ok(place)
    }

    /// Closes the connections that have been idle for longest, of one network or of all: at least
    /// one and at most a hundredth of the limit `max`, because finding them takes time linear in
    /// the number of connections. Returns false if all are busy.
    fn make_room(&self, table: &mut SocketTable, of: Option<IpAddr>, max: usize) -> bool {
        let mut idle: Vec<(u64, u64)> = table
            .open
            .iter()
            .filter(|(_, entry)| of.is_none() || entry.network == of)
            .map(|(number, entry)| (&entry.state, number))
            .filter(|(state, _)| state.in_flight.load(SeqCst) == 0)
            .map(|(state, number)| (state.idle_since.load(Relaxed), *number))
            .collect();
        let count = (max / 100).max(1).min(idle.len());
        if count == 0 {
            return false;
        }
        idle.select_nth_unstable(count - 1);
        for (_, number) in idle.iter().take(count) {
            if let Some(entry) = table.open.remove(number) {
                entry.state.end(SocketEnd::Graceful);
                self.counters.connections_evicted.fetch_add(1, Relaxed);
            }
        }
        true
    }

    /// Ends all connections.
    pub(super) fn end_all(&self, end: SocketEnd) {
        let table = self.lock();
        let open = table.open.values().map(|entry| &entry.state);
        open.chain(table.refused.values()).for_each(|state| state.end(end));
    }

    /// Waits until all connections have closed.
    pub(super) async fn all_closed(&self) {
        loop {
            let empty = self.empty.listen();
            if self.lock().driven == 0 {
                return;
            }
            empty.await;
        }
    }
}

impl SocketState {
    fn end(&self, end: SocketEnd) {
        self.shutdown.fetch_max(end as u8, SeqCst);
        self.shutdown_requested.notify(usize::MAX);
    }
}

impl OpenSocket {
    /// Marks the connection as busy until the returned value is dropped.
    pub(super) fn begin(&self) -> RequestInFlight {
        self.state.in_flight.fetch_add(1, SeqCst);
        self.state.is_used.store(true, Relaxed);
        self.state.has_bytes.store(false, Relaxed);
        self.state.has_rest.store(false, Relaxed);
        RequestInFlight {
            state: Arc::clone(&self.state),
            sockets: Arc::clone(&self.sockets),
            #[cfg(feature = "tls")]
            stream: None,
        }
    }

    /// Returns a handle that records the bytes on the socket.
    pub(super) fn meter(&self) -> SocketMeter {
        SocketMeter(Arc::clone(&self.state))
    }

    /// Returns what a connection of HTTP/1.1 waits for.
    pub(super) fn activity(&self) -> Activity {
        let state = &self.state;
        if state.in_flight.load(Relaxed) > 0 || state.is_writing.load(Relaxed) {
            return Activity::Busy;
        }
        if !state.is_used.load(Relaxed) {
            return Activity::Opening;
        }
        if state.has_bytes.load(Relaxed) && !state.has_rest.load(Relaxed) {
            Activity::Head
        } else {
            Activity::Idle(state.idle_since.load(Relaxed))
        }
    }

    /// Like [`begin`](Self::begin), for a stream of an HTTP/2 connection.
    ///
    /// A request beyond the first one in flight counts like another connection. Fails if there is
    /// no room for that, or if twice `streams_max` requests of this connection are in flight:
    /// streams that have ended count until their tasks have, which takes a moment.
    #[cfg(feature = "tls")]
    pub(super) fn begin_stream(&self, streams_max: usize) -> Result<RequestInFlight, Rejection> {
        let sockets = &self.sockets;
        let mut in_flight = self.begin();
        let others = self.state.in_flight.load(SeqCst).saturating_sub(1);
        let counted = if others == 0 {
            None
        } else {
            let mut table = sockets.lock();
            let place = if others < streams_max.saturating_mul(2) {
                sockets.place(&mut table, self.activity.network)
            } else {
                Err(Rejection::Address)
            };
            let place = place.inspect_err(|rejection| sockets.counters.refuse(*rejection))?;
            sockets.streams.fetch_add(1, Relaxed);
            drop(table);
            Some(place)
        };
        let StreamActivity { opened, ended, .. } = &self.activity;
        in_flight.stream = Some(StreamPlace { opened: *opened, ended: Arc::clone(ended), counted });
        Ok(in_flight)
    }

    /// Waits until the connection has had no request in flight for `idle_max`.
    #[cfg(feature = "tls")]
    pub(super) async fn idle_for(
        &self,
        idle_max: Duration,
        sleep: impl Fn(Duration) -> BoxFuture<'static, ()>,
    ) {
        let idle_max = idle_max.max(IDLE_MIN);
        loop {
            let mut rest = idle_max;
            if self.state.in_flight.load(SeqCst) == 0 {
                let ended = Duration::from_millis(self.activity.ended.load(SeqCst));
                let idle = self.activity.opened.elapsed().saturating_sub(ended);
                rest = idle_max.saturating_sub(idle);
                if rest.is_zero() {
                    return;
                }
            }
            sleep(rest).await;
        }
    }

    /// Waits until the connection must end at least like this.
    pub(super) async fn ends(&self, end: SocketEnd) {
        loop {
            let requested = self.state.shutdown_requested.listen();
            if self.state.shutdown.load(SeqCst) >= end as u8 {
                return;
            }
            requested.await;
        }
    }

    /// Counts a connection whose client has stopped reading.
    pub(super) fn count_stall(&self) {
        self.sockets.counters.connections_stalled.fetch_add(1, Relaxed);
    }
}

impl SocketMeter {
    /// Records that bytes have arrived.
    pub(super) fn received(&self) {
        if self.0.in_flight.load(Relaxed) == 0 {
            self.0.has_bytes.store(true, Relaxed);
        }
    }

    /// Records that a request was answered before its body was read, and whether the rest is short.
    pub(super) fn left_body(&self, is_short: bool) {
        self.0.has_rest.store(true, Relaxed);
        self.0.has_long_rest.store(!is_short, Relaxed);
    }

    /// Returns whether the connection closes because of the rest of a body.
    pub(super) fn has_long_rest(&self) -> bool {
        self.0.has_long_rest.load(Relaxed)
    }

    /// Returns whether bytes may have arrived that belong to no answered request, unless the
    /// connection ends because the server wants it to.
    pub(super) fn has_unread(&self) -> bool {
        let has_bytes = self.0.has_rest.load(Relaxed) || self.0.has_bytes.load(Relaxed);
        has_bytes && self.0.shutdown.load(SeqCst) == 0
    }

    /// Records whether bytes wait until the peer reads.
    pub(super) fn set_writing(&self, is_writing: bool) {
        self.0.is_writing.store(is_writing, Relaxed);
    }
}

impl Drop for OpenSocket {
    fn drop(&mut self) {
        let mut table = self.sockets.lock();
        table.open.remove(&self.number);
        table.driven -= 1;
        table.refused.remove(&self.number);
        let is_empty = table.driven == 0;
        drop(table);
        self.sockets.counters.connections.fetch_sub(1, Relaxed);
        if is_empty {
            self.sockets.empty.notify(usize::MAX);
        }
    }
}

#[cfg(feature = "tls")]
impl RequestInFlight {
    /// Gives back the place of an HTTP/2 stream in the limits of connections.
    ///
    /// For event streams that wait for messages, which are limited otherwise: they would take the
    /// places of connections for as long as their clients like.
    pub(super) fn release_place(&mut self) {
        let counted = self.stream.as_mut().and_then(|stream| stream.counted.take());
        if counted.is_some() {
            self.sockets.streams.fetch_sub(1, Relaxed);
        }
    }
}

impl Drop for RequestInFlight {
    fn drop(&mut self) {
        self.sockets.idle(&self.state);
        #[cfg(feature = "tls")]
        {
            self.release_place();
            if let Some(StreamPlace { opened, ended, .. }) = &self.stream {
                let millis = u64::try_from(opened.elapsed().as_millis()).unwrap_or(u64::MAX);
                ended.fetch_max(millis, SeqCst);
            }
        }
        self.state.in_flight.fetch_sub(1, SeqCst);
    }
}

/// The shortest idle time of an HTTP/2 connection.
#[cfg(feature = "tls")]
const IDLE_MIN: Duration = Duration::from_millis(10);

/// The number of connections that are answered with a rejection at a time. Further ones are closed
/// without a response.
const REFUSED_MAX: usize = 64;

#[cfg(test)]
mod tests;
