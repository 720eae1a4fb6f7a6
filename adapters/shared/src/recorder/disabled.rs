//! The recorder of builds without the `record` feature: it records nothing.

use std::convert::Infallible;
use std::io;
use std::marker::PhantomData;
use std::ops::Deref;

use mcp_proto::stdio::Stdio;
use mcp_proto::{Apply, CommandOutcome, Endpoint, Instant, Misuse, Outbox};

/// A recorded connection, which cannot exist without the `record` feature.
#[derive(Debug)]
#[expect(unnameable_types, reason = "the transport of a connection is internal")]
pub struct RecordedStream<R>(Infallible, PhantomData<R>);

/// The configuration of recordings; empty without the feature.
#[derive(Clone, Default)]
pub(crate) struct Recorder {}

impl Recorder {
    /// Returns `machine`: without the feature nothing is recorded.
    ///
    /// # Errors
    /// Always `machine` itself.
    #[expect(clippy::unused_self, reason = "shared signature with the feature")]
    pub(crate) fn start<R>(
        &self,
        machine: Stdio<R>,
        _: Instant,
    ) -> Result<RecordedStream<R>, Stdio<R>> {
        Err(machine)
    }
}

/// Ends a recording.
#[expect(clippy::needless_pass_by_ref_mut, reason = "shared signature with the feature")]
pub(crate) fn end<R>(recorded: &mut RecordedStream<R>) {
    match recorded.0 {}
}

/// Returns why a recording ended early, once.
#[expect(clippy::needless_pass_by_ref_mut, reason = "shared signature with the feature")]
pub(crate) fn take_failure<R>(recorded: &mut RecordedStream<R>) -> Option<io::Error> {
    match recorded.0 {}
}

impl<R> Deref for RecordedStream<R> {
    type Target = Stdio<R>;

    fn deref(&self) -> &Stdio<R> {
        match self.0 {}
    }
}

impl<R: Apply> Endpoint for RecordedStream<R> {
    type Event = R::Event;
    type Role = R;

    fn role(&self) -> &R {
        match self.0 {}
    }

    fn apply(&mut self, _: Instant, _: R::Command<'_>) -> Result<CommandOutcome, Misuse> {
        match self.0 {}
    }

    fn handle_input(&mut self, _: Instant, _: &[u8]) {
        match self.0 {}
    }

    fn handle_eof(&mut self, _: Instant) {
        match self.0 {}
    }

    fn handle_timeout(&mut self, _: Instant) {
        match self.0 {}
    }

    fn poll_event(&mut self) -> Option<R::Event> {
        match self.0 {}
    }

    fn poll_timeout(&self) -> Option<Instant> {
        match self.0 {}
    }

    fn outbox(&mut self) -> &mut Outbox {
        match self.0 {}
    }

    fn wants_input(&self) -> bool {
        match self.0 {}
    }

    fn is_closed(&self) -> bool {
        match self.0 {}
    }
}
