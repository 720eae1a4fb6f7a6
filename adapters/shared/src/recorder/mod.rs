//! Whether the connections of a server or a client are recorded; knows nothing of what they say.

#[cfg(feature = "record")]
pub(crate) mod enabled;

use mcp_proto::Instant;
use mcp_proto::stdio::Stdio;

#[cfg(feature = "record")]
use crate::recorder::enabled::{Make, Recorded, Tape};
use crate::transport::link::{Role, Transport};

/// Recordings to be made, if any: one of each connection over a byte stream.
#[derive(Clone, Default)]
pub(crate) struct Tapes {
    #[cfg(feature = "record")]
    make: Option<std::sync::Arc<Make>>,
}

impl Tapes {
    /// Recordings that are written to what `make` makes.
    #[cfg(feature = "record")]
    pub(crate) fn new<W: std::io::Write + Send + 'static>(
        make: impl Fn() -> std::io::Result<W> + Send + Sync + 'static,
    ) -> Self {
        let make = move || Ok(Box::new(make()?) as Box<dyn std::io::Write + Send>);
        Self { make: Some(std::sync::Arc::new(make)) }
    }

    /// One more connection, whose machine was made at `began`.
    #[cfg_attr(
        not(feature = "record"),
        allow(unused_variables, clippy::unused_self, reason = "as with the feature")
    )]
    pub(crate) fn carry<R: Role>(&self, machine: Stdio<R>, began: Instant) -> Transport<R> {
        #[cfg(feature = "record")]
        if let Some(make) = &self.make {
            return Transport::Recorded(Box::new(Recorded::new(
                machine,
                began,
                Tape::begin(&**make),
            )));
        }
        Transport::Bytes(Box::new(machine))
    }
}
