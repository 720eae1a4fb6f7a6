//! The application's source of `Authorization` fields, and the fetch that requests share.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;

use crate::box_future::BoxFuture;
use crate::exec::watched::Watched;

/// A function of the application that returns `Authorization` fields.
pub(crate) type AsyncAuthorize = Arc<dyn Fn() -> BoxFuture<'static, Option<String>> + Send + Sync>;

/// The field of a request, or why there is none. An error never contains the field.
pub(super) type Field = Result<Option<HeaderValue>, &'static str>;

pub(super) const INVALID: &str =
    "the `authorization` callback panicked or returned an invalid header value";
pub(super) const LATE: &str = "the authorization took too long (`Remote::authorization_timeout`)";

/// Returns the field with this value; `None` as the outer option means a panic.
pub(super) fn field(value: Option<Option<String>>) -> Field {
    let Some(value) = value.ok_or(INVALID)? else { return Ok(None) };
    sensitive(&value).map(Some)
}

/// Returns a field that is not shown by `Debug`, and not kept by header compression.
pub(super) fn sensitive(value: &str) -> Result<HeaderValue, &'static str> {
    let mut value = HeaderValue::from_str(value).map_err(|_| INVALID)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The default of [`Remote::authorization_timeout`](super::remote::Remote::authorization_timeout).
pub(super) const AUTHORIZATION_TIMEOUT: Duration = Duration::from_secs(30);

/// Runs one fetch at a time; requests that arrive during the fetch share its outcome.
#[derive(Default)]
pub(super) struct SharedFetch(Watched<FetchState>);

#[derive(Default)]
struct FetchState {
    is_running: bool,
    /// The number of completed fetches.
    completed: u64,
    latest: Option<Field>,
}

impl SharedFetch {
    /// Returns the outcome of the fetch that is running, or of this one.
    pub(super) async fn fetch(&self, fetch: impl Future<Output = Field>) -> Field {
        let mut joined = None;
        let shared = self.0.when(|state| match joined {
            Some(completed) if state.completed > completed => Some(state.latest.clone()),
            _ if !state.is_running => {
                state.is_running = true;
                Some(None)
            }
            _ => {
                joined.get_or_insert(state.completed);
                None
            }
        });
        if let Some(shared) = shared.await {
            return shared;
        }
        let running = RunningFetch(self);
        let field = fetch.await;
        running.0.0.change(|state| {
            state.completed += 1;
            state.latest = Some(field.clone());
        });
        field
    }
}

/// Lets the next fetch start when dropped, even if this one was aborted.
struct RunningFetch<'f>(&'f SharedFetch);

impl Drop for RunningFetch<'_> {
    fn drop(&mut self) {
        self.0.0.change(|state| state.is_running = false);
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use futures_lite::future::{block_on, poll_once, zip};

    use super::{Field, SharedFetch};

    fn never() -> impl Future<Output = Field> {
        std::future::poll_fn(|_| panic!("two fetches run at a time"))
    }

    #[test]
    fn requests_share_the_fetch_that_is_running() {
        let shared = SharedFetch::default();
        let (go, goes) = async_pair();
        let first = shared.fetch(async move {
            goes.await;
            Err("first")
        });
        let both = zip(first, shared.fetch(never()));
        let mut both = Box::pin(both);
        assert!(block_on(poll_once(&mut both)).is_none());
        drop(go);
        assert_eq!(block_on(both), (Err("first"), Err("first")));
        assert_eq!(block_on(shared.fetch(ready(Err("next")))), Err("next"), "nothing is cached");
    }

    #[test]
    fn an_aborted_fetch_is_taken_over() {
        let shared = SharedFetch::default();
        let mut first = Box::pin(shared.fetch(pending()));
        assert!(block_on(poll_once(&mut first)).is_none());
        let mut second = Box::pin(shared.fetch(ready(Ok(None))));
        assert!(block_on(poll_once(&mut second)).is_none());
        drop(first);
        assert_eq!(block_on(second), Ok(None));
    }

    /// Returns a guard, and a future that is ready once the guard is dropped.
    fn async_pair() -> (impl Drop, impl Future<Output = ()>) {
        struct Guard(std::sync::Arc<crate::exec::cancellation::Cancellation>);
        impl Drop for Guard {
            fn drop(&mut self) {
                self.0.set();
            }
        }
        let flag = std::sync::Arc::new(crate::exec::cancellation::Cancellation::default());
        (Guard(std::sync::Arc::clone(&flag)), async move { flag.wait().await })
    }
}
