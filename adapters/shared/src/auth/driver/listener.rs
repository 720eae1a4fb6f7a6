//! The listener for the redirect of the user's browser.

use std::sync::{Arc, Weak};

use mcp_proto::Secret;
use mcp_proto::auth::{LoopbackHost, RedirectPage};

use super::AuthDriver;
use super::listener_state::ListenerState;
use super::state::DriverState;
use crate::auth::redirect_listener::RedirectListener;
use crate::exec::callbacks::Callbacks;

/// The lane of starting and stopping listeners.
const LANE: usize = 1;

impl AuthDriver {
    pub(super) fn listen(
        self: &Arc<Self>,
        callbacks: &Callbacks,
        (host, port): (LoopbackHost, Option<u16>),
        path: Box<str>,
    ) {
        let number = self.change(|state, _| {
            let number = state.next_id();
            state.listener = ListenerState::Opening(number);
            number
        });
        let driver = Arc::clone(self);
        callbacks.run(LANE, move || {
            let weak = Arc::downgrade(&driver);
            let on_redirect = move |query: Secret| on_redirect(&weak, number, &query);
            let started = RedirectListener::start(host, port, &path, on_redirect);
            let unwanted = driver.change(|state, time| {
                if !state.listener.is(number) {
                    return started.ok();
                }
                let port = started.as_ref().ok().map(RedirectListener::port);
                let next =
                    started.map_or(ListenerState::Closed, |it| ListenerState::Open(number, it));
                state.listener = next;
                state.machine.handle_listening(time, port);
                None
            });
            drop(unwanted);
        });
    }

    pub(super) fn unlisten(&self, callbacks: &Callbacks) {
        if let Some(listener) = self.change(|state, _| state.listener.close()) {
            callbacks.run(LANE, move || drop(listener));
        }
    }
}

fn on_redirect(driver: &Weak<AuthDriver>, number: u64, query: &Secret) -> RedirectPage {
    let Some(driver) = driver.upgrade() else { return RedirectPage::NotFound };
    driver.change(|state: &mut DriverState, time| {
        // Nothing is reported about a listener that was closed.
        if state.listener.is(number) {
            state.machine.handle_redirect(time, query.expose())
        } else {
            RedirectPage::NotFound
        }
    })
}
