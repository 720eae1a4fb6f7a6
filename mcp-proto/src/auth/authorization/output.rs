//! The queues of actions and events, and the ids of actions.

use alloc::collections::VecDeque;

use super::action::{AuthAction, FetchId, SignId, StoreId};
use super::event::{AuthEvent, StoreFailure};

/// The output of an authorization: actions and events.
#[derive(Debug, Default)]
pub(super) struct Output {
    actions: VecDeque<AuthAction>,
    events: VecDeque<AuthEvent>,
    last_id: u64,
    is_closed: bool,
}

impl Output {
    pub(super) fn act(&mut self, action: AuthAction) {
        self.actions.push_back(action);
    }

    pub(super) fn report(&mut self, event: AuthEvent) {
        if !self.is_closed {
            self.events.push_back(event);
        }
    }

    pub(super) fn report_unsaved(&mut self, saved: Result<(), StoreFailure>) {
        if let Err(failure) = saved {
            self.report(AuthEvent::Unsaved(failure));
        }
    }

    /// Reports no further events.
    pub(super) const fn close_events(&mut self) {
        self.is_closed = true;
    }

    /// Takes back what the driver has not begun for a flow. Returns whether it was to listen.
    pub(super) fn withdraw(&mut self) -> bool {
        let listens = |action: &AuthAction| matches!(action, AuthAction::Listen { .. });
        let is_listening = self.actions.iter().any(listens);
        self.actions.retain(|action| {
            !listens(action)
                && !matches!(
                    action,
                    AuthAction::Draw
                        | AuthAction::Fetch(_)
                        | AuthAction::Show { .. }
                        | AuthAction::Sign { .. }
                )
        });
        is_listening
    }

    pub(super) fn next_action(&mut self) -> Option<AuthAction> {
        self.actions.pop_front()
    }

    pub(super) fn next_event(&mut self) -> Option<AuthEvent> {
        self.events.pop_front()
    }

    /// Aborts a request; one that the driver has not seen yet is just not sent.
    pub(super) fn abort(&mut self, id: FetchId) {
        let before = self.actions.len();
        self.actions.retain(|action| !matches!(action, AuthAction::Fetch(fetch) if fetch.id == id));
        if self.actions.len() == before {
            self.actions.push_back(AuthAction::Abort(id));
        }
    }

    pub(super) fn fetch_id(&mut self) -> FetchId {
        FetchId(self.next_id())
    }

    pub(super) fn store_id(&mut self) -> StoreId {
        StoreId(self.next_id())
    }

    pub(super) fn sign_id(&mut self) -> SignId {
        SignId(self.next_id())
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}
