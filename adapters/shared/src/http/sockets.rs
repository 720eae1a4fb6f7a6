//! The open connections of a listening server: their limits, and which to close to make room.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize};
use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
#[cfg(feature = "http2")]
use std::time::{Duration, Instant};

use event_listener::Event;

use super::budget::{AddressShare, Counters, PeerAddress, Rejection};
use super::idle_timer::Activity;
#[cfg(feature = "http2")]
use crate::BoxFuture;

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
    open: BTreeMap<u64, Arc<SocketState>>,
    next: u64,
    /// All connections, including those that are about to be closed or that are being refused.
    driven: usize,
    /// The connections that are being refused, by number.
    refused: BTreeMap<u64, Arc<SocketState>>,
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
    /// At once.
    Abort = 2,
}

/// A connection in its table, which it leaves when dropped.
#[derive(Debug)]
pub(super) struct OpenSocket {
    sockets: Arc<Sockets>,
    state: Arc<SocketState>,
    number: u64,
    pub(super) rejection: Option<Rejection>,
    _address: Option<AddressShare>,
    #[cfg(feature = "http2")]
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
    #[cfg(feature = "http2")]
    stream: Option<StreamPlace>,
}

/// What an HTTP/2 connection needs to count its streams.
#[cfg(feature = "http2")]
#[derive(Debug)]
struct StreamActivity {
    network: Option<IpAddr>,
    opened: Instant,
    /// When the last request ended, in milliseconds since `opened`.
    ended: Arc<AtomicU64>,
}

/// The place of an HTTP/2 stream in the limits of connections.
#[cfg(feature = "http2")]
#[derive(Debug)]
struct StreamPlace {
    opened: Instant,
    ended: Arc<AtomicU64>,
    /// `None` if the connection had no other request in flight.
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

    /// Adds a connection. If the table is full, connections that have been idle for longest make
    /// room.
    ///
    /// If a limit is reached nevertheless, the connection must be answered with its
    /// [rejection](OpenSocket::rejection). Returns `None` if too many are being answered so.
    ///
    /// A connection without an address is not limited by address.
    pub(super) fn admit(self: &Arc<Self>, address: Option<IpAddr>) -> Option<OpenSocket> {
        let by_address = &self.counters.connections_by_address;
        let network = address.map(|address| PeerAddress(address).network());
        let place = by_address.take(network, self.per_address_max);
        let state = Arc::new(SocketState::default());
        self.idle(&state);
        let mut table = self.lock();
        let is_full = self.is_full(&table);
        let rejection = match &place {
            None => Some(Rejection::Address),
            Some(_) if is_full && !self.make_room(&mut table) => Some(Rejection::Service),
            Some(_) => None,
        };
        if let Some(rejection) = rejection {
            self.counters.refuse(rejection);
            if table.refused.len() >= REFUSED_MAX {
                return None;
            }
        }
        let number = table.next;
        table.next += 1;
        table.driven += 1;
        let SocketTable { open, refused, .. } = &mut *table;
        let kind = if rejection.is_none() { open } else { refused };
        kind.insert(number, Arc::clone(&state));
        drop(table);
        self.counters.connections.fetch_add(1, Relaxed);
        let _address = if rejection.is_none() { place } else { None };
        Some(OpenSocket {
            sockets: Arc::clone(self),
            state,
            number,
            rejection,
            _address,
            #[cfg(feature = "http2")]
            activity: StreamActivity { network, opened: Instant::now(), ended: Arc::default() },
        })
    }

    fn is_full(&self, table: &SocketTable) -> bool {
        table.open.len().saturating_add(self.streams.load(Relaxed)) >= self.connections_max
    }

    /// Closes the connections that have been idle for longest: at least one and at most a
    /// hundredth, because finding them takes time linear in their number. Returns false if all are
    /// busy.
    fn make_room(&self, table: &mut SocketTable) -> bool {
        let mut idle: Vec<(u64, u64)> = table
            .open
            .iter()
            .filter(|(_, state)| state.in_flight.load(SeqCst) == 0)
            .map(|(number, state)| (state.idle_since.load(Relaxed), *number))
            .collect();
        let count = (self.connections_max / 100).max(1).min(idle.len());
        if count == 0 {
            return false;
        }
        idle.select_nth_unstable(count - 1);
        for (_, number) in idle.iter().take(count) {
            if let Some(state) = table.open.remove(number) {
                state.end(SocketEnd::Graceful);
                self.counters.connections_evicted.fetch_add(1, Relaxed);
            }
        }
        true
    }

