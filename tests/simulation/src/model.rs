//! The reference model of both sides: how each call may end and how often each request may arrive,
//! derived from what the applications did.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mcp_proto::{CallError, Instant, Raw, code};

/// The state of one tagged request on both sides. The tag is part of its params.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matter {
    method: String,
    /// How often it was delivered, and answered by input requests.
    deliveries: u32,
    asks: u32,
    is_answered: bool,
    is_refused: bool,
    /// The progress reported for it, and the last value a machine accepted.
    progress: BTreeSet<u64>,
    last: Option<f64>,
}

/// The records of both sides.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    matters: BTreeMap<u64, Matter>,
    next: u64,
}

/// A call as its application knows it.
#[derive(Clone, Debug)]
pub(crate) struct OpenCall {
    /// The tag in its params; zero for none.
    pub(crate) tag: u64,
    /// The time of the call.
    pub(crate) started: Instant,
    /// The earliest time it may time out.
    pub(crate) least: Duration,
    /// Whether the application cancelled it.
    pub(crate) is_cancelled: bool,
    /// Whether it is a subscription, and to how many resources.
    pub(crate) is_listening: bool,
    pub(crate) resources: usize,
    /// Whether it asked for progress.
    pub(crate) wants_progress: bool,
    /// Whether it was made before the handshake or probe was complete.
    pub(crate) is_early: bool,
    /// The length of its params.
    pub(crate) bytes: usize,
    /// The last progress of this round.
    pub(crate) progress: Option<f64>,
    /// Whether one of its input requests was refused.
    pub(crate) is_unanswered: bool,
    /// How often input was requested for it.
    pub(crate) questions: u32,
}

/// The circumstances of the end of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// The current time.
    pub(crate) now: Instant,
    /// Whether the connection is closed or closing.
    pub(crate) is_ending: bool,
    /// Whether both sides are machines.
    pub(crate) is_honest: bool,
    /// Whether some limit is small.
    pub(crate) is_limited: bool,
}

impl Model {
    /// Adds a tagged request and returns its tag.
    pub(crate) fn open(&mut self, method: &str) -> u64 {
        self.next += 1;
        self.matters.insert(self.next, Matter { method: method.to_owned(), ..Matter::default() });
        self.next
    }

    /// Records that a request with this tag reached an application.
    ///
    /// # Errors
    ///
    /// If no such request was made, or it arrived more often than input was requested.
    pub(crate) fn deliver(&mut self, tag: u64, method: &str) -> Result<(), String> {
        let Some(matter) = self.matters.get_mut(&tag) else {
            return Err(format!("{tag} was never requested"));
        };
        if matter.method != method {
            return Err(format!("{tag} is {} and arrived as {method}", matter.method));
        }
        matter.deliveries += 1;
        if matter.deliveries > 1 + matter.asks {
            return Err(format!(
                "{tag} arrived {} times with {} input requests",
                matter.deliveries, matter.asks
            ));
        }
        Ok(())
    }

    /// Records an application's response to a tagged request that the machine accepted.
    pub(crate) fn settle(&mut self, tag: u64, how: impl FnOnce(&mut Matter)) {
        if let Some(matter) = self.matters.get_mut(&tag) {
            how(matter);
        }
    }

