//! Uses of the store, one after the other.
//!
//! ```text
//!            Acquire           Ok            Read                    Release
//!  Queued ────────────▶ Locking ──▶ (read) ──────────────────────────────────▶ over
//!                          │          │ Hold         save         Ok, Err        ▲
//!                          │          ├──────▶ Held ──────▶ Saving ──────────────┤
//!                          │          │          └───────────── release ─────────┤
//!                          │ Err,     │ Write                Ok, Err             │
//!                          ▼ too late └──────────▶ Saving ──────────────────────▶┘
//!                        over
//! ```

use alloc::collections::VecDeque;
use core::mem;
use core::time::Duration;

use super::action::{AuthAction, StoreId};
use super::event::{Forget, StoreFailure};
use super::output::Output;
use super::record_key::RecordKey;
use crate::secret::Secret;
use crate::time::Instant;

/// How long a lock is waited for: longer than another process needs for a refresh.
const LOCK_TIMEOUT: Duration = Duration::from_secs(45);

/// How long a record may take to be saved.
const SAVE_TIMEOUT: Duration = Duration::from_secs(5);

/// How many uses may wait while the store is slow; beyond it, the oldest change is dropped.
const QUEUE_MAX: usize = 8;

/// The longest record that is read, in bytes.
pub(super) const RECORD_BYTES_MAX: usize = 256 << 10;

/// The purpose of one use of the store.
#[derive(Debug)]
pub(super) enum Use {
    /// To read the record.
    Read,
    /// To read the record and keep it locked until [`Storage::save`] or [`Storage::release`].
    Hold,
    /// To change the record in the background.
    Change(Change),
}

/// A change of a record, applied to what is stored at that moment.
#[derive(Debug)]
pub(super) enum Change {
    /// Replaces the record.
    Put(Secret),
    /// Deletes the record.
    Delete,
}

impl Change {
    /// Returns what to save; `None` if the record stays as it is.
    fn apply(self, stored: Option<&Secret>) -> Option<Option<Secret>> {
        match self {
            Self::Put(record) if stored == Some(&record) => None,
            Self::Put(record) => Some(Some(record)),
            Self::Delete if stored.is_some() => Some(None),
            Self::Delete => None,
        }
    }
}

impl Use {
    const fn failed(&self, failure: StoreFailure) -> StoreOutcome {
        match self {
            Self::Read | Self::Hold => StoreOutcome::Read(Err(failure)),
            Self::Change(_) => StoreOutcome::Saved(Err(failure)),
        }
    }
}

/// The outcome of one use of the store.
#[derive(Debug)]
pub(super) enum StoreOutcome {
    /// The record, as read.
    Read(Result<Option<Secret>, StoreFailure>),
    /// The record was saved, or need not be.
    Saved(Result<(), StoreFailure>),
}

/// The owner of a use, to whom its outcome matters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Owner {
    /// The state of the authorization: a flow, or the opening of the record.
    State,
    /// None: only failures are reported.
    Background,
    /// The application, which wants stored data deleted.
    Forget(Forget),
}

#[derive(Debug)]
struct Job {
    key: RecordKey,
    owner: Owner,
    what: Use,
}

#[derive(Debug)]
enum Phase {
    Locking(Use),
    Held,
    Saving,
}

#[derive(Debug)]
struct Current {
    id: StoreId,
    owner: Owner,
    phase: Phase,
    deadline: Option<Instant>,
}

/// The uses of the store.
#[derive(Debug, Default)]
pub(super) struct Storage {
    current: Option<Current>,
    queue: VecDeque<Job>,
}

impl Storage {
    /// Queues a use.
    pub(super) fn begin(
        &mut self,
        now: Instant,
        out: &mut Output,
        key: RecordKey,
        owner: Owner,
        what: Use,
    ) {
        if self.queue.len() >= QUEUE_MAX {
            // The state waits for its own use, of which there is one at most.
            let oldest = self.queue.iter().position(|job| job.owner != Owner::State);
            oldest.and_then(|oldest| self.queue.remove(oldest));
        }
        self.queue.push_back(Job { key, owner, what });
        self.next(now, out);
    }

    /// Queues a use before all others, while a record is held.
    pub(super) fn begin_next(&mut self, key: RecordKey, owner: Owner, what: Use) {
        self.queue.push_front(Job { key, owner, what });
    }

    /// Saves the held record, or deletes it.
    pub(super) fn save(&mut self, now: Instant, out: &mut Output, record: Option<Secret>) {
        let Some(current) = self.held() else { return };
        current.phase = Phase::Saving;
        current.deadline = Some(now + SAVE_TIMEOUT);
        out.act(AuthAction::Save { id: current.id, record });
    }