    /// Ends all connections.
    pub(super) fn end_all(&self, end: SocketEnd) {
        let table = self.lock();
        table.open.values().chain(table.refused.values()).for_each(|state| state.end(end));
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
            #[cfg(feature = "http2")]
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
    #[cfg(feature = "http2")]
    pub(super) fn begin_stream(&self, streams_max: usize) -> Result<RequestInFlight, Rejection> {
        let sockets = &self.sockets;
        let mut in_flight = self.begin();
        let others = self.state.in_flight.load(SeqCst).saturating_sub(1);
        let counted = if others == 0 {
            None
        } else {
            let place = if others < streams_max.saturating_mul(2) {
                let by_address = &sockets.counters.connections_by_address;
                by_address.take(self.activity.network, sockets.per_address_max)
            } else {
                None
            };
            let place = place.ok_or(Rejection::Address);
            let place = place.inspect_err(|rejection| sockets.counters.refuse(*rejection))?;
            let mut table = sockets.lock();
            if sockets.is_full(&table) && !sockets.make_room(&mut table) {
                sockets.counters.refuse(Rejection::Service);
                return Err(Rejection::Service);
            }
            sockets.streams.fetch_add(1, Relaxed);
            drop(table);
            Some(place)
        };
        let StreamActivity { opened, ended, .. } = &self.activity;
        in_flight.stream = Some(StreamPlace { opened: *opened, ended: Arc::clone(ended), counted });
        Ok(in_flight)
    }

    /// Waits until the connection has had no request in flight for `idle_max`.
    #[cfg(feature = "http2")]
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

    /// Records that a request was answered before its body was read.
    pub(super) fn left_body(&self) {
        self.0.has_rest.store(true, Relaxed);
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

impl Drop for RequestInFlight {
    fn drop(&mut self) {
        self.sockets.idle(&self.state);
        #[cfg(feature = "http2")]
        if let Some(StreamPlace { opened, ended, counted }) = &self.stream {
            let millis = u64::try_from(opened.elapsed().as_millis()).unwrap_or(u64::MAX);
            ended.fetch_max(millis, SeqCst);
            if counted.is_some() {
                self.sockets.streams.fetch_sub(1, Relaxed);
            }
        }
        self.state.in_flight.fetch_sub(1, SeqCst);
    }
}

/// The shortest idle time of an HTTP/2 connection.
#[cfg(feature = "http2")]
const IDLE_MIN: Duration = Duration::from_millis(10);

/// The number of connections that are answered with a rejection at a time. Further ones are closed
/// without an answer.
const REFUSED_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use futures_lite::future::{block_on, poll_once};

    use super::*;

    fn sockets(connections_max: usize, per_address_max: usize) -> Arc<Sockets> {
        Sockets::new(Arc::default(), connections_max, per_address_max)
    }

    fn admit(sockets: &Arc<Sockets>, host: u8) -> OpenSocket {
        sockets.admit(Some(IpAddr::V4(Ipv4Addr::new(10, 0, 0, host)))).unwrap()
    }

    fn is_ended(socket: &OpenSocket) -> bool {
        block_on(poll_once(socket.ends(SocketEnd::Graceful))).is_some()
    }

    #[test]
    fn the_longest_idle_connection_makes_room() {
        let sockets = sockets(3, 9);
        let (first, second, third) = (admit(&sockets, 1), admit(&sockets, 2), admit(&sockets, 3));
        first.state.idle_since.store(30, Relaxed);
        second.state.idle_since.store(20, Relaxed);
        third.state.idle_since.store(10, Relaxed);
        let busy = third.begin();
        let fourth = admit(&sockets, 4);
        assert_eq!(fourth.rejection, None);
        assert_eq!([&first, &second, &third, &fourth].map(is_ended), [false, true, false, false]);
        drop(busy);
        let idle_since = |socket: &OpenSocket| socket.state.idle_since.load(Relaxed);
        assert!(idle_since(&third) > idle_since(&fourth), "idle from now on");
    }

    #[test]
    fn a_head_begins_with_bytes_on_an_idle_connection() {
        let sockets = sockets(2, 9);
        let socket = admit(&sockets, 1);
        let meter = socket.meter();
        assert_eq!(socket.activity(), Activity::Opening);
        meter.received();
        assert_eq!(socket.activity(), Activity::Opening);
        let request = socket.begin();
        meter.received();
        assert_eq!(socket.activity(), Activity::Busy);
        drop(request);
        let idle = socket.activity();
        assert!(matches!(idle, Activity::Idle(_)), "{idle:?}");
        assert_eq!(socket.activity(), idle);
        meter.received();
        assert_eq!(socket.activity(), Activity::Head);
        drop(socket.begin());
        meter.set_writing(true);
        assert_eq!(socket.activity(), Activity::Busy, "the client has not read the response");
        meter.set_writing(false);
        let next = socket.activity();
        assert!(matches!(next, Activity::Idle(_)) && next != idle, "{next:?} after {idle:?}");
    }

    #[test]
    fn the_rest_of_a_refused_body_is_no_head() {
        let sockets = sockets(2, 9);
        let socket = admit(&sockets, 1);
        let meter = socket.meter();
        let request = socket.begin();
        meter.left_body();
        drop(request);
        let idle = socket.activity();
        assert!(matches!(idle, Activity::Idle(_)), "{idle:?}");
        meter.received();
        assert_eq!(socket.activity(), idle);
        drop(socket.begin());
        meter.received();
        assert_eq!(socket.activity(), Activity::Head);
    }

    #[test]
    fn a_connection_is_refused_if_all_others_are_busy() {
        let sockets = sockets(2, 9);
        let open = [admit(&sockets, 1), admit(&sockets, 2)];
        let _busy = open.each_ref().map(OpenSocket::begin);
        let refused = admit(&sockets, 3);
        assert_eq!(refused.rejection, Some(Rejection::Service));
        assert!(!open.iter().any(is_ended));
        drop(open);
        assert_eq!(admit(&sockets, 3).rejection, None);
    }

    #[test]
    fn an_address_beyond_its_limit_is_refused_and_evicts_none() {
        let sockets = sockets(9, 1);
        let open = admit(&sockets, 1);
        assert_eq!(admit(&sockets, 1).rejection, Some(Rejection::Address));
        assert_eq!(admit(&sockets, 2).rejection, None);
        assert!(!is_ended(&open));
        drop(open);
        assert_eq!(admit(&sockets, 1).rejection, None);
    }

    #[test]
    fn connections_without_an_address_count_only_in_the_whole() {
        let sockets = sockets(2, 1);
        let open = [sockets.admit(None).unwrap(), sockets.admit(None).unwrap()];
        let _busy: Vec<_> = open.iter().map(OpenSocket::begin).collect();
        assert!(open.iter().all(|open| open.rejection.is_none()));
        assert_eq!(sockets.admit(None).unwrap().rejection, Some(Rejection::Service));
    }

    #[cfg(feature = "http2")]
    #[test]
    fn each_stream_beyond_the_first_counts_like_a_connection() {
        let sockets = sockets(4, 3);
        let open = admit(&sockets, 1);
        let first = open.begin_stream(9).unwrap();
        let second = open.begin_stream(9).unwrap();
        let other = admit(&sockets, 1);
        assert_eq!(open.begin_stream(9).unwrap_err(), Rejection::Address);
        assert_eq!(admit(&sockets, 1).rejection, Some(Rejection::Address));
        let elsewhere = admit(&sockets, 2);
        let busy = [elsewhere.begin_stream(9).unwrap(), other.begin_stream(9).unwrap()];
        assert_eq!(elsewhere.begin_stream(9).unwrap_err(), Rejection::Service);
        drop((second, busy));
        let more = [elsewhere.begin_stream(1).unwrap(), elsewhere.begin_stream(1).unwrap()];
        assert_eq!(elsewhere.begin_stream(1).unwrap_err(), Rejection::Address, "two at a time");
        drop((first, more, open, other, elsewhere));
        assert_eq!(sockets.streams.load(Relaxed), 0);
    }

    #[test]
    fn the_number_of_refusals_in_progress_is_bounded() {
        let sockets = sockets(9, 0);
        let refused: Vec<_> = (0..REFUSED_MAX).map(|_| admit(&sockets, 1)).collect();
        assert!(sockets.admit(Some(IpAddr::V4(Ipv4Addr::LOCALHOST))).is_none());
        drop(refused);
        assert!(sockets.admit(Some(IpAddr::V4(Ipv4Addr::LOCALHOST))).is_some());
    }

    #[test]
    fn ending_all_includes_connections_that_are_being_refused() {
        let sockets = sockets(9, 0);
        let refused = admit(&sockets, 1);
        assert_eq!(refused.rejection, Some(Rejection::Address));
        assert!(!is_ended(&refused));
        sockets.end_all(SocketEnd::Graceful);
        assert!(is_ended(&refused));
    }

    #[test]
    fn aborting_ends_all_and_waiting_ends_with_the_last() {
        let sockets = sockets(9, 9);
        let open = admit(&sockets, 1);
        assert!(block_on(poll_once(sockets.all_closed())).is_none());
        assert!(block_on(poll_once(open.ends(SocketEnd::Abort))).is_none());
        sockets.end_all(SocketEnd::Abort);
        assert!(block_on(poll_once(open.ends(SocketEnd::Abort))).is_some());
        drop(open);
        assert!(block_on(poll_once(sockets.all_closed())).is_some());
    }
}