    /// Records the end of a call.
    ///
    /// # Errors
    ///
    /// If the call cannot have ended like this.
    pub(crate) fn complete(
        &self,
        call: &OpenCall,
        outcome: &Result<Raw, CallError>,
        at: Moment,
    ) -> Result<(), String> {
        if call.is_cancelled {
            let is_it = matches!(outcome, Err(CallError::Cancelled));
            return if is_it { Ok(()) } else { Err("it was cancelled and ended otherwise".into()) };
        }
        let matter = self.matters.get(&call.tag).filter(|_| at.is_honest);
        match outcome {
            Ok(result) => match matter {
                Some(matter) if !matter.is_answered => Err("it was not answered".into()),
                Some(_) if tag_of(Some(result)) != call.tag => {
                    Err("it has the answer of another".into())
                }
                Some(Matter { asks: 0, last: Some(last), .. })
                    if call.wants_progress && call.progress != Some(*last) =>
                {
                    Err(format!("progress {last} was sent before the response and never arrived"))
                }
                _ => Ok(()),
            },
            Err(CallError::Cancelled) => Err("it was not cancelled".into()),
            Err(CallError::Invalid(why)) if at.is_honest && !at.is_limited => {
                Err(format!("an honest answer is invalid: {why}"))
            }
            Err(CallError::Lost | CallError::LostRead) if !at.is_ending => {
                Err("it is lost and the connection is not".into())
            }
            Err(CallError::Refused(error)) => match matter {
                Some(matter) if error.code == REFUSAL && !matter.is_refused => {
                    Err("it was not refused".into())
                }
                Some(matter) if matter.is_answered && !matter.is_refused && !at.is_limited => {
                    Err(format!("it was answered and ended as {error}"))
                }
                _ if is_machines(error.code) || error.code == REFUSAL || !at.is_honest => Ok(()),
                _ => Err(format!("no machine refuses like this: {error}")),
            },
            Err(CallError::TimedOut) if !call.is_listening => {
                let early = at.now.duration_since(call.started) < call.least;
                if early { Err("it gave up too early".into()) } else { Ok(()) }
            }
            Err(CallError::InputRefused(_)) if !call.is_unanswered => {
                Err("no question was refused".into())
            }
            Err(CallError::SubscriptionEnded) if !call.is_listening => {
                Err("it is not a subscription".into())
            }
            Err(CallError::TooManyRounds) if call.questions == 0 && !at.is_limited => {
                Err("nothing was asked".into())
            }
            Err(_) => Ok(()),
        }
    }

    /// Returns whether a call is tagged and no input was requested for it.
    pub(crate) fn is_plain(&self, call: &OpenCall) -> bool {
        call.questions == 0 && self.matters.get(&call.tag).is_some_and(|matter| matter.asks == 0)
    }

    /// Records progress of a call.
    ///
    /// # Errors
    ///
    /// If the progress was never sent, or does not increase.
    pub(crate) fn advance(
        &self,
        call: &mut OpenCall,
        progress: f64,
        is_honest: bool,
    ) -> Result<(), String> {
        let last = call.progress.replace(progress);
        // Each round may start again, and rounds of untagged calls are not counted.
        let is_one_round = self.matters.get(&call.tag).is_some_and(|matter| matter.asks == 0);
        if is_one_round && call.questions == 0 && last.is_some_and(|last| last >= progress) {
            return Err(format!("progress {progress} does not increase"));
        }
        match self.matters.get(&call.tag) {
            Some(matter) if is_honest && !matter.progress.contains(&progress.to_bits()) => {
                Err(format!("progress {progress} was never sent"))
            }
            _ => Ok(()),
        }
    }
}

impl Matter {
    /// Records a response.
    pub(crate) const fn answer(&mut self) {
        self.is_answered = true;
    }

    /// Records an error response.
    pub(crate) const fn refuse(&mut self) {
        self.is_refused = true;
    }

    /// Records input requests.
    pub(crate) const fn ask(&mut self) {
        self.asks += 1;
    }

    /// Records progress that a machine accepted.
    pub(crate) const fn advance(&mut self, progress: f64) {
        self.last = Some(progress);
    }

    /// Records progress that was reported.
    pub(crate) fn tell(&mut self, progress: f64) {
        self.progress.insert(progress.to_bits());
    }
}

/// Returns the tag in params or in a result; zero for none.
#[must_use]
pub(crate) fn tag_of(value: Option<&Raw>) -> u64 {
    let tag = value.and_then(|value| value.member("tag"));
    tag.and_then(|tag| tag.as_str().parse().ok()).unwrap_or_default()
}

/// The error code of an application's refusal.
pub(crate) const REFUSAL: i64 = 1234;

const fn is_machines(number: i64) -> bool {
    matches!(
        number,
        code::INVALID_REQUEST
            | code::METHOD_NOT_FOUND
            | code::INVALID_PARAMS
            | code::INTERNAL_ERROR
            | code::PARSE_ERROR
            | code::MISSING_CLIENT_CAPABILITY
            | code::UNSUPPORTED_PROTOCOL_VERSION
    )
}
