//! Repetition of a `server/discover` request that failed for a reason that says nothing about the
//! server's era.

use alloc::boxed::Box;
use core::time::Duration;

use super::HttpClient;
use super::action::ExchangeId;
use super::event_stream::StreamEnd;
use super::exchanges::{Exchange, ExchangeState, ProbeRequest};
use crate::time::Instant;

/// The maximum number of repetitions, within the timeout of the probe.
const REPETITIONS_MAX: u32 = 2;

impl HttpClient {
    /// Schedules the repetition of a probe whose exchange has failed. Returns false if the exchange
    /// is none of a probe, or if the probe was repeated often enough.
    // LIF-31: an unavailable server is neither legacy nor modern.
    pub(super) fn repeat_probe(
        &mut self,
        now: Instant,
        id: ExchangeId,
        retry_after: Option<Duration>,
    ) -> bool {
        let Some(exchange) = self.exchanges.get_mut(id) else { return false };
        let purpose = exchange.purpose;
        let may_repeat = |probe: &mut Box<ProbeRequest>| probe.repetitions < REPETITIONS_MAX;
        let Some(mut probe) = exchange.probe.take_if(may_repeat) else { return false };
        let end = StreamEnd { attempts: probe.repetitions, retry_after, ..StreamEnd::default() };
        probe.repetitions += 1;
        self.exchanges.remove(id);
        let mut next = Exchange::new(purpose, ExchangeState::Waiting, false);
        next.probe = Some(probe);
        let next = self.exchanges.insert(next);
        let delay = self.backoff.delay(end);
        self.exchanges.set_due(next, Some(now + delay));
        true
    }
}
