//! How a call over HTTP may progress and end, given what both sides and the network did.

use std::time::Duration;

use mcp_proto::{CallError, Instant, Raw};

use super::client::is_lost;
use super::model::Shared;
use crate::case::Feature;
use crate::model::{REFUSAL, tag_of};

/// A call as its application knows it.
#[derive(Clone, Debug)]
pub(super) struct OpenCall {
    pub(super) tag: u64,
    pub(super) started: Instant,
    /// The earliest time it may time out.
    pub(super) least: Duration,
    pub(super) is_cancelled: bool,
    pub(super) is_listening: bool,
    pub(super) wants_progress: bool,
    /// Whether one of its input requests was refused.
    pub(super) is_unanswered: bool,
    pub(super) questions: u32,
    pub(super) progress: Option<f64>,
}

impl OpenCall {
    pub(super) const fn new(tag: u64, started: Instant) -> Self {
        Self {
            tag,
            started,
            least: Duration::ZERO,
            is_cancelled: false,
            is_listening: false,
            wants_progress: false,
            is_unanswered: false,
            questions: 0,
            progress: None,
        }
    }
}

/// The longest time a response takes without obstacles.
const UNDER_WAY: Duration = Duration::from_secs(5);

/// The longest time it takes if its stream is cut and resumed.
const RESUMED: Duration = Duration::from_secs(58);

/// Records the end of a call.
///
/// # Errors
///
/// If the call cannot have ended like this.
pub(super) fn check(
    shared: &mut Shared,
    call: &OpenCall,
    outcome: &Result<Raw, CallError>,
    is_over: bool,
    was_busy: bool,
) -> Result<(), String> {
    if call.is_cancelled {
        let is_it = matches!(outcome, Err(CallError::Cancelled));
        return if is_it { Ok(()) } else { Err("it was cancelled and ended otherwise".into()) };
    }
    let small = shared.plan.has(Feature::SmallLimits);
    let matter = shared.model.matters.get(&call.tag).cloned();
    match outcome {
        Ok(result) => {
            let Some(matter) = matter else { return Ok(()) };
            if matter.answered.is_none() {
                return Err("it was not answered".into());
            }
            if tag_of(Some(result)) != call.tag {
                return Err("it has the answer of another".into());
            }
            if matter.is_troubled && matter.is_resumable {
                shared.mark("http.reached answered-after-resume");
            }
            let is_plain = matter.asks == 0 && !matter.is_troubled && !small;
            match matter.last.filter(|_| is_plain && call.wants_progress) {
                Some(last) if call.progress != Some(last) => {
                    Err(format!("progress {last} was sent before the response and never arrived"))
                }
                _ => Ok(()),
            }
        }
        Err(CallError::Cancelled) => Err("it was not cancelled".into()),
        Err(CallError::SubscriptionEnded) if !call.is_listening => {
            Err("it is not a subscription".into())
        }
        Err(CallError::InputRefused(_)) if !call.is_unanswered => {
            Err("no question was refused".into())
        }
        Err(error) if is_lost(error) => {
            let Some(matter) = matter.filter(|_| !is_over) else { return Ok(()) };
            let is_evicted = matches!(error, CallError::Http { status: 400, .. })
                && shared.plan.has(Feature::SmallReplays)
                && matter.is_resumable;
            if matter.is_orphan || is_evicted {
                return Ok(());
            }
            if !matter.is_troubled {
                return Err("its connection was whole, and its session was there".into());
            }
            if matter.is_resumable && matches!(error, CallError::Lost | CallError::Unsent) {
                return Err("it could be resumed".into());
            }
            Ok(())
        }
        Err(CallError::Invalid(why))
            if !small && !matter.as_ref().is_some_and(|it| it.is_orphan) =>
        {
            Err(format!("an honest answer is invalid: {why}"))
        }
        Err(CallError::Refused(error)) => match matter {
            Some(matter) if error.code == REFUSAL && !matter.is_refused => {
                Err("it was not refused".into())
            }
            Some(matter) if matter.answered.is_some() && !matter.is_refused && !small => {
                Err(format!("it was answered and ended as {error}"))
            }
            _ => Ok(()),
        },
        Err(CallError::TimedOut) if !call.is_listening => {
            if shared.now.duration_since(call.started) < call.least {
                return Err("it gave up too early".into());
            }
            let slow = was_busy
                || shared.plan.has(Feature::Stalls)
                || shared.plan.has(Feature::BusyApplications);
            let Some(matter) = matter.filter(|_| !slow && !small) else { return Ok(()) };
            let Some(answered) = matter.answered.filter(|_| !matter.is_orphan) else {
                return Ok(());
            };
            let since = shared.now.duration_since(answered);
            if !matter.is_troubled && since > UNDER_WAY {
                return Err(format!("it was answered {since:?} before"));
            }
            if matter.is_resumable && since > RESUMED && !shared.plan.has(Feature::SmallReplays) {
                return Err(format!("it was answered {since:?} before, and can be resumed"));
            }
            Ok(())
        }
        Err(_) => Ok(()),
    }
}

/// Records progress of a call.
///
/// # Errors
///
/// If the progress was never sent, or does not increase.
pub(super) fn advance(shared: &Shared, call: &mut OpenCall, progress: f64) -> Result<(), String> {
    let last = call.progress.replace(progress);
    let Some(matter) = shared.model.matters.get(&call.tag) else { return Ok(()) };
    // Each round may start again.
    if matter.asks == 0 && last.is_some_and(|last| last >= progress) {
        return Err(format!("progress {progress} does not increase"));
    }
    if !matter.progress.contains(&progress.to_bits()) {
        return Err(format!("progress {progress} was never sent"));
    }
    Ok(())
}
