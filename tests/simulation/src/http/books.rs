//! What both sides did about each call, and what all of a world on HTTP shares; knows tags, and
//! nothing of bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use mcp_proto::Instant;

use super::plan::Plan;
use crate::coverage::Coverage;

/// What all of a world shares.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) plan: Plan,
    pub(super) now: Instant,
    pub(super) books: Books,
    pub(super) coverage: Coverage,
    /// What happened, in words, if somebody wants to know.
    pub(super) story: Option<String>,
}

impl Shared {
    pub(super) fn mark(&mut self, name: &str) {
        self.coverage.mark(name);
    }

    /// Something happened.
    pub(super) fn tell(&mut self, words: impl FnOnce() -> String) {
        if let Some(story) = &mut self.story {
            let _infallible =
                writeln!(story, "{:>10.4} {}", self.now.as_nanos() as f64 / 1e9, words());
        }
    }

    /// A promise is broken.
    pub(super) fn breach(&self, what: impl AsRef<str>) -> ! {
        panic!("at {:.4}: {}\n", self.now.as_nanos() as f64 / 1e9, what.as_ref())
    }
}

/// What became of one thing that was asked for, on both sides. It goes by a tag that its params
/// carry.
#[derive(Clone, Debug, Default)]
pub(super) struct Matter {
    pub(super) client: usize,
    pub(super) method: String,
    /// How often it was sent, handed to a session, and heard by an application.
    pub(super) sent: u32,
    pub(super) posts: u32,
    pub(super) deliveries: u32,
    /// How often it was asked about, and how often of that in a session.
    pub(super) asks: u32,
    pub(super) legacy_asks: u32,
    pub(super) answered: Option<Instant>,
    pub(super) is_refused: bool,
    /// What progress was told of it, and the last that a machine took.
    pub(super) progress: BTreeSet<u64>,
    pub(super) last: Option<f64>,
    /// A connection of it broke, or it was turned away.
    pub(super) is_troubled: bool,
    /// Its client knows what to resume after.
    pub(super) is_resumable: bool,
    /// Its session ended.
    pub(super) is_orphan: bool,
}

/// What both sides did.
#[derive(Clone, Debug, Default)]
pub(super) struct Books {
    pub(super) matters: BTreeMap<u64, Matter>,
    next: u64,
}

impl Books {
    /// A new matter.
    pub(super) fn open(&mut self, client: usize, method: &str) -> u64 {
        self.next += 1;
        self.matters
            .insert(self.next, Matter { client, method: method.into(), ..Matter::default() });
        self.next
    }

    /// A number that no other has.
    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(super) fn with(&mut self, tag: u64, how: impl FnOnce(&mut Matter)) {
        if let Some(matter) = self.matters.get_mut(&tag) {
            how(matter);
        }
    }

    /// A session of this client ended.
    pub(super) fn orphan(&mut self, client: usize) {
        for matter in self.matters.values_mut().filter(|matter| matter.client == client) {
            matter.is_orphan = true;
        }
    }

    /// A client sent the request with this tag.
    ///
    /// # Errors
    /// When nobody had it sent once more.
    pub(super) fn sent(&mut self, tag: u64) -> Result<(), String> {
        let Some(matter) = self.matters.get_mut(&tag) else { return Ok(()) };
        matter.sent += 1;
        if matter.sent > 1 + matter.asks - matter.legacy_asks {
            return Err(format!(
                "{tag} was sent {} times and asked about {}",
                matter.sent, matter.asks
            ));
        }
        Ok(())
    }

    /// A request with this tag came to an application.
    ///
    /// # Errors
    /// When nobody made it, or it came more often than it was sent or asked about.
    pub(super) fn deliver(&mut self, tag: u64, method: &str) -> Result<(), String> {
        let Some(matter) = self.matters.get_mut(&tag) else {
            return Err(format!("nobody asked for {tag}"));
        };
        if matter.method != method {
            return Err(format!("{tag} is {} and came as {method}", matter.method));
        }
        matter.deliveries += 1;
        if matter.deliveries > matter.posts + matter.legacy_asks {
            return Err(format!("{tag} came {} times of {}", matter.deliveries, matter.posts));
        }
        Ok(())
    }
}
