//! Tests of exchanges that wait for one connection over HTTP/2, in virtual time.

use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_lite::future::{block_on, poll_once};

use super::{Borrowed, Pool};
use crate::box_future::BoxFuture;
use crate::exec::watched::Watched;
use crate::exec::workers::Spawn;
use crate::http::client::remote::Remote;
use crate::http::dial::{ByteStream, Dial};

/// A network in which no server accepts a connection, and whose clock is set by hand.
#[derive(Default)]
struct Silence {
    now: Arc<Watched<Duration>>,
    /// The number of connections that were begun.
    dials: AtomicUsize,
}

impl Silence {
    fn advance(&self, time: Duration) {
        self.now.change(|now| *now += time);
    }

    fn dials(&self) -> usize {
        self.dials.load(Ordering::SeqCst)
    }
}

impl Spawn for Silence {
    fn spawn(&self, _: BoxFuture<'static, ()>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let now = Arc::clone(&self.now);
        let end = *now.lock() + duration;
        Box::pin(async move { now.when(|now| (*now >= end).then_some(())).await })
    }
}

impl Dial for Silence {
    fn resolve(&self, _: &str, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(vec![SocketAddr::from(([192, 0, 2, 1], port))]) })
    }

    fn dial(&self, _: SocketAddr) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> {
        self.dials.fetch_add(1, Ordering::SeqCst);
        Box::pin(pending())
    }
}

type Exchange<'p> = BoxFuture<'p, io::Result<Borrowed>>;

/// Polls all exchanges and removes those that fail; returns how many did.
fn failures(exchanges: &mut Vec<Exchange<'_>>) -> usize {
    let before = exchanges.len();
    exchanges.retain_mut(|exchange| match block_on(poll_once(exchange)) {
        None => true,
        Some(Err(error)) => {
            assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
            false
        }
        Some(Ok(_)) => panic!("no server accepts a connection"),
    });
    before - exchanges.len()
}

/// Returns the network, and a pool of at most `connections_max` connections over HTTP/2 in it.
fn pool(connections_max: usize) -> (Arc<Silence>, Pool) {
    let network = Arc::<Silence>::default();
    let runtime: Arc<dyn Dial> = Arc::clone(&network) as _;
    let remote = Remote::new("http://localhost/mcp").unwrap();
    let remote = remote.http2_prior_knowledge().connections_max(connections_max);
    let pool = Pool::new(remote, runtime, None).unwrap();
    (network, pool)
}

const TIMEOUT: Duration = Duration::from_secs(30);

#[test]
fn exchanges_that_waited_for_a_failed_connection_try_by_themselves_in_parallel() {
    let (network, pool) = pool(3);
    let mut exchanges: Vec<Exchange<'_>> =
        (0..5).map(|_| Box::pin(pool.borrow(None)) as Exchange<'_>).collect();
    assert_eq!((failures(&mut exchanges), network.dials()), (0, 1), "one tries for all");
    network.advance(TIMEOUT);
    assert_eq!(failures(&mut exchanges), 1);
    // As many as there may be connections.
    assert_eq!((failures(&mut exchanges), network.dials()), (0, 4));
    network.advance(TIMEOUT);
    assert_eq!((failures(&mut exchanges), network.dials()), (3, 5));
    network.advance(TIMEOUT);
    assert_eq!((failures(&mut exchanges), network.dials()), (1, 5));
}

#[test]
fn a_connection_that_is_given_up_is_left_to_one_other_exchange() {
    let (network, pool) = pool(3);
    let mut exchanges: Vec<Exchange<'_>> =
        (0..3).map(|_| Box::pin(pool.borrow(None)) as Exchange<'_>).collect();
    assert_eq!((failures(&mut exchanges), network.dials()), (0, 1));
    drop(exchanges.remove(0));
    assert_eq!((failures(&mut exchanges), network.dials()), (0, 2));
}
