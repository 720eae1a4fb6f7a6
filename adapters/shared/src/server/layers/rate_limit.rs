//! A layer that limits the rate of requests of a client.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mcp_proto::{ErrorObject, Instant, Principal};
use serde_json::json;

use super::incoming::Incoming;
use super::layer::{Layer, Next};
use super::response::Response;
use crate::box_future::BoxFuture;
use crate::exec::clock::Clock;

/// The code of the error for requests that exceed a [`RateLimit`] or a
/// [`ConcurrencyLimit`](super::ConcurrencyLimit): `-32010`.
///
/// The error's `data` has a member `retryAfterMs`, the advised delay in milliseconds.
pub const LIMIT_EXCEEDED: i64 = -32010;

/// Limits the rate of requests of each principal, over all connections of the server.
///
/// Each principal has a token bucket: it starts full and refills steadily, and each request takes a
/// token. A request that finds the bucket empty is refused with the error [`LIMIT_EXCEEDED`], which
/// says when to try again. All requests that pass through layers count, also those for lists and
/// subscriptions: a client usually lists again after a notification. Requests without an
/// authenticated sender, as over stdio, share one bucket. Connections of
/// [`ManualServer`](crate::ManualServer)s have separate buckets, which follow the time that the
/// program passes in; use one clock for all of them.
///
/// The layer remembers at most 10,000 principals with buckets that are not full, in about 1 MB;
/// [`principals_max`](Self::principals_max) changes this number. Principals beyond it share one
/// bucket.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use std::time::Duration;
///
/// use mcp_tokio::Server;
/// use mcp_tokio::layers::RateLimit;
///
/// let server = Server::new("weather", "1.0.0")
///     .layer(RateLimit::new(600, Duration::from_secs(60)).burst(20));
/// # drop(server);
/// ```
#[derive(Debug)]
pub struct RateLimit {
    requests: u32,
    per: Duration,
    burst: u32,
    principals_max: usize,
    clock: Clock,
    buckets: Mutex<Buckets>,
    /// The buckets for requests of connections that the program drives by hand, whose time is what
    /// the program says.
    manual_buckets: Mutex<Buckets>,
}

impl RateLimit {
    /// Creates a layer that accepts `requests` requests in `per`, on average. The minimum of
    /// `requests` is 1.
    #[must_use]
    pub fn new(requests: u32, per: Duration) -> Self {
        let requests = requests.max(1);
        Self {
            requests,
            per,
            burst: requests,
            principals_max: 10_000,
            clock: Clock::new(),
            buckets: Mutex::default(),
            manual_buckets: Mutex::default(),
        }
    }

    /// Sets the capacity of each bucket: how many requests may arrive in quick succession. Default:
    /// the number of requests passed to [`new`](Self::new), minimum: 1.
    #[must_use]
    pub fn burst(mut self, burst: u32) -> Self {
        self.burst = burst.max(1);
        self
    }

    /// Sets how many principals have their own buckets. Default: 10,000.
    #[must_use]
    pub const fn principals_max(mut self, principals_max: usize) -> Self {
        self.principals_max = principals_max;
        self
    }

    fn rate(&self) -> Rate {
        let interval = (self.per / self.requests).clamp(INTERVAL_MIN, CAPACITY_MAX);
        let capacity = interval.saturating_mul(self.burst).min(CAPACITY_MAX);
        Rate { interval, capacity, principals_max: self.principals_max }
    }
}

impl Layer for RateLimit {
    fn call(&self, request: Incoming, next: Next) -> BoxFuture<'static, Response> {
        let clock = &request.cx().request.link.clock;
        let (buckets, now) = if clock.is_manual() {
            (&self.manual_buckets, clock.now())
        } else {
            (&self.buckets, self.clock.now())
        };
        let mut buckets = buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = buckets.take(request.principal(), now, self.rate());
        drop(buckets);
        match taken {
            Ok(()) => Box::pin(next.run(request)),
            Err(retry_after) => {
                let Self { requests, per, burst, .. } = self;
                let what =
                    format!("requests are limited to {requests} in {per:?}, {burst} together");
                let response = refusal(&what, retry_after);
                Box::pin(async { response })
            }
        }
    }
}

/// Returns the error for a request that exceeds a limit.
pub(super) fn refusal(what: &str, retry_after: Duration) -> Response {
    // Rounded up: a client that waits for exactly this time must succeed.
    let millis = retry_after.as_nanos().div_ceil(1_000_000);
    let message = format!("limit exceeded: {what}; retry in {millis} ms");
    let error = ErrorObject::new(LIMIT_EXCEEDED, message);
    error.with_data(json!({"retryAfterMs": u64::try_from(millis).unwrap_or(u64::MAX)})).into()
}

/// The shortest time in which a bucket gains a token: with none, there would be no limit.
const INTERVAL_MIN: Duration = Duration::from_nanos(1);

/// The longest time in which a bucket becomes full, about 100 years: an [`Instant`] of a connection
/// can reach more than twice as far.
const CAPACITY_MAX: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

#[derive(Clone, Copy)]
struct Rate {
    /// The time in which a bucket gains one token.
    interval: Duration,
    /// The time in which an empty bucket becomes full.
    capacity: Duration,
    principals_max: usize,
}

/// The token buckets of principals. A bucket is the time at which it will be full again.
#[derive(Debug, Default)]
struct Buckets {
    by_principal: HashMap<Option<Principal>, Instant>,
    /// The bucket shared by principals that did not fit into the table.
    shared: Instant,
    /// The latest time so far: each connection that is driven by hand has its own time.
    latest: Instant,
    /// When full buckets are looked for again.
    next_sweep: Instant,
}

