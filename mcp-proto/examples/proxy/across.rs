//! What one revision says differently from another, as far as the machines do not see to it
//! themselves.

use mcp_proto::schema::{
    CallTool, CallToolResult, Capabilities, ClientRequest, Complete, CompleteResult, Decode,
    Encode, GetPrompt, GetPromptResult, ListPrompts, ListPromptsResult, ListResourceTemplates,
    ListResourceTemplatesResult, ListResources, ListResourcesResult, ListTools, ListToolsResult,
    Members, ReadResource, ReadResourceResult, key,
};
use mcp_proto::{Raw, Revision, Side};

/// What a client can do, by its first message: in a session that is `initialize`, without one any
/// request says so.
pub(crate) fn declared(line: &[u8]) -> Capabilities {
    let message = std::str::from_utf8(line).ok().and_then(|line| Raw::from_text(line.trim()).ok());
    let params = message.and_then(|message| message.member("params"));
    let in_session = params.as_ref().and_then(|params| {
        let name = params.member("protocolVersion")?;
        let revision = Revision::from_name(&name.to_text()?).unwrap_or(Revision::V2025_11_25);
        Some((params.member("capabilities")?, revision))
    });
    let alone = || {
        Some((
            params.as_ref()?.member("_meta")?.member(key::CLIENT_CAPABILITIES)?,
            Revision::V2026_07_28,
        ))
    };
    let found = in_session.or_else(alone);
    found.map_or_else(Capabilities::none, |(raw, revision)| {
        Capabilities::declared(&raw, Side::Client, revision)
    })
}

/// The params of a request without what the client says of itself: the proxy speaks for itself.
pub(crate) fn for_server(params: &Raw) -> Raw {
    let without = |params: &Raw| -> Option<Raw> {
        let mut params = Members::decode(params).ok()?;
        let mut meta = Members::decode(&params.remove("_meta")?).ok()?;
        for name in
            [key::PROTOCOL_VERSION, key::CLIENT_CAPABILITIES, key::CLIENT_INFO, key::LOG_LEVEL]
        {
            meta.remove(name);
        }
        if !meta.is_empty() {
            params.set("_meta", written(&meta)?);
        }
        written(&params)
    };
    without(params).unwrap_or_else(|| params.clone())
}

fn written(members: &Members) -> Option<Raw> {
    let mut text = Vec::new();
    members.encode(Revision::V2026_07_28, &mut text).ok()?;
    Raw::from_text(std::str::from_utf8(&text).ok()?).ok()
}

/// A result by its type, which writes what the client's revision knows of it; as it came where it
/// has no type.
pub(crate) fn restated(method: &str, result: &Raw) -> Box<dyn Encode> {
    fn by<T: Decode + Encode + 'static>(result: &Raw) -> Option<Box<dyn Encode>> {
        T::decode(result).ok().map(|result| Box::new(result) as _)
    }
    let typed = match method {
        CallTool::METHOD => by::<CallToolResult>(result),
        Complete::METHOD => by::<CompleteResult>(result),
        GetPrompt::METHOD => by::<GetPromptResult>(result),
        ListPrompts::METHOD => by::<ListPromptsResult>(result),
        ListResources::METHOD => by::<ListResourcesResult>(result),
        ListResourceTemplates::METHOD => by::<ListResourceTemplatesResult>(result),
        ListTools::METHOD => by::<ListToolsResult>(result),
        ReadResource::METHOD => by::<ReadResourceResult>(result),
        _ => None,
    };
    typed.unwrap_or_else(|| Box::new(result.clone()))
}
