//! Repetition of a `server/discover` request that failed for a reason that says nothing about the
//! server's era.

use core::time::Duration;

use super::HttpClient;
use super::action::ExchangeId;
use super::event_stream::StreamEnd;
use super::exchange::{CallKind, Exchange, ExchangeState, KeptRequest};
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
        let Some(exchange) = self.exchanges.get(id) else { return false };
        let purpose = exchange.purpose;
        let may_repeat = |probe: &KeptRequest| probe.repetitions < REPETITIONS_MAX;
        if !exchange.is_call_of(CallKind::Discover)
            || !exchange.kept.as_deref().is_some_and(may_repeat)
        {
            return false;
        }
        let Some(mut probe) = self.exchanges.take_kept(id) else { return false };
        let end = StreamEnd { attempts: probe.repetitions, retry_after, ..StreamEnd::default() };
        probe.repetitions += 1;
        self.exchanges.remove(id);
        let mut next = Exchange::new(purpose, ExchangeState::Waiting, false);
        next.kept = Some(probe);
        let next = self.exchanges.insert(next);
        let delay = self.backoff.delay(end);
        self.exchanges.set_due(next, Some(now + delay));
        true
    }
}
