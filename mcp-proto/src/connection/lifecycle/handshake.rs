//! Reads and writes the `initialize` request and its result, on both sides.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::super::context::Env;
use super::open_action::OpenAction;
use crate::error::{Unencodable, code};
use crate::json::{Frame, Object, Raw, find, unescape};
use crate::meta::supported;
use crate::revision::{Era, Revision, Side};
use crate::rpc::{ErrorObject, Params};
use crate::schema::{Capabilities, Decode, Encode, Implementation, Initialize, InitializeResult};
use crate::vocabulary::{Fault, Identity, Peer};

/// Client: writes the params of `initialize`.
// LIF-01, LIF-02, LIF-19: `revision` is the newest legacy revision supported.
pub(crate) fn write_initialize(
    env: &Env,
    revision: Revision,
    out: &mut Vec<u8>,
) -> Result<(), Unencodable> {
    let identity = &env.identity;
    let capabilities = identity.declared_in(revision).into_owned();
    let info = identity.info.clone();
    Initialize::new(revision.name(), capabilities, info).encode(revision, out)
}

/// Client: reads the result of `initialize`.
pub(crate) fn read_welcome(result: &Raw, identity: &Identity) -> OpenAction {
    let limits = &identity.limits;
    let info = find(result.as_bytes(), "serverInfo").map_or(0, <[u8]>::len);
    if result.as_bytes().len() > limits.peer_bytes_max || info > limits.identity_bytes_max() {
        let why = "description exceeds `Limits::peer_bytes_max`, or `serverInfo` a quarter of it";
        return OpenAction::Fault(Fault::BadHandshake(why.into()));
    }
    let welcome = match InitializeResult::decode(result) {
        Ok(welcome) => welcome,
        Err(error) => return OpenAction::Fault(Fault::BadHandshake(error.to_string().into())),
    };
    let takes =
        |revision: Revision| !revision.is_modern() || identity.accepts_modern_initialize_result;
    let revision = Revision::from_name(&welcome.protocol_version)
        .filter(|revision| takes(*revision) && identity.revisions.contains(revision));
    let Some(revision) = revision else {
        return OpenAction::Fault(Fault::NoCommonRevision(welcome.protocol_version));
    };
    OpenAction::Agreed(Peer {
        revision,
        info: welcome.server_info,
        capabilities: welcome.capabilities.reinterpret(Side::Server, revision),
        instructions: welcome.instructions.map(Into::into),
    })
}

/// Server: reads `initialize` and selects the revision.
// LIF-03…05: the offered revision if supported, otherwise our newest.
// LIF-15, LIF-33: an error names the supported revisions.
pub(crate) fn negotiate(params: &Params<'_>, identity: &Identity) -> Result<Peer, ErrorObject> {
    if params.object.is_some_and(|object| object.text.len() > identity.limits.peer_bytes_max) {
        return Err(ErrorObject::invalid_params("client description is too large"));
    }
    let Some(offered) = params.member("protocolVersion").and_then(unescape) else {
        return Err(ErrorObject::invalid_params("`protocolVersion` must be a string"));
    };
    let same = Revision::from_name(&offered)
        .filter(|revision| !revision.is_modern() && identity.revisions.contains(revision));
    let Some(revision) = same.or_else(|| identity.newest(Era::Legacy)) else {
        let error =
            ErrorObject::new(code::UNSUPPORTED_PROTOCOL_VERSION, "sessions are not supported");
        return Err(error.with_data(supported(&identity.revisions, Some(&offered))));
    };
    // A missing capability counts as unsupported.
    let object = params.object.map_or(&b"{}"[..], |object| object.text);
    let keep = |name| find(object, name).map(|value| Frame::Borrowed(value).keep(value, true));
    let capabilities = keep("capabilities").unwrap_or_else(Raw::empty_object);
    let info = keep("clientInfo")
        .filter(|info| info.as_bytes().len() <= identity.limits.identity_bytes_max())
        .and_then(|info| Implementation::decode(&info).ok());
    Ok(Peer {
        revision,
        info: info.unwrap_or_else(|| Implementation::new("", "")),
        capabilities: Capabilities::declared(capabilities, Side::Client, revision),
        instructions: None,
    })
}

/// Server: writes the result of `initialize`.
pub(crate) fn write_welcome(
    identity: &Identity,
    revision: Revision,
    out: &mut Vec<u8>,
) -> Result<(), Unencodable> {
    let mut result = Object::begin(out);
    result.str("protocolVersion", revision.name());
    let capabilities = identity.declared_in(revision);
    capabilities.write(result.key("capabilities"), Side::Server, revision);
    identity.info.encode(revision, result.key("serverInfo"))?;
    result.opt_str("instructions", identity.instructions.as_deref());
    result.end();
    Ok(())
}

#[cfg(test)]
mod tests;
