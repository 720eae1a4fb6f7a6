//! Translation between revisions, beyond what the connections do themselves.

use mcp_proto::schema::{
    CallTool, CallToolResult, Capabilities, ClientRequest, Complete, CompleteResult, Decode,
    Encode, ExtraMembers, GetPrompt, GetPromptResult, ListPrompts, ListPromptsResult,
    ListResourceTemplates, ListResourceTemplatesResult, ListResources, ListResourcesResult,
    ListTools, ListToolsResult, ReadResource, ReadResourceResult, key,
};
use mcp_proto::{Raw, Revision, Side};

/// Reads the capabilities of a client from its first message: `initialize`, or any modern request.
pub(crate) fn declared_capabilities(line: &[u8]) -> Capabilities {
    let message = std::str::from_utf8(line).ok().and_then(|line| Raw::from_text(line.trim()).ok());
    let params = message.and_then(|message| message.member("params"));
    let legacy = params.as_ref().and_then(|params| {
        let name = params.member("protocolVersion")?;
        let revision = Revision::from_name(&name.to_text()?).unwrap_or(Revision::V2025_11_25);
        Some((params.member("capabilities")?, revision))
    });
    let modern = || {
        Some((
            params.as_ref()?.member("_meta")?.member(key::CLIENT_CAPABILITIES)?,
            Revision::V2026_07_28,
        ))
    };
    let found = legacy.or_else(modern);
    found.map_or_else(Capabilities::none, |(raw, revision)| {
        Capabilities::declared(raw, Side::Client, revision)
    })
}

/// Removes the description of the client from the params of a request; the proxy adds its own.
pub(crate) fn without_client_context(params: &Raw) -> Raw {
    let remove = |params: &Raw| -> Option<Raw> {
        let mut params = ExtraMembers::decode(params).ok()?;
        let mut meta = ExtraMembers::decode(&params.remove("_meta")?).ok()?;
        for name in
            [key::PROTOCOL_VERSION, key::CLIENT_CAPABILITIES, key::CLIENT_INFO, key::LOG_LEVEL]
        {
            meta.remove(name);
        }
        if !meta.is_empty() {
            params.set("_meta", meta.to_raw(Revision::V2026_07_28).ok()?);
        }
        params.to_raw(Revision::V2026_07_28).ok()
    };
    remove(params).unwrap_or_else(|| params.clone())
}

/// Decodes a result, so that encoding it again produces only members of the client's revision.
/// Returns results of unknown methods unchanged.
pub(crate) fn reencoded(method: &str, result: &Raw) -> Box<dyn Encode> {
    fn decode<T: Decode + Encode + 'static>(result: &Raw) -> Option<Box<dyn Encode>> {
        T::decode(result).ok().map(|result| Box::new(result) as _)
    }
    let typed = match method {
        CallTool::METHOD => decode::<CallToolResult>(result),
        Complete::METHOD => decode::<CompleteResult>(result),
        GetPrompt::METHOD => decode::<GetPromptResult>(result),
        ListPrompts::METHOD => decode::<ListPromptsResult>(result),
        ListResources::METHOD => decode::<ListResourcesResult>(result),
        ListResourceTemplates::METHOD => decode::<ListResourceTemplatesResult>(result),
        ListTools::METHOD => decode::<ListToolsResult>(result),
        ReadResource::METHOD => decode::<ReadResourceResult>(result),
        _ => None,
    };
    typed.unwrap_or_else(|| Box::new(result.clone()))
}
