//! The driver of a client's connection over HTTP.

use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::or;
use mcp_proto::client::Client as Machine;
use mcp_proto::http::client::{Action, HttpRequest};

use super::connections::HttpConnections;
use super::exchange;
use super::membership::Membership;
use super::transport::DriverAction;
use crate::transport::link::Link;

/// The driver's handle to a connection. Dropping it ends the connection immediately.
pub(super) struct AbandonOnDrop(pub(super) Arc<Link<Machine>>);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// Drives a connection to its end.
pub(super) async fn drive(
    guard: AbandonOnDrop,
    connections: Arc<HttpConnections>,
    member: Option<Arc<dyn Membership>>,
) {
    let link = Arc::clone(&guard.0);
    let runtime = Arc::clone(&connections.runtime);
    let time = link.keep_time(|duration| runtime.sleep(duration));
    or(run(&link, &connections, member.as_deref()), or(time, connections.close_idle())).await;
    link.dispatched().await;
    connections.abort_all();
    if let Some(member) = member {
        member.leave().await;
    }
}

async fn run(
    link: &Arc<Link<Machine>>,
    connections: &Arc<HttpConnections>,
    member: Option<&dyn Membership>,
) {
    perform(link, connections, member, || true).await;
    // Exchanges in flight may still complete, followed by the one that ends the session.
    let late = link.sleep_until(link.clock.now() + LAST_EXCHANGES);
    or(perform(link, connections, member, || connections.in_flight() == 0), late).await;
}

/// Performs the actions of the session until it is closed and `may_stop` returns true.
async fn perform(
    link: &Arc<Link<Machine>>,
    connections: &Arc<HttpConnections>,
    member: Option<&dyn Membership>,
    may_stop: impl Fn() -> bool,
) {
    loop {
        let next = link.next_action(|state| {
            let action = state.http()?.next_action()?;
            (!matches!(action, DriverAction::Stop) || may_stop()).then_some(action)
        });
        match next.await {
            DriverAction::Exchange(Action::Send(send)) => start(link, connections, send),
            DriverAction::Exchange(Action::Abort(exchange)) => connections.abort(exchange),
            DriverAction::Authorize(report) => {
                if let Some(member) = member {
                    member.on_report(link, connections.redirected_to().as_deref(), &report);
                }
            }
            DriverAction::Report(challenged) => {
                let has_room = link.inspect(|state| state.callbacks.has_room());
                if let Some(callback) = connections.remote.on_challenge.clone().filter(|_| has_room)
                {
                    link.call_back(0, move || callback(&challenged));
                }
            }
            DriverAction::Stop => return,
        }
    }
}

fn start(link: &Arc<Link<Machine>>, connections: &Arc<HttpConnections>, send: HttpRequest) {
    let id = send.exchange;
    let aborted = connections.begin(id);
    // Reserved in the order of the exchanges: the stream for server messages must come before the
    // first call.
    let reserved = connections.reserve();
    let (link, over) = (Arc::clone(link), Arc::clone(connections));
    let ran = async move {
        or(exchange::run(&link, &over, send, reserved), aborted.wait()).await;
        over.ended(id);
        // Wakes the driver, which may be waiting for the last exchange.
        link.with(|_, _| {});
    };
    // A runtime that rejects futures is shutting down, and the connection with it.
    let _shutting_down = &connections.runtime.spawn(Box::pin(ran));
}

/// How long the last exchanges of a closed connection may take.
const LAST_EXCHANGES: Duration = Duration::from_secs(2);
