//! Does what a client's session wants done over HTTP, until it is over; knows nothing of what is
//! said.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::or;
use mcp_proto::client::Client as Machine;
use mcp_proto::http::client::{Action, Send};

use super::connections::HttpConnections;
use super::exchange;
use super::transport::Step;
use crate::transport::link::Link;

/// A connection in the hands of its driver: dropping it ends it at once.
pub(super) struct Guard(pub(super) Arc<Link<Machine>>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.over();
    }
}

/// Drives a connection to its end.
pub(super) async fn drive(guard: Guard, connections: Arc<HttpConnections>) {
    let link = Arc::clone(&guard.0);
    let runtime = Arc::clone(&connections.runtime);
    let time = link.keep_time(|duration| runtime.sleep(duration));
    or(pump(&link, &connections), time).await;
    link.handed_out().await;
    connections.abort_all();
}

async fn pump(link: &Arc<Link<Machine>>, connections: &Arc<HttpConnections>) {
    steps(link, connections, || true).await;
    // What is on its way may still arrive, and after it the end of the session.
    let late = link.sleep_until(link.clock.now() + LAST_EXCHANGES);
    or(steps(link, connections, || connections.open() == 0), late).await;
}

/// Does what is to be done until nothing is left of it, once the session is closed and `is_enough`.
async fn steps(
    link: &Arc<Link<Machine>>,
    connections: &Arc<HttpConnections>,
    is_enough: impl Fn() -> bool,
) {
    loop {
        let next = link.next_step(|state| {
            let step = state.session.http()?.next_step()?;
            (!matches!(step, Step::Over) || is_enough()).then_some(step)
        });
        match next.await {
            Step::Do(Action::Send(send)) => start(link, connections, send),
            Step::Do(Action::Abort(exchange)) => connections.abort(exchange),
            Step::Tell(challenged) => {
                if let Some(hear) = &connections.remote.challenged {
                    let _panicked = catch_unwind(AssertUnwindSafe(|| hear(&challenged)));
                }
            }
            Step::Over => return,
        }
    }
}

fn start(link: &Arc<Link<Machine>>, connections: &Arc<HttpConnections>, send: Send) {
    let id = send.exchange;
    let aborted = connections.begin(id);
    // In the order in which things are to be said: the stream that hears of everything else comes
    // before the first call.
    let reserved = connections.reserve();
    let (link, over) = (Arc::clone(link), Arc::clone(connections));
    let ran = async move {
        or(exchange::run(&link, &over, send, reserved), aborted.wait()).await;
        over.ended(id);
        // Whoever waits for the last of them looks again.
        link.with(|_, _| {});
    };
    // A runtime that takes no more futures is ending, and the connection with it.
    let _ending = Arc::clone(&connections.runtime).as_spawn().spawn(Box::pin(ran));
}

/// How long the last exchanges of a connection that is over may take.
const LAST_EXCHANGES: Duration = Duration::from_secs(2);
