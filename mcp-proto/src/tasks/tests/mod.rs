//! Tests of the table against the model, and of each rule.

mod limits;
mod model;
mod op;
mod poller;
mod poller_losses;
mod responses;
mod shares;
mod world;
mod worlds;

use super::*;
use crate::json::Raw;
use crate::vocabulary::Principal;

pub(super) const EXTENSION: Requestor<'static> =
    Requestor { principal: None, protocol: TaskProtocol::Extension };
pub(super) const CORE: Requestor<'static> =
    Requestor { principal: None, protocol: TaskProtocol::Core };

/// 2026-07-28T00:00:00Z, and later by this many milliseconds.
pub(super) fn at(ms: u64) -> TaskTime {
    TaskTime { now: crate::Instant::from_millis(ms), unix_ms: 1_785_196_800_000 + ms }
}

pub(super) fn id(number: u32) -> TaskId {
    TaskId::from_random(u128::from(number).to_be_bytes())
}

pub(super) fn json(text: &str) -> Raw {
    Raw::from_text(text).unwrap()
}

pub(super) fn ada() -> Principal {
    Principal::new("ada").unwrap()
}

pub(super) fn events(table: &mut TaskTable) -> alloc::vec::Vec<TaskEvent> {
    core::iter::from_fn(|| table.poll_event()).collect()
}
