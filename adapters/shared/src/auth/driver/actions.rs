//! Performs the actions of an authorization.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mcp_proto::Secret;
use mcp_proto::auth::{AuthAction, KeyUse, RecordKey, SignId, StoreFailure, StoreId};

use super::record_use::RecordUse;
use super::{AuthDriver, DriverIo};
use crate::auth::system::random_bytes;
use crate::exec::callbacks::Callbacks;

/// The lane of the store and of the key.
const LANE: usize = 0;

impl AuthDriver {
    /// Performs or starts an action; never blocks.
    pub(super) fn perform(
        self: &Arc<Self>,
        io: &Arc<DriverIo>,
        callbacks: &Callbacks,
        action: AuthAction,
    ) {
        match action {
            AuthAction::Draw => {
                if let Ok(bytes) = random_bytes() {
                    self.change(|state, time| state.machine.handle_random(time, bytes));
                }
            }
            AuthAction::Acquire { id, key } => self.acquire(callbacks, id, key),
            AuthAction::Save { id, record } => self.save(callbacks, id, record),
            AuthAction::Release { id } => {
                if let Some(used) = self.change(|state, _| state.records.remove(&id)) {
                    callbacks.run(LANE, move || used.release());
                }
            }
            AuthAction::Listen { host, port, path } => self.listen(callbacks, (host, port), path),
            AuthAction::Unlisten => self.unlisten(callbacks),
            AuthAction::Fetch(fetch) => self.fetch(io, fetch),
            AuthAction::Abort(id) => self.abort(id),
            AuthAction::Sign { id, key, input } => self.sign(callbacks, id, key, input),
            AuthAction::Show { url, issuer, scopes } => self.show(callbacks, url, issuer, scopes),
            _ => {}
        }
    }

    fn acquire(self: &Arc<Self>, callbacks: &Callbacks, id: StoreId, key: RecordKey) {
        let used = Arc::new(RecordUse::default());
        self.change(|state, _| state.records.insert(id, Arc::clone(&used)));
        let driver = Arc::clone(self);
        callbacks.run(LANE, move || {
            let read = used.acquire(&*driver.auth.store, &key);
            let unused = driver.change(|state, time| {
                // Nothing is released after a failure.
                let unused = if read.is_err() { state.records.remove(&id) } else { None };
                let text = read.as_ref().map(|read| read.as_ref().map(|it| it.expose().as_bytes()));
                state.machine.handle_store(time, id, text.map_err(|failure| *failure));
                unused
            });
            drop(unused);
        });
    }

    fn save(self: &Arc<Self>, callbacks: &Callbacks, id: StoreId, record: Option<Secret>) {
        let used = self.lock().records.get(&id).cloned();
        let driver = Arc::clone(self);
        callbacks.run(LANE, move || {
            let saved = match used {
                Some(used) => used.save(record.as_ref()),
                None => Err(StoreFailure::Unavailable),
            };
            driver.change(|state, time| {
                state.machine.handle_store(time, id, saved.map(|()| None));
            });
        });
    }

    fn sign(self: &Arc<Self>, callbacks: &Callbacks, id: SignId, key: KeyUse, input: Secret) {
        let driver = Arc::clone(self);
        callbacks.run(LANE, move || {
            let key = driver.auth.extensions.key(key);
            let sign = || key?.sign(input.expose().as_bytes()).ok();
            let signature = catch_unwind(AssertUnwindSafe(sign)).ok().flatten();
            driver.change(|state, time| {
                let signature = signature.as_ref().map(|signature| signature.as_slice());
                state.machine.handle_signature(time, id, signature);
            });
        });
    }
}
