//! Traces of one connection, with the `tracing` feature.

#[cfg(feature = "auth")]
use std::fmt;
use std::future::Future;
use std::io;
#[cfg(feature = "task-store")]
use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use tracing::{Instrument as _, Span, debug, debug_span, info, trace, warn};

use super::{EventSummary, TARGET};

/// The span of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    span: Span,
    /// Payloads are traced in addition to their lengths.
    payloads: bool,
}

impl Trace {
    pub(crate) fn new(role: &'static str, payloads: bool) -> Self {
        Self { span: debug_span!(target: TARGET, "mcp", role), payloads }
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
            trace!(target: TARGET, parent: &self.span, bytes = bytes.len(), %payload, "{what}");
        } else {
            trace!(target: TARGET, parent: &self.span, bytes = bytes.len(), "{what}");
        }
    }

    pub(crate) fn event(&self, summary: EventSummary<'_>) {
        let EventSummary { name, detail: of } = summary;
        match name {
            "violation" => warn!(target: TARGET, parent: &self.span, of, "{name}"),
            "ready" | "closed" => info!(target: TARGET, parent: &self.span, of, "{name}"),
            _ => debug!(target: TARGET, parent: &self.span, of, "{name}"),
        }
    }

    /// Reports that the recording has ended early.
    pub(crate) fn recording_failed(&self, why: &io::Error) {
        warn!(target: TARGET, parent: &self.span, %why, "no longer recorded");
    }

    /// Reports a handler that took long on the thread that drives its connection.
    pub(crate) fn held(&self, handler: &str, took: Duration) {
        warn!(
            target: TARGET, parent: &self.span,
            handler,
            ?took,
            "the handler held up its connection; if it blocks, register it as blocking, and if it \
             is a future, let it wait without blocking"
        );
    }

    /// Runs a blocking handler in its own span.
    pub(crate) fn run_handler<T>(&self, method: &str, run: impl FnOnce() -> T) -> T {
        debug_span!(target: TARGET, parent: &self.span, "handler", method).in_scope(run)
    }

    /// Runs a handler that is a future in its own span.
    pub(crate) fn instrument_handler<F: Future>(
        &self,
        method: &str,
        future: F,
    ) -> impl Future<Output = F::Output> + use<F> {
        future.instrument(debug_span!(target: TARGET, parent: &self.span, "handler", method))
    }
}

/// Reports a handler's result that cannot be serialized, in the span of the handler.
#[cfg(feature = "schemars")]
pub(crate) fn unserializable(type_name: &str) {
    warn!(
        target: TARGET, type_name,
        "the result cannot be serialized to JSON: map keys must be strings or numbers, and \
         `Serialize` must not fail"
    );
}

/// Reports, once, that log messages are dropped because the server does not declare logging.
pub(crate) fn undeclared_logging() {
    static REPORTED: Once = Once::new();
    REPORTED.call_once(|| {
        warn!(
            target: TARGET,
            "a log message was dropped: the server does not declare logging (`Server::logging`)"
        );
    });
}

/// Reports a request over HTTP that is refused. `reason` must show nothing of the request.
#[cfg(feature = "http")]
pub(crate) fn refused(status: u16, reason: &str) {
    debug!(target: TARGET, status, reason, "a request was refused");
}

/// Reports a tool name that the specification advises against.
pub(crate) fn unusual_tool_name(name: &str) {
    warn!(
        target: TARGET, name,
        "some clients may not accept this tool name: use 1 to 128 ASCII letters, digits, `_`, `-` \
         and `.`"
    );
}

/// Reports a field of a tool's input schema that some hosts cannot read.
pub(crate) fn unreadable_schema(tool: &str, field: &str, reason: &str) {
    warn!(target: TARGET, tool, field, "some hosts cannot read the schema of this tool: {reason}");
}

/// Reports that tokens of an issuer cannot be verified now. `why` must not show a token.
#[cfg(feature = "auth")]
pub(crate) fn not_verifiable(issuer: &str, what: &'static str, why: &dyn fmt::Display) {
    warn!(target: TARGET, issuer, %why, "{what}");
}

/// Reports a stored task that is skipped. `why` must show nothing of the task.
#[cfg(feature = "task-store")]
pub(crate) fn unreadable_task(path: &Path, why: &str) {
    warn!(
        target: TARGET,
        path = %path.display(),
        why,
        "skipped a stored task that cannot be read; it is kept"
    );
}

/// Reports a task that cannot be saved.
pub(crate) fn unsaved_task(error: &io::Error) {
    warn!(target: TARGET, %error, "a task cannot be saved");
}
