//! The authentication of HTTP requests by the application.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::{or, yield_now};
use http::request::Parts;
use mcp_proto::Principal;
use mcp_proto::http::Refusal;

use super::request_head::RequestHead;
use super::runtime::HttpRuntime;
use crate::BoxFuture;
use crate::exec::callbacks::Callbacks;
use crate::exec::workers::catch_panic;

/// The outcome of an authentication.
type Authenticated = Result<Principal, Refusal>;

/// The application's decision on who sent a request.
#[derive(Clone)]
pub(super) enum Authenticator {
    Async(Arc<dyn Fn(RequestHead) -> BoxFuture<'static, Authenticated> + Send + Sync>),
    Sync(Arc<dyn Fn(&RequestHead) -> Authenticated + Send + Sync>),
}

/// The application's decision on whether a request is processed.
pub(super) type Check = Arc<dyn Fn(&Parts) -> Result<(), Refusal> + Send + Sync>;

impl Authenticator {
    pub(super) fn function(
        function: impl Fn(&RequestHead) -> Authenticated + Send + Sync + 'static,
    ) -> Self {
        Self::Sync(Arc::new(function))
    }

    pub(super) fn future<F>(function: impl Fn(RequestHead) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Authenticated> + Send + 'static,
    {
        Self::Async(Arc::new(move |head| Box::pin(function(head))))
    }

    /// Returns who sent the request with this head.
    pub(super) async fn authenticate(
        &self,
        head: &RequestHead,
        callbacks: &Callbacks,
        runtime: &Arc<dyn HttpRuntime>,
    ) -> Authenticated {
        let head = head.clone();
        let authenticated = async {
            match self {
                Self::Async(function) => {
                    // Called inside the future, where a panic is caught.
                    catch_panic(async { function(head).await }).await
                }
                Self::Sync(function) => {
                    let function = Arc::clone(function);
                    callbacks.call(move || function(&head)).await
                }
            }
            .unwrap_or_else(|| Err(Refusal::new(500, "the authentication of the request failed")))
        };
        let late = async {
            // Most credentials are known and need no timer.
            yield_now().await;
            runtime.sleep(TIMEOUT).await;
            Err(Refusal::new(503, "the authentication of the request took too long"))
        };
        or(authenticated, late).await
    }
}

/// Runs a check on a thread where it may block.
pub(super) async fn check(
    check: &Check,
    head: &RequestHead,
    callbacks: &Callbacks,
) -> Result<(), Refusal> {
    let (check, head) = (Arc::clone(check), head.clone());
    let failed = || Refusal::new(500, "the check of the request failed");
    callbacks.call(move || check(&head)).await.ok_or_else(failed)?
}

/// How long an authentication may take.
const TIMEOUT: Duration = Duration::from_secs(30);
