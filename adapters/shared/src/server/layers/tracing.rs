//! A layer that runs each request in a span of `tracing`.

use mcp_proto::Raw;
use mcp_proto::schema::{CallTool, ClientRequest, GetPrompt, ReadResource};
use tracing::field::{Empty, display};
use tracing::{Instrument as _, Span, info_span};

use super::incoming::Incoming;
use super::layer::{Layer, Next};
use super::observe::{Observation, run};
use super::response::Response;
use crate::box_future::BoxFuture;
use crate::outcome::Outcome;
use crate::trace::TARGET;

/// Runs each request in a span `mcp.request` of `tracing`, at level `INFO` (feature `tracing`).
///
/// The fields of the span have the names of the OpenTelemetry [semantic conventions for
/// MCP][conventions], where these exist:
///
/// | field | value |
/// |---|---|
/// | `otel.kind` | `server` |
/// | `otel.name` | the method and the name of the tool or prompt, if it has a handler |
/// | `mcp.method.name` | the method, such as `tools/call` |
/// | `mcp.protocol.version` | the protocol revision of the request |
/// | `gen_ai.tool.name`, `gen_ai.prompt.name`, `mcp.resource.uri` | what the request names |
/// | `mcp.session.id` | the HTTP session, with [`session_ids`](Self::session_ids) |
/// | `traceparent`, `tracestate` | the [W3C trace context][context] in the request's `_meta` |
/// | `outcome` | an [`Outcome`], such as `success` |
/// | `error.type` | for failed requests: `tool_error`, `cancelled` or the code of the error |
/// | `rpc.response.status_code` | the code of the JSON-RPC error, if the request failed with one |
/// | `duration_ms` | the time that the request took, in milliseconds |
///
/// To continue the trace of the client, an OpenTelemetry layer of the subscriber can read the trace
/// context from these fields, or another layer of the server from [`Incoming::meta`].
///
/// Arguments and results are not recorded. Text of the client is cut off after 256 characters; its
/// control characters are removed. A trace context of more than 512 bytes is not recorded.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::Server;
/// use mcp_tokio::layers::Tracing;
///
/// let server = Server::new("weather", "1.0.0").layer(Tracing::new());
/// # drop(server);
/// ```
///
/// [context]: https://www.w3.org/TR/trace-context/
/// [conventions]: https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/
#[derive(Clone, Debug, Default)]
pub struct Tracing {
    session_ids: bool,
}

impl Tracing {
    /// Creates the layer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Records the ids of HTTP sessions (feature `http`). Default: off.
    ///
    /// A session id is a credential: enable this only if the traces are protected.
    #[cfg(feature = "http")]
    #[must_use]
    pub const fn session_ids(mut self) -> Self {
        self.session_ids = true;
        self
    }

    fn session_id(&self, request: &Incoming) -> Option<String> {
        self.session_ids.then(|| request.cx().request.link.lock().connection.session_id())?
    }

    fn span(&self, request: &Incoming, next: &Next) -> Span {
        let method = request.method();
        let span = info_span!(
            target: TARGET,
            "mcp.request",
            otel.kind = "server",
            otel.name = Empty,
            mcp.method.name = method,
            mcp.protocol.version = request.cx().peer().revision.name(),
            gen_ai.tool.name = Empty,
            gen_ai.prompt.name = Empty,
            mcp.resource.uri = Empty,
            mcp.session.id = Empty,
            traceparent = Empty,
            tracestate = Empty,
            outcome = Empty,
            error.r#type = Empty,
            rpc.response.status_code = Empty,
            duration_ms = Empty,
        );
        if span.is_disabled() {
            return span;
        }
        if let Some(name) = request.name().as_deref().map(shortened) {
            // URIs do not become part of the name of the span, because there are too many.
            match method {
                CallTool::METHOD => span.record("gen_ai.tool.name", &*name),
                ReadResource::METHOD => span.record("mcp.resource.uri", &*name),
                GetPrompt::METHOD => span.record("gen_ai.prompt.name", &*name),
                _ => &span,
            };
            // Names that the client invented would be too many, too.
            let is_named = matches!(method, CallTool::METHOD | GetPrompt::METHOD);
            if is_named && next.has_handler(request) {
                span.record("otel.name", display(format_args!("{method} {name}")));
            }
        }
        if let Some(id) = self.session_id(request) {
            span.record("mcp.session.id", &*id);
        }
        for key in ["traceparent", "tracestate"] {
            let value = request.meta(key);
            let value = value.as_ref().and_then(Raw::to_text);
            if let Some(value) = value.filter(|value| is_trace_context(value)) {
                span.record(key, &*value);
            }
        }
        span
    }
}

impl Layer for Tracing {
    fn call(&self, request: Incoming, next: Next) -> BoxFuture<'static, Response> {
        let span = self.span(&request, &next);
        let report = {
            let span = span.clone();
            move |observation: &Observation<'_>| report(&span, observation)
        };
        Box::pin(run(request, next, report).instrument(span))
    }
}

fn report(span: &Span, observation: &Observation<'_>) {
    let outcome = observation.outcome();
    span.record("outcome", outcome.as_str());
    if let Some(code) = observation.error_code() {
        span.record("rpc.response.status_code", code);
        span.record("error.type", code);
    } else if !matches!(outcome, Outcome::Success | Outcome::InputRequired) {
        span.record("error.type", outcome.as_str());
    }
    span.record("duration_ms", observation.duration().as_secs_f64() * 1000.0);
}

/// The longest text of a client in a span, in characters.
const TEXT_CHARS_MAX: usize = 256;

/// Returns text of a client for a span.
fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(TEXT_CHARS_MAX).collect()
}

/// Returns whether a text can be a header value of the W3C trace context.
fn is_trace_context(value: &str) -> bool {
    value.len() <= TRACE_BYTES_MAX && value.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// The longest `tracestate` that every implementation must pass on.
const TRACE_BYTES_MAX: usize = 512;
