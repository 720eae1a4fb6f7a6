//! The interface of one end of a world's two links.

use mcp_harness::{Pipe, Seed};
use mcp_proto::Instant;

use crate::coverage::Coverage;
use crate::model::Model;
use crate::plan::{Action, Plan};

/// The shared state of a world.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The plan.
    pub(crate) plan: Plan,
    /// The current time.
    pub(crate) now: Instant,
    /// The records of both sides.
    pub(crate) model: Model,
    /// What was reached.
    pub(crate) coverage: Coverage,
    /// Whether a link was broken, or closed too early.
    pub(crate) is_broken: bool,
}

/// One end of the two links.
pub(crate) trait Party {
    /// Writes output to the link; returns false if there was none.
    fn send(&mut self, shared: &mut Shared, link: &mut Pipe) -> bool;

    /// Returns whether the party reads.
    fn wants_input(&self) -> bool;

    /// Handles bytes.
    fn hear(&mut self, shared: &mut Shared, piece: &[u8]);

    /// Handles the end of input.
    fn hear_end(&mut self, shared: &mut Shared);

    /// Returns when to wake the party.
    fn next_wake(&self, shared: &Shared) -> Option<Instant>;

    /// Wakes the party if it is due; returns false if not.
    fn wake(&mut self, shared: &mut Shared) -> bool;

    /// Polls the party's events; returns false if there were none.
    fn look(&mut self, shared: &mut Shared) -> bool;

    /// Runs an action; returns false if it does not apply or is refused.
    fn act(&mut self, shared: &mut Shared, action: Action, random: &mut Seed) -> bool;

    /// Does everything others wait for; returns false if there was nothing.
    fn catch_up(&mut self, shared: &mut Shared) -> bool;

    /// Returns whether others wait for this party to end something that ends by itself.
    fn is_open(&self) -> bool;

    /// Checks that an idle party holds nothing.
    fn check_rest(&mut self, shared: &mut Shared);

    /// Ends what does not end by itself; returns false if there was nothing.
    fn stop_listening(&mut self, shared: &mut Shared) -> bool;

    /// Checks that an idle party has room for as much as at the start.
    fn check_room_again(&mut self, shared: &mut Shared, without_subscriptions: bool);

    /// Checks that the party is closed.
    fn check_end(&mut self, shared: &mut Shared);

    /// Returns whether the party is closed and its output sent.
    fn is_done(&mut self) -> bool;

    /// Returns the party's history in words.
    fn timeline(&self) -> String;
}
