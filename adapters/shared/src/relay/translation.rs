//! Questions of a server in one revision, for a client in another one.

use mcp_proto::schema::{AnyObject, CreateMessage, Decode, Elicit, ElicitUrl, InputRequest};
use mcp_proto::{ErrorObject, NeededInput, Raw, Revision};

use crate::exec::random::random_id;

/// Returns a question of revision `from` as an input request for a client of revision `to`.
///
/// Within one revision, and if the question cannot be read, it is passed on as it is.
pub(super) fn translated(
    request: InputRequest,
    from: Revision,
    to: Revision,
) -> Result<NeededInput, ErrorObject> {
    let method = request.method;
    let params = request.params.map(|AnyObject(params)| params);
    if from != to
        && let Some(question) = params.as_ref().and_then(|params| read(&method, params))
    {
        return Ok(question);
    }
    match &*method {
        "roots/list" => Ok(NeededInput::Roots),
        "elicitation/create" | "sampling/createMessage" => {
            Ok(NeededInput::Raw(method.into(), params))
        }
        _ => Err(ErrorObject::method_not_found(&method)),
    }
}

fn read(method: &str, params: &Raw) -> Option<NeededInput> {
    let mode = params.member("mode");
    let is_url = mode.as_ref().and_then(Raw::to_text).as_deref() == Some("url");
    match method {
        "elicitation/create" if is_url => {
            let mut page = ElicitUrl::decode(params).ok()?;
            if page.elicitation_id.is_none() {
                // Revision 2025-11-25 requires an id, and 2026-07-28 has none.
                page.elicitation_id = Some((&*random_id().ok()?).into());
            }
            Some(page.into())
        }
        "elicitation/create" => Some(Elicit::decode(params).ok()?.into()),
        "sampling/createMessage" => Some(CreateMessage::decode(params).ok()?.into()),
        _ => None,
    }
}
