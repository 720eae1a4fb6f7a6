//! The types of the schema, reduced to decoding and encoding JSON.

use mcp_proto::schema as s;
use mcp_proto::schema::{Decode, Encode};
use mcp_proto::{Raw, RequestId, Revision};

/// A type can encode what it decodes and decodes its own output to an equal value, and unknown
/// members change nothing.
pub fn schema_decode(data: &[u8]) {
    let Some((which, text)) = data.split_first() else { return };
    let Some(raw) = std::str::from_utf8(text).ok().and_then(|text| Raw::from_text(text).ok())
    else {
        return;
    };
    if let Some((_, check)) = CHECKS.get(usize::from(*which) % CHECKS.len()) {
        check(&raw);
    }
}

/// Returns the first byte of inputs for the type of this name.
#[must_use]
pub fn selector(name: &str) -> Option<u8> {
    CHECKS.iter().position(|(known, _)| *known == name).and_then(|index| u8::try_from(index).ok())
}

type Check = fn(&Raw);

macro_rules! checks {
    ($($type:ty),* $(,)?) => {
        const CHECKS: &[(&str, Check)] = &[$((stringify!($type), check::<$type>)),*];
    };
}

checks! {
    s::Annotations, s::AnyElicit, s::Audio, s::BlobResource, s::BoolField, s::CallTool,
    s::CallToolResult, s::CancelTask, s::CancelledNotification, s::Capabilities, s::ChoiceField,
    s::ChoicesField, s::Complete, s::CompleteResult, s::Content, s::CreateMessage,
    s::CreateMessageResult, s::CreateTaskResult, s::DetailedTask, s::DiscoverResult, s::Elicit,
    s::ElicitResult, s::ElicitUrl, s::EmbeddedResource, s::Field, s::Form, s::GetPrompt,
    s::GetPromptResult, s::Icon, s::Image, s::Implementation, s::Initialize, s::InitializeResult,
    s::InputRequest, s::InputRequired, s::Level, s::ListPromptsResult,
    s::ListResourceTemplatesResult, s::ListResourcesResult, s::ListRootsResult, s::ListTasksResult,
    s::ListTools, s::ListToolsResult, s::SubscriptionsListen, s::SubscriptionsListenResult,
    s::LogMessage, s::Meta,
    s::MissingCapabilities, s::ModelPreferences, s::NumberField, s::ProgressNotification, s::Prompt,
    s::PromptMessage, s::ReadResource, s::ReadResourceResult, s::Reference, s::Resource,
    s::ResourceContents, s::ResourceLink, s::ResourceTemplate, s::Root, s::SamplingContent,
    s::SamplingMessage, s::SetLevel, s::SubscriptionFilter, s::SubscriptionsAcknowledged, s::Task,
    s::Text, s::TextField, s::TextResource, s::Tool, s::ToolAnnotations, s::ToolResult, s::ToolUse,
    s::UnsupportedVersion, s::UpdateTask, s::UrlElicitationRequired, RequestId,
}

fn check<T: Decode + Encode>(raw: &Raw) {
    let Ok(value) = T::decode(raw) else { return };
    for revision in Revision::ALL {
        let Some(written) = write(&value, revision) else { continue };
        let again = T::decode(&written)
            .unwrap_or_else(|error| panic!("{revision}: {error}: {raw} was written as {written}"));
        assert_eq!(write(&again, revision), Some(written), "{revision}: {raw}");
    }
    if let Some(members) = raw.as_str().strip_suffix('}') {
        let comma = if raw.as_str() == "{}" { "" } else { "," };
        let more = Raw::from_text(&format!("{members}{comma}\"x-fuzz\":[{{\"deep\":null}}]}}"));
        // It may be one level too deep now.
        if let Ok(more) = more {
            assert!(T::decode(&more).is_ok(), "a member more made it unreadable: {raw}");
        }
    }
}

fn write(value: &impl Encode, revision: Revision) -> Option<Raw> {
    let mut out = Vec::new();
    value.encode(revision, &mut out).ok()?;
    let text = String::from_utf8(out).unwrap_or_else(|error| panic!("{error}"));
    let raw = Raw::from_text(&text).unwrap_or_else(|_| panic!("not JSON: {text}"));
    assert_eq!(raw.as_str(), text, "not on one line");
    Some(raw)
}
