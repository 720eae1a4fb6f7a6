//! The recorder of builds without the `tracing` feature: it records nothing.

use mcp_proto::stdio::Stdio;
use mcp_proto::{Instant, MessageEndpoint};

use crate::transport::link::BoxedTransport;

/// The configuration of recordings; empty without the feature.
#[derive(Clone, Default)]
pub(crate) struct Recorder {}

impl Recorder {
    /// Returns `machine`: without the feature nothing is recorded.
    #[expect(clippy::unused_self, reason = "shared signature with the feature")]
    pub(crate) fn start<R: MessageEndpoint + Send + 'static>(
        &self,
        machine: Stdio<R>,
        _: Instant,
    ) -> BoxedTransport<R> {
        Box::new(machine)
    }
}