impl Buckets {
    /// Takes a token.
    ///
    /// # Errors
    /// Returns the time until there is one.
    fn take(
        &mut self,
        principal: Option<&Principal>,
        now: Instant,
        rate: Rate,
    ) -> Result<(), Duration> {
        self.latest = self.latest.max(now);
        let (principal, now) = (principal.cloned(), self.latest);
        let is_full = self.by_principal.len() >= rate.principals_max;
        if is_full && now >= self.next_sweep && !self.by_principal.contains_key(&principal) {
            // A full bucket needs no memory. Not each time, because it takes a look at all of them.
            self.by_principal.retain(|_, full_at| *full_at > now);
            self.next_sweep = now + rate.interval.max(rate.capacity / 16);
        }
        let has_room = self.by_principal.len() < rate.principals_max;
        let bucket = match self.by_principal.get_mut(&principal) {
            Some(bucket) => bucket,
            None if has_room => self.by_principal.entry(principal).or_insert(now),
            None => &mut self.shared,
        };
        let full_at = (*bucket).max(now) + rate.interval;
        let missing = full_at.duration_since(now + rate.capacity);
        if missing.is_zero() {
            *bucket = full_at;
            Ok(())
        } else {
            Err(missing)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mcp_proto::{Instant, Principal};

    use super::{Buckets, Rate, RateLimit};

    const SECOND: Duration = Duration::from_secs(1);
    const RATE: Rate =
        Rate { interval: SECOND, capacity: Duration::from_secs(3), principals_max: 2 };

    fn at(seconds: u64) -> Instant {
        Instant::from_millis(seconds * 1000)
    }

    #[test]
    fn a_bucket_starts_full_and_refills_steadily() {
        let mut buckets = Buckets::default();
        let mut take = |now| buckets.take(None, now, RATE);
        assert_eq!([take(at(9)), take(at(9)), take(at(9))], [Ok(()); 3]);
        assert_eq!(take(at(9)), Err(SECOND));
        assert_eq!(take(at(9) + SECOND / 4), Err(SECOND * 3 / 4));
        assert_eq!([take(at(10)), take(at(10))], [Ok(()), Err(SECOND)]);
        // However long it waits, it holds three tokens.
        let times = [at(100); 4];
        assert_eq!(times.map(&mut take), [Ok(()), Ok(()), Ok(()), Err(SECOND)]);
    }

    #[test]
    fn principals_do_not_take_the_tokens_of_others() {
        let mut buckets = Buckets::default();
        let (ada, bob) = (Principal::new("ada"), Principal::new("bob"));
        for _ in 0..3 {
            buckets.take(ada.as_ref(), at(1), RATE).unwrap();
        }
        assert!(buckets.take(ada.as_ref(), at(1), RATE).is_err());
        assert!(buckets.take(bob.as_ref(), at(1), RATE).is_ok());
    }

    #[test]
    fn the_table_is_bounded_and_forgets_full_buckets_only() {
        let mut buckets = Buckets::default();
        let user = |n: usize| Principal::new(format!("user {n}"));
        let mut accepted = 0;
        for n in 0..1000 {
            accepted += usize::from(buckets.take(user(n).as_ref(), at(1), RATE).is_ok());
            assert!(buckets.by_principal.len() <= RATE.principals_max);
        }
        // Two with their own buckets, and the three tokens of the shared bucket.
        assert_eq!(accepted, 2 + 3);
        assert!(buckets.take(user(0).as_ref(), at(1), RATE).is_ok());
        // The first two are full again and make room.
        assert!(buckets.take(user(7).as_ref(), at(5), RATE).is_ok());
        assert_eq!(buckets.by_principal.len(), 1);
        assert_eq!(buckets.by_principal.keys().next().unwrap(), &user(7));
    }

    #[test]
    fn full_buckets_make_room_long_before_an_empty_one_is_full() {
        // One token in an hour, and a hundred together: 100 hours to fill a bucket.
        let hour = SECOND * 3600;
        let limit = RateLimit::new(1, hour).burst(100).principals_max(50);
        let mut buckets = Buckets::default();
        let user = |n: u64| Principal::new(format!("user {n}"));
        for n in 0..1000 {
            let _shared_is_empty = buckets.take(user(n).as_ref(), at(0), limit.rate());
        }
        assert_eq!(buckets.by_principal.len(), 50);
        // The sweep at this time keeps all buckets: they lack a token.
        assert!(buckets.take(user(2000).as_ref(), at(60), limit.rate()).is_err());
        // All are full again after an hour; the next sweep is due after a sixteenth of 100 hours.
        let later = at(60) + hour * 100 / 16;
        assert_eq!(buckets.take(user(3000).as_ref(), later, limit.rate()), Ok(()));
        assert_eq!(buckets.by_principal.len(), 1);
    }

    #[test]
    fn extreme_rates_are_limits() {
        let (none, max) = (Duration::ZERO, Duration::MAX);
        for (requests, per, burst) in [
            (1, max, 1),
            (1, max, 2),
            (1, max, u32::MAX),
            (u32::MAX, max, u32::MAX),
            (u32::MAX, SECOND, 2),
            (3, Duration::from_nanos(2), 2),
            (1, none, 2),
            (0, none, 0),
        ] {
            let rate = RateLimit::new(requests, per).burst(burst).rate();
            assert!(rate.interval > none && rate.capacity >= rate.interval, "{per:?} {burst}");
            let mut buckets = Buckets::default();
            let mut take = || buckets.take(None, at(1), rate);
            assert_eq!(take(), Ok(()));
            // As many as a bucket holds, and then none.
            let rest = rate.capacity.as_nanos() / rate.interval.as_nanos() - 1;
            if rest < 10 {
                (0..rest).for_each(|_| take().unwrap());
                assert!(take().is_err(), "{requests} in {per:?}, {burst} together");
            }
        }
    }
}
