//! One end of the two links of a world, whoever plays it; knows nothing of who does.

use mcp_harness::{Link, Seed};
use mcp_proto::Instant;

use crate::books::Books;
use crate::coverage::Coverage;
use crate::plan::{Action, Plan};

/// What all of a world shares.
#[derive(Debug)]
pub(crate) struct Shared {
    /// What was drawn.
    pub(crate) plan: Plan,
    /// What time it is.
    pub(crate) now: Instant,
    /// What both sides did.
    pub(crate) books: Books,
    /// What was reached.
    pub(crate) coverage: Coverage,
    /// Some link was broken, or an end of one closed too early.
    pub(crate) is_broken: bool,
}

/// One end of the two links.
pub(crate) trait Party {
    /// Puts what it has to send into the link; false when there was nothing.
    fn send(&mut self, shared: &mut Shared, link: &mut Link) -> bool;

    /// Whether it reads.
    fn wants_input(&self) -> bool;

    /// Bytes came.
    fn hear(&mut self, shared: &mut Shared, piece: &[u8]);

    /// No bytes will come.
    fn hear_end(&mut self, shared: &mut Shared);

    /// When to wake it.
    fn next_wake(&self, shared: &Shared) -> Option<Instant>;

    /// Wakes it if it is time; false when it was not.
    fn wake(&mut self, shared: &mut Shared) -> bool;

    /// Looks at what it has been told; false when there was nothing.
    fn look(&mut self, shared: &mut Shared) -> bool;

    /// Does something; false when there was nothing to do it to, or it was refused.
    fn act(&mut self, shared: &mut Shared, action: Action, random: &mut Seed) -> bool;

    /// Does all that others wait for; false when there was nothing.
    fn catch_up(&mut self, shared: &mut Shared) -> bool;

    /// Whether others wait for it to end something that ends in time.
    fn is_open(&self) -> bool;

    /// Sees that nothing is left behind once all is quiet.
    fn check_rest(&mut self, shared: &mut Shared);

    /// Ends what does not end by itself; false when there was nothing.
    fn stop_listening(&mut self, shared: &mut Shared) -> bool;

    /// Sees that it has room for as much as in the beginning; nothing is under way on either side.
    fn check_room_again(&mut self, shared: &mut Shared, nobody_listens: bool);

    /// Sees that it is over.
    fn check_end(&mut self, shared: &mut Shared);

    /// Whether it is over and all is sent.
    fn is_done(&mut self) -> bool;

    /// What happened to it, in words.
    fn story(&self) -> String;
}
