//! The reference model of both sides together: what each call may end with and what each request
//! may be, from what the applications did; knows handles and outcomes, and nothing of bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mcp_proto::{CallError, Instant, Raw, code};

/// What became of one thing that was asked for, on both sides. It goes by a tag that its params
/// carry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matter {
    method: String,
    /// How often it was delivered, and asked about.
    deliveries: u32,
    asks: u32,
    is_answered: bool,
    is_refused: bool,
    /// What progress was told of it, and the last that a machine took.
    progress: BTreeSet<u64>,
    last: Option<f64>,
}

/// What both sides did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Books {
    matters: BTreeMap<u64, Matter>,
    next: u64,
}

/// A call, as its application knows it.
#[derive(Clone, Debug)]
pub(crate) struct OpenCall {
    /// The tag in its params; zero for none.
    pub(crate) tag: u64,
    /// When it was made.
    pub(crate) started: Instant,
    /// It does not give up before this.
    pub(crate) least: Duration,
    /// The application cancelled it.
    pub(crate) is_cancelled: bool,
    /// It listens to changes, and to those of so many resources.
    pub(crate) is_listening: bool,
    pub(crate) resources: usize,
    /// It wants to hear of progress.
    pub(crate) wants_progress: bool,
    /// It was made before anything was agreed on.
    pub(crate) is_early: bool,
    /// How long its params are.
    pub(crate) bytes: usize,
    /// The last progress of this round.
    pub(crate) progress: Option<f64>,
    /// One of its questions was refused.
    pub(crate) is_unanswered: bool,
    /// How often questions came for it.
    pub(crate) questions: u32,
}

/// What surrounds the end of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// What time it is.
    pub(crate) now: Instant,
    /// The connection is over, or about to be.
    pub(crate) is_ending: bool,
    /// Both sides are machines.
    pub(crate) is_honest: bool,
    /// Some bound is a small one.
    pub(crate) is_limited: bool,
}

impl Books {
    /// A new matter.
    pub(crate) fn open(&mut self, method: &str) -> u64 {
        self.next += 1;
        self.matters.insert(self.next, Matter { method: method.to_owned(), ..Matter::default() });
        self.next
    }

    /// A request with this tag came to an application.
    ///
    /// # Errors
    /// When nobody made it, or it came more often than it was asked about.
    pub(crate) fn deliver(&mut self, tag: u64, method: &str) -> Result<(), String> {
        let Some(matter) = self.matters.get_mut(&tag) else {
            return Err(format!("nobody asked for {tag}"));
        };
        if matter.method != method {
            return Err(format!("{tag} is {} and came as {method}", matter.method));
        }
        matter.deliveries += 1;
        if matter.deliveries > 1 + matter.asks {
            return Err(format!(
                "{tag} came {} times and was asked about {}",
                matter.deliveries, matter.asks
            ));
        }
        Ok(())
    }

    /// An application answered, refused or asked about a matter, and the machine took it.
    pub(crate) fn settle(&mut self, tag: u64, how: impl FnOnce(&mut Matter)) {
        if let Some(matter) = self.matters.get_mut(&tag) {
            how(matter);
        }
    }

    /// A call ended.
    ///
    /// # Errors
    /// When it cannot have ended like this.
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
                Some(matter) if !matter.is_answered => Err("nobody answered it".into()),
                Some(_) if tag_of(Some(result)) != call.tag => {
                    Err("it has the answer of another".into())
                }
                Some(Matter { asks: 0, last: Some(last), .. })
                    if call.wants_progress && call.progress != Some(*last) =>
                {
                    Err(format!("progress {last} was told before its answer and never came"))
                }
                _ => Ok(()),
            },
            Err(CallError::Cancelled) => Err("nobody cancelled it".into()),
            Err(CallError::Invalid(why)) if at.is_honest && !at.is_limited => {
                Err(format!("an honest answer is invalid: {why}"))
            }
            Err(CallError::Lost) if !at.is_ending => {
                Err("it is lost and the connection is not".into())
            }
            Err(CallError::Refused(error)) => match matter {
                Some(matter) if error.code == REFUSAL && !matter.is_refused => {
                    Err("nobody refused it".into())
                }
                Some(matter) if matter.is_answered && !matter.is_refused && !at.is_limited => {
                    Err(format!("it was answered and came back as {error}"))
                }
                _ if is_machines(error.code) || error.code == REFUSAL || !at.is_honest => Ok(()),
                _ => Err(format!("no machine refuses like this: {error}")),
            },
            Err(CallError::TimedOut) if !call.is_listening => {
                let early = at.now.duration_since(call.started) < call.least;
                if early { Err("it gave up too early".into()) } else { Ok(()) }
            }
            Err(CallError::Unanswered(_)) if !call.is_unanswered => {
                Err("no question was refused".into())
            }
            Err(CallError::Withdrawn) if !call.is_listening => Err("it is no subscription".into()),
            Err(CallError::Rounds) if call.questions == 0 && !at.is_limited => {
                Err("nothing was asked".into())
            }
            Err(_) => Ok(()),
        }
    }

    /// Whether a call has a tag, and nothing was asked about it.
    pub(crate) fn is_plain(&self, call: &OpenCall) -> bool {
        call.questions == 0 && self.matters.get(&call.tag).is_some_and(|matter| matter.asks == 0)
    }

    /// A call came further.
    ///
    /// # Errors
    /// When that was not told, or it does not grow.
    pub(crate) fn advance(
        &self,
        call: &mut OpenCall,
        progress: f64,
        is_honest: bool,
    ) -> Result<(), String> {
        let last = call.progress.replace(progress);
        // Each round may begin anew, and nobody counts the rounds of what has no tag.
        let is_one_round = self.matters.get(&call.tag).is_some_and(|matter| matter.asks == 0);
        if is_one_round && call.questions == 0 && last.is_some_and(|last| last >= progress) {
            return Err(format!("progress {progress} does not grow"));
        }
        match self.matters.get(&call.tag) {
            Some(matter) if is_honest && !matter.progress.contains(&progress.to_bits()) => {
                Err(format!("progress {progress} was never told"))
            }
            _ => Ok(()),
        }
    }
}

impl Matter {
    /// It was answered.
    pub(crate) const fn answer(&mut self) {
        self.is_answered = true;
    }

    /// It was refused.
    pub(crate) const fn refuse(&mut self) {
        self.is_refused = true;
    }

    /// It was asked about.
    pub(crate) const fn ask(&mut self) {
        self.asks += 1;
    }

    /// A machine took progress to tell of.
    pub(crate) const fn advance(&mut self, progress: f64) {
        self.last = Some(progress);
    }

    /// Its progress was told.
    pub(crate) fn tell(&mut self, progress: f64) {
        self.progress.insert(progress.to_bits());
    }
}

/// The tag in params or in a result; zero for none.
#[must_use]
pub(crate) fn tag_of(value: Option<&Raw>) -> u64 {
    let tag = value.and_then(|value| value.member("tag"));
    tag.and_then(|tag| tag.as_str().parse().ok()).unwrap_or_default()
}

/// The code of an application's refusal.
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
