//! The records of both sides about each call, and the state shared by a whole HTTP world.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use mcp_proto::Instant;

use super::plan::Plan;
use crate::coverage::Coverage;

/// The shared state of a world.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) plan: Plan,
    pub(super) now: Instant,
    pub(super) model: Model,
    pub(super) coverage: Coverage,
    /// The timeline in words, if it is recorded.
    pub(super) timeline: Option<String>,
}

impl Shared {
    pub(super) fn mark(&mut self, name: &str) {
        self.coverage.mark(name);
    }

    /// Records an occurrence.
    pub(super) fn tell(&mut self, words: impl FnOnce() -> String) {
        if let Some(timeline) = &mut self.timeline {
            let _infallible =
                writeln!(timeline, "{:>10.4} {}", self.now.as_nanos() as f64 / 1e9, words());
        }
    }

    /// Reports a broken promise.
    pub(super) fn breach(&self, what: impl AsRef<str>) -> ! {
        panic!("at {:.4}: {}\n", self.now.as_nanos() as f64 / 1e9, what.as_ref())
    }
}

/// The state of one tagged request on both sides. The tag is part of its params.
#[derive(Clone, Debug, Default)]
pub(super) struct Matter {
    pub(super) client: usize,
    pub(super) method: String,
    /// How often it was posted, passed to a session, and delivered to an application.
    pub(super) sent: u32,
    pub(super) posts: u32,
    pub(super) deliveries: u32,
    /// How often input was requested for it, and how often of that within a session.
    pub(super) asks: u32,
    pub(super) legacy_asks: u32,
    pub(super) answered: Option<Instant>,
    pub(super) is_refused: bool,
    /// The progress reported for it, and the last value a machine accepted.
    pub(super) progress: BTreeSet<u64>,
    pub(super) last: Option<f64>,
    /// Whether one of its connections broke or was refused.
    pub(super) is_troubled: bool,
    /// Whether its client knows an event id to resume from.
    pub(super) is_resumable: bool,
    /// Whether its session ended.
    pub(super) is_orphan: bool,
}

fn only_reads(method: &str) -> bool {
    method.ends_with("/list")
        || matches!(method, "completion/complete" | "prompts/get" | "resources/read")
}

/// The records of both sides.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) matters: BTreeMap<u64, Matter>,
    next: u64,
}

impl Model {
    /// Adds a tagged request and returns its tag.
    pub(super) fn open(&mut self, client: usize, method: &str) -> u64 {
        self.next += 1;
        self.matters
            .insert(self.next, Matter { client, method: method.into(), ..Matter::default() });
        self.next
    }

    /// Returns a fresh number.
    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(super) fn with(&mut self, tag: u64, how: impl FnOnce(&mut Matter)) {
        if let Some(matter) = self.matters.get_mut(&tag) {
            how(matter);
        }
    }

    /// Records that a session of this client ended.
    pub(super) fn orphan(&mut self, client: usize) {
        for matter in self.matters.values_mut().filter(|matter| matter.client == client) {
            matter.is_orphan = true;
        }
    }

    /// Records that a client posted the request with this tag.
    ///
    /// # Errors
    ///
    /// If nothing allowed another post.
    pub(super) fn sent(&mut self, tag: u64) -> Result<(), String> {
        let Some(matter) = self.matters.get_mut(&tag) else { return Ok(()) };
        matter.sent += 1;
        // A request that only reads is sent again, once, if its response or session is lost.
        let is_lost = matter.is_troubled || matter.is_orphan;
        let recoveries = u32::from(is_lost && only_reads(&matter.method));
        if matter.sent > 1 + recoveries + matter.asks - matter.legacy_asks {
            return Err(format!(
                "{tag} was posted {} times with {} input requests",
                matter.sent, matter.asks
            ));
        }
        Ok(())
    }

    /// Records that a request with this tag reached an application.
    ///
    /// # Errors
    ///
    /// If no such request was made, or it arrived more often than it was posted or input was
    /// requested.
    pub(super) fn deliver(&mut self, tag: u64, method: &str) -> Result<(), String> {
        let Some(matter) = self.matters.get_mut(&tag) else {
            return Err(format!("{tag} was never requested"));
        };
        if matter.method != method {
            return Err(format!("{tag} is {} and arrived as {method}", matter.method));
        }
        matter.deliveries += 1;
        if matter.deliveries > matter.posts + matter.legacy_asks {
            return Err(format!("{tag} arrived {} times of {}", matter.deliveries, matter.posts));
        }
        Ok(())
    }
}
