//! What is told to `tracing`, with the feature of that name: a span for each connection and each
//! handler, an event for each event. Payloads are told only where that was asked for.

use mcp_proto::Close;

#[cfg(feature = "tracing")]
pub(crate) use told::Trace;
#[cfg(not(feature = "tracing"))]
pub(crate) use untold::Trace;

/// What an event of a session is, in short: its name, and what it is about.
#[derive(Clone, Copy, Debug)]
#[expect(unnameable_types, reason = "roles are of this crate")]
#[cfg_attr(not(feature = "tracing"), allow(dead_code, reason = "nobody is told"))]
pub struct About<'a> {
    pub(crate) name: &'static str,
    pub(crate) of: &'a str,
}

/// How a connection ended.
pub(crate) const fn how(why: &Close) -> &'static str {
    match why {
        Close::Local => "by us",
        Close::Peer => "by the peer",
        Close::Fault(_) => "by a fault",
    }
}

#[cfg(feature = "tracing")]
mod told {
    use std::future::Future;

    use tracing::{Instrument as _, Span, debug, debug_span, info, trace, warn};

    use super::About;

    /// A connection's span.
    #[derive(Clone, Debug)]
    pub(crate) struct Trace {
        span: Span,
        payloads: bool,
    }

    impl Trace {
        pub(crate) fn new(role: &'static str, payloads: bool) -> Self {
            Self { span: debug_span!("mcp", role), payloads }
        }

        pub(crate) fn input(&self, bytes: &[u8]) {
            self.bytes("received", bytes);
        }

        pub(crate) fn output(&self, bytes: &[u8]) {
            self.bytes("sending", bytes);
        }

        fn bytes(&self, what: &'static str, bytes: &[u8]) {
            if self.payloads {
                let payload = String::from_utf8_lossy(bytes);
                trace!(parent: &self.span, bytes = bytes.len(), %payload, "{what}");
            } else {
                trace!(parent: &self.span, bytes = bytes.len(), "{what}");
            }
        }

        pub(crate) fn event(&self, about: About<'_>) {
            let About { name, of } = about;
            match name {
                "violation" => warn!(parent: &self.span, of, "{name}"),
                "ready" | "closed" => info!(parent: &self.span, of, "{name}"),
                _ => debug!(parent: &self.span, of, "{name}"),
            }
        }

        /// The recording has ended early.
        #[cfg(feature = "record")]
        pub(crate) fn unrecorded(&self, why: &std::io::Error) {
            warn!(parent: &self.span, %why, "no longer recorded");
        }

        /// Runs a handler in a span of its own.
        pub(crate) fn within<T>(&self, method: &str, run: impl FnOnce() -> T) -> T {
            debug_span!(parent: &self.span, "handler", method).in_scope(run)
        }

        /// The same for a future.
        pub(crate) fn around<F: Future>(
            &self,
            method: &str,
            future: F,
        ) -> impl Future<Output = F::Output> + use<F> {
            future.instrument(debug_span!(parent: &self.span, "handler", method))
        }
    }
}

#[cfg(not(feature = "tracing"))]
mod untold {
    use std::future::Future;

    use super::About;

    /// Nothing.
    #[derive(Clone, Debug)]
    pub(crate) struct Trace;

    #[allow(clippy::unused_self, reason = "as with the feature")]
    impl Trace {
        pub(crate) const fn new(_: &'static str, _: bool) -> Self {
            Self
        }

        pub(crate) const fn input(&self, _: &[u8]) {}

        pub(crate) const fn output(&self, _: &[u8]) {}

        pub(crate) const fn event(&self, _: About<'_>) {}

        #[cfg(feature = "record")]
        pub(crate) const fn unrecorded(&self, _: &std::io::Error) {}

        pub(crate) fn within<T>(&self, _: &str, run: impl FnOnce() -> T) -> T {
            run()
        }

        pub(crate) const fn around<F: Future>(&self, _: &str, future: F) -> F {
            future
        }
    }
}
