//! A layer that limits how many requests of a client are in progress.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_proto::Principal;

use super::incoming::Incoming;
use super::layer::{Layer, Next};
use super::rate_limit::refusal;
use super::response::Response;
use crate::box_future::BoxFuture;

/// Limits how many requests of each principal are in progress at a time, over all connections of
/// the server.
///
/// A request beyond the limit is refused with the error [`LIMIT_EXCEEDED`](super::LIMIT_EXCEEDED).
/// Requests without an authenticated sender, as over stdio, share one count.
///
/// A function that keeps running after its request was cancelled or timed out still counts.
///
/// Takes memory only for principals with requests in progress.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::Server;
/// use mcp_tokio::layers::ConcurrencyLimit;
///
/// let server = Server::new("weather", "1.0.0").layer(ConcurrencyLimit::new(16));
/// # drop(server);
/// ```
#[derive(Debug)]
pub struct ConcurrencyLimit {
    max: usize,
    running: Arc<RunningRequests>,
}

impl ConcurrencyLimit {
    /// Creates a layer that accepts `max` requests of each principal at a time.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Self { max, running: Arc::default() }
    }
}

impl Layer for ConcurrencyLimit {
    fn call(&self, request: Incoming, next: Next) -> BoxFuture<'static, Response> {
        let Some(permit) = self.running.begin(request.principal(), self.max) else {
            let what = format!("more than {} requests are in progress", self.max);
            let response = refusal(&what, RETRY_AFTER);
            return Box::pin(async { response });
        };
        Box::pin(async move {
            let _permit = permit;
            next.run(request).await
        })
    }
}

/// The advised delay: when a request will end is not known.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The number of requests in progress, by principal.
#[derive(Debug, Default)]
struct RunningRequests(Mutex<HashMap<Option<Principal>, usize>>);

impl RunningRequests {
    fn begin(self: &Arc<Self>, principal: Option<&Principal>, max: usize) -> Option<Permit> {
        let principal = principal.cloned();
        let mut counts = self.lock();
        let count = counts.get(&principal).copied().unwrap_or_default();
        if count >= max {
            return None;
        }
        counts.insert(principal.clone(), count + 1);
        drop(counts);
        Some(Permit { running: Arc::clone(self), principal })
    }

    fn end(&self, principal: &Option<Principal>) {
        let mut counts = self.lock();
        if let Some(count) = counts.get_mut(principal) {
            *count -= 1;
            if *count == 0 {
                counts.remove(principal);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Option<Principal>, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that counts, until it is dropped.
struct Permit {
    running: Arc<RunningRequests>,
    principal: Option<Principal>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.running.end(&self.principal);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcp_proto::Principal;

    use super::RunningRequests;

    #[test]
    fn each_principal_has_its_own_count_which_is_forgotten_at_zero() {
        let running = Arc::new(RunningRequests::default());
        let (ada, bob) = (Principal::new("ada"), Principal::new("bob"));
        let first = running.begin(ada.as_ref(), 2);
        let second = running.begin(ada.as_ref(), 2);
        assert!(first.is_some() && second.is_some());
        assert!(running.begin(ada.as_ref(), 2).is_none());
        let others = [running.begin(bob.as_ref(), 2), running.begin(None, 2)];
        assert!(others.iter().all(Option::is_some));
        drop(first);
        assert!(running.begin(ada.as_ref(), 2).is_some());
        drop((second, others));
        assert!(running.lock().is_empty());
    }
}
