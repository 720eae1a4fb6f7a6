//! Requests to authorization servers.

use std::sync::Arc;

use mcp_proto::auth::{Fetch, FetchFailure, FetchId};

use super::{AuthDriver, DriverIo};
use crate::auth::oauth_http::{OAuthRequest, OAuthResponse};
use crate::exec::cancellation::Cancellation;
use crate::exec::workers::Spawn;

impl AuthDriver {
    pub(super) fn fetch(self: &Arc<Self>, io: &Arc<DriverIo>, fetch: Fetch) {
        let aborted = Arc::new(Cancellation::default());
        self.change(|state, _| state.fetches.insert(fetch.id, Arc::clone(&aborted)));
        let running = RunningFetch { driver: Arc::clone(self), id: fetch.id, is_reported: false };
        let io = Arc::clone(io);
        let runtime = Arc::clone(&io.runtime) as Arc<dyn Spawn>;
        let sent = async move {
            let mut running = running;
            let outcome = match OAuthRequest::of(&fetch, running.driver.auth.auth_limits()) {
                Ok(request) => match aborted.run_until_set(io.http.send(&request)).await {
                    Some(sent) => sent.map_err(|failure| (failure.kind(), failure.to_string())),
                    None => Err((FetchFailure::Cut, String::new())),
                },
                Err(_) => Err((FetchFailure::Unreached, String::new())),
            };
            running.report(outcome);
        };
        // A runtime that rejects futures is shutting down; the dropped future reports a failure.
        let _shutting_down = runtime.spawn(Box::pin(sent));
    }

    pub(super) fn abort(&self, id: FetchId) {
        if let Some(aborted) = self.change(|state, _| state.fetches.remove(&id)) {
            aborted.set();
        }
    }
}

/// A request in flight; if it is dropped, it has failed.
struct RunningFetch {
    driver: Arc<AuthDriver>,
    id: FetchId,
    is_reported: bool,
}

impl RunningFetch {
    /// Reports the response, or the failure with its explanation.
    fn report(&mut self, outcome: Result<OAuthResponse, (FetchFailure, String)>) {
        self.is_reported = true;
        let id = self.id;
        self.driver.change(|state, time| {
            // Nothing is reported about a request that was aborted.
            if state.fetches.remove(&id).is_none() {
                return;
            }
            match outcome {
                Ok(response) => {
                    state.latest_failure = None;
                    let machine = &mut state.machine;
                    machine.handle_head(time, id, response.status, &response.headers);
                    machine.handle_body(time, id, response.body.as_deref().map_or(&[], |it| it));
                    machine.handle_end(time, id);
                }
                Err((failure, why)) => {
                    state.latest_failure = Some(why).filter(|why| !why.is_empty());
                    state.machine.handle_failure(time, id, failure);
                }
            }
        });
    }
}

impl Drop for RunningFetch {
    fn drop(&mut self) {
        if !self.is_reported {
            self.report(Err((FetchFailure::Cut, String::new())));
        }
    }
}