    /// Releases the held record unchanged.
    pub(super) fn release(&mut self, now: Instant, out: &mut Output) {
        if self.held().is_some() {
            self.finish(now, out);
        }
    }

    /// Returns whether a record is held.
    pub(super) fn is_holding(&self) -> bool {
        self.current.as_ref().is_some_and(|current| matches!(current.phase, Phase::Held))
    }

    /// Lets go of what the state wanted: uses that have not begun to save end.
    ///
    /// A save that runs continues in the background.
    pub(super) fn abandon(&mut self, now: Instant, out: &mut Output) {
        self.queue.retain(|job| job.owner != Owner::State);
        let Some(current) = self.current.as_mut() else { return };
        if current.owner != Owner::State {
            return;
        }
        current.owner = Owner::Background;
        if !matches!(current.phase, Phase::Saving) {
            self.finish(now, out);
        }
    }

    /// Takes what the driver reported; returns the outcome, if it ends a step of a use.
    pub(super) fn on_outcome(
        &mut self,
        now: Instant,
        out: &mut Output,
        id: StoreId,
        outcome: Result<Option<&[u8]>, StoreFailure>,
    ) -> Option<(Owner, StoreOutcome)> {
        let current = self.current.as_mut().filter(|current| current.id == id)?;
        let owner = current.owner;
        match mem::replace(&mut current.phase, Phase::Held) {
            Phase::Held => None,
            Phase::Saving => {
                self.finish(now, out);
                Some((owner, StoreOutcome::Saved(outcome.map(|_| ()))))
            }
            Phase::Locking(what) => self.on_locked(now, out, owner, what, outcome),
        }
    }

    fn on_locked(
        &mut self,
        now: Instant,
        out: &mut Output,
        owner: Owner,
        what: Use,
        outcome: Result<Option<&[u8]>, StoreFailure>,
    ) -> Option<(Owner, StoreOutcome)> {
        let record = match outcome {
            Ok(record) => record.map(text),
            Err(failure) => {
                self.current = None;
                self.next(now, out);
                return Some((owner, what.failed(failure)));
            }
        };
        match what {
            Use::Read => {
                self.finish(now, out);
                Some((owner, StoreOutcome::Read(Ok(record))))
            }
            Use::Hold => {
                if let Some(current) = &mut self.current {
                    current.deadline = None;
                }
                Some((owner, StoreOutcome::Read(Ok(record))))
            }
            Use::Change(change) => match change.apply(record.as_ref()) {
                Some(record) => {
                    self.save(now, out, record);
                    None
                }
                None => {
                    self.finish(now, out);
                    Some((owner, StoreOutcome::Saved(Ok(()))))
                }
            },
        }
    }

    /// Ends a use that takes too long; returns its outcome.
    pub(super) fn on_timeout(
        &mut self,
        now: Instant,
        out: &mut Output,
    ) -> Option<(Owner, StoreOutcome)> {
        let current = self.current.as_mut()?;
        current.deadline.filter(|deadline| *deadline <= now)?;
        let owner = current.owner;
        let outcome = match mem::replace(&mut current.phase, Phase::Held) {
            Phase::Held => return None,
            Phase::Saving => StoreOutcome::Saved(Err(StoreFailure::Unavailable)),
            Phase::Locking(what) => what.failed(StoreFailure::Locked),
        };
        self.finish(now, out);
        Some((owner, outcome))
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.current.as_ref()?.deadline
    }

    pub(super) const fn is_idle(&self) -> bool {
        self.current.is_none()
    }

    fn held(&mut self) -> Option<&mut Current> {
        self.current.as_mut().filter(|current| matches!(current.phase, Phase::Held))
    }

    /// Releases the record in use and begins the next use.
    fn finish(&mut self, now: Instant, out: &mut Output) {
        if let Some(current) = self.current.take() {
            out.act(AuthAction::Release { id: current.id });
        }
        self.next(now, out);
    }

    fn next(&mut self, now: Instant, out: &mut Output) {
        if self.current.is_some() {
            return;
        }
        let Some(Job { key, owner, what }) = self.queue.pop_front() else { return };
        let id = out.store_id();
        out.act(AuthAction::Acquire { id, key });
        let deadline = Some(now + LOCK_TIMEOUT);
        self.current = Some(Current { id, owner, phase: Phase::Locking(what), deadline });
    }
}

/// Keeps a record that was read; one that cannot be a record counts as damaged text.
fn text(record: &[u8]) -> Secret {
    let text = core::str::from_utf8(record).ok();
    Secret::new(text.filter(|text| text.len() <= RECORD_BYTES_MAX).unwrap_or_default())
}
