//! The capabilities that an input request needs and the client did not declare.

use mcp_proto::schema::InputRequest;
use mcp_proto::{Capability, Peer, Raw};

/// Returns what an input request needs, for an error message, if the client did not declare it.
// SEC-08, CAP-06: each mode has its own capability.
pub(crate) fn undeclared(request: &InputRequest, client: &Peer) -> Option<&'static str> {
    let member = |name| request.params.as_ref().and_then(|params| params.0.member(name));
    let is_url = member("mode").as_ref().and_then(Raw::to_text).as_deref() == Some("url");
    let (needed, what) = match &*request.method {
        "elicitation/create" if is_url => {
            (Capability::ElicitationUrl, "`elicitation/create` with a URL")
        }
        "elicitation/create" => (Capability::ElicitationForm, "`elicitation/create` with a form"),
        "sampling/createMessage" if member("tools").or_else(|| member("toolChoice")).is_some() => {
            (Capability::SamplingTools, "`sampling/createMessage` with tools")
        }
        "sampling/createMessage" => (Capability::Sampling, "`sampling/createMessage`"),
        "roots/list" => (Capability::Roots, "`roots/list`"),
        _ => return None,
    };
    (!client.has(needed)).then_some(what)
}
