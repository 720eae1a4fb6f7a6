//! The authentication of HTTP requests by the application.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::{or, yield_now};
use http::request::Parts;
use mcp_proto::http::Refusal;
use mcp_proto::{Principal, Secret};

use super::authorizer::Authorizer;
use super::budget::PeerAddress;
use super::request_head::RequestHead;
use crate::box_future::BoxFuture;
use crate::exec::callbacks::Callbacks;
use crate::exec::workers::catch_panic;
use crate::http::dial::Dial;

/// The outcome of an authentication.
type Authenticated = Result<Principal, Refusal>;

/// The application's decision on who sent a request.
#[derive(Clone)]
pub(super) enum Authenticator {
    Async(Arc<dyn Fn(RequestHead) -> BoxFuture<'static, Authenticated> + Send + Sync>),
    Sync(Arc<dyn Fn(&RequestHead) -> Authenticated + Send + Sync>),
    Token(Authorizer),
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

    /// Returns what authorizes requests by their access tokens, if something does.
    pub(super) const fn authorizer(&self) -> Option<&Authorizer> {
        match self {
            Self::Token(authorizer) => Some(authorizer),
            Self::Async(_) | Self::Sync(_) => None,
        }
    }

    /// Returns who sent the request with this head and token.
    pub(super) async fn authenticate(
        &self,
        call: &HeadCall<'_>,
        token: Option<Secret>,
    ) -> Authenticated {
        let head = call.head.clone();
        head.authorization().run_on(call.runtime);
        let authenticated = async {
            match self {
                Self::Async(function) => {
                    // Called inside the future, where a panic is caught.
                    catch_panic(async { function(head).await }).await
                }
                Self::Sync(function) => {
                    let function = Arc::clone(function);
                    call.run(move || function(&head)).await
                }
                Self::Token(authorizer) => match token {
                    Some(token) => Some(authorizer.authorize(token, call.head).await),
                    None => None,
                },
            }
            .unwrap_or_else(|| Err(Refusal::new(500, "the authentication of the request failed")))
        };
        call.in_time(authenticated).await
    }
}

const LATE: &str =
    "the authentication of the request took too long (`HttpLimits::authentication_timeout`)";

/// A call of the application with the head of a request.
pub(super) struct HeadCall<'a> {
    pub(super) head: &'a RequestHead,
    pub(super) callbacks: &'a Callbacks,
    pub(super) runtime: &'a Arc<dyn Dial>,
    pub(super) timeout: Duration,
}

impl HeadCall<'_> {
    /// Runs a function on a thread where it may block. Client addresses take turns.
    async fn run<T: Send + 'static>(
        &self,
        function: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let lane = self.head.peer_address().map_or(0, PeerAddress::lane);
        self.callbacks.call(lane, function).await
    }

    /// Refuses a request whose check or authentication takes too long.
    async fn in_time<T>(
        &self,
        outcome: impl Future<Output = Result<T, Refusal>>,
    ) -> Result<T, Refusal> {
        let late = async {
            // Most outcomes are known immediately and need no timer.
            yield_now().await;
            self.runtime.sleep(self.timeout).await;
            Err(Refusal::new(503, LATE))
        };
        or(outcome, late).await
    }

    /// Checks the request.
    pub(super) async fn check(&self, check: &Check) -> Result<(), Refusal> {
        let (check, head) = (Arc::clone(check), self.head.clone());
        let failed = || Refusal::new(500, "the check of the request failed");
        let checked = async { self.run(move || check(&head)).await.ok_or_else(failed)? };
        self.in_time(checked).await
    }
}
