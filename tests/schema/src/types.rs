//! The core's types by the names of their definitions.

use mcp_proto::schema as s;
use mcp_proto::{Raw, RequestId};

use crate::codec::Codec;

macro_rules! codecs {
    ($($name:literal => $type:ty),* $(,)?) => {
        /// Returns the type of the definition `name`, where it holds the whole value.
        pub(crate) fn type_of(name: &str) -> Option<Codec> {
            Some(match name {
                $($name => Codec::of::<$type>(stringify!($type)),)*
                _ => return None,
            })
        }
    };
}

codecs! {
    "Annotations" => s::Annotations,
    "AudioContent" => s::Audio,
    "BlobResourceContents" => s::BlobResource,
    "BooleanSchema" => s::BoolField,
    "CallToolRequestParams" => s::CallTool,
    "CallToolResult" => s::CallToolResult,
    "CancelTaskResult" => s::Task,
    "CancelledNotificationParams" => s::CancelledNotification,
    "ClientCapabilities" => s::Capabilities,
    "CompleteRequestParams" => s::Complete,
    "CompleteResult" => s::CompleteResult,
    "ContentBlock" => s::Content,
    "CreateMessageRequestParams" => s::CreateMessage,
    "CreateMessageResult" => s::CreateMessageResult,
    "CreateTaskResult" => s::CreateTaskResult,
    "Cursor" => String,
    "DiscoverResult" => s::DiscoverResult,
    "ElicitRequestFormParams" => s::Elicit,
    "ElicitRequestParams" => s::AnyElicit,
    "ElicitRequestURLParams" => s::ElicitUrl,
    "ElicitResult" => s::ElicitResult,
    "EmbeddedResource" => s::EmbeddedResource,
    "EmptyResult" => s::EmptyResult,
    "EnumSchema" => s::Field,
    "GetPromptRequestParams" => s::GetPrompt,
    "GetPromptResult" => s::GetPromptResult,
    "GetTaskPayloadResult" => s::ExtraMembers,
    "GetTaskResult" => s::Task,
    "Icon" => s::Icon,
    "ImageContent" => s::Image,
    "Implementation" => s::Implementation,
    "InitializeRequestParams" => s::Initialize,
    "InitializeResult" => s::InitializeResult,
    "InputRequest" => s::InputRequest,
    "InputRequests" => s::Map<s::InputRequest>,
    "InputRequiredResult" => s::InputRequired,
    "InputResponses" => s::ExtraMembers,
    "JSONArray" => Vec<Raw>,
    "JSONObject" => s::AnyObject,
    "JSONValue" => Raw,
    "LegacyTitledEnumSchema" => s::ChoiceField,
    "ListPromptsResult" => s::ListPromptsResult,
    "ListResourceTemplatesResult" => s::ListResourceTemplatesResult,
    "ListResourcesResult" => s::ListResourcesResult,
    "ListRootsResult" => s::ListRootsResult,
    "ListTasksResult" => s::ListTasksResult,
    "ListToolsResult" => s::ListToolsResult,
    "LoggingLevel" => s::Level,
    "LoggingMessageNotificationParams" => s::LogMessage,
    "MetaObject" => s::Meta,
    "ModelHint" => s::ModelHint,
    "ModelPreferences" => s::ModelPreferences,
    "MultiSelectEnumSchema" => s::ChoicesField,
    "NotificationMetaObject" => s::Meta,
    "NumberSchema" => s::NumberField,
    "PaginatedRequestParams" => s::ListTools,
    "PrimitiveSchemaDefinition" => s::Field,
    "ProgressNotificationParams" => s::ProgressNotification,
    "ProgressToken" => RequestId,
    "Prompt" => s::Prompt,
    "PromptArgument" => s::PromptArgument,
    "PromptMessage" => s::PromptMessage,
    "PromptReference" => s::PromptReference,
    "ReadResourceRequestParams" => s::ReadResource,
    "ReadResourceResult" => s::ReadResourceResult,
    "RelatedTaskMetadata" => s::RelatedTask,
    "RequestId" => RequestId,
    "RequestMetaObject" => s::Meta,
    "Resource" => s::Resource,
    "ResourceLink" => s::ResourceLink,
    "ResourceReference" => s::ResourceReference,
    "ResourceTemplate" => s::ResourceTemplate,
    "ResourceTemplateReference" => s::ResourceReference,
    "ResourceUpdatedNotificationParams" => s::ResourceUpdated,
    "Result" => s::EmptyResult,
    "ResultMetaObject" => s::Meta,
    "ResultType" => s::ResultType,
    "Role" => s::Role,
    "Root" => s::Root,
    "SamplingMessage" => s::SamplingMessage,
    "SamplingMessageContentBlock" => s::SamplingBlock,
    "ServerCapabilities" => s::Capabilities,
    "SetLevelRequestParams" => s::SetLevel,
    "SingleSelectEnumSchema" => s::ChoiceField,
    "StringSchema" => s::TextField,
    "SubscribeRequestParams" => s::Subscribe,
    "SubscriptionFilter" => s::SubscriptionFilter,
    "SubscriptionsAcknowledgedNotificationParams" => s::SubscriptionsAcknowledged,
    "SubscriptionsListenRequestParams" => s::SubscriptionsListen,
    "SubscriptionsListenResult" => s::SubscriptionsListenResult,
    "SubscriptionsListenResultMetaObject" => s::Meta,
    "Task" => s::Task,
    "TaskMetadata" => s::TaskRequest,
    "TaskStatus" => s::TaskStatus,
    "TaskStatusNotificationParams" => s::Task,
    "TextContent" => s::Text,
    "TextResourceContents" => s::TextResource,
    "TitledMultiSelectEnumSchema" => s::ChoicesField,
    "TitledSingleSelectEnumSchema" => s::ChoiceField,
    "Tool" => s::Tool,
    "ToolAnnotations" => s::ToolAnnotations,
    "ToolChoice" => s::ToolChoice,
    "ToolExecution" => s::ToolExecution,
    "ToolResultContent" => s::ToolResult,
    "ToolUseContent" => s::ToolUse,
    "UnsubscribeRequestParams" => s::Unsubscribe,
    "UntitledMultiSelectEnumSchema" => s::ChoicesField,
    "UntitledSingleSelectEnumSchema" => s::ChoiceField,
}

macro_rules! messages {
    ($($type:ty: $($kind:ident)+),* $(,)?) => {
        /// Returns every method with a type: the kind of the sender, the method, and the type of
        /// its params.
        pub(crate) fn messages() -> Vec<(&'static str, &'static str, Codec)> {
            vec![$($(
                (
                    stringify!($kind),
                    <$type as s::$kind>::METHOD,
                    Codec::of::<$type>(stringify!($type)),
                ),
            )+)*]
        }
    };
}

messages! {
    s::CallTool: ClientRequest,
    s::CancelTask: ClientRequest ServerRequest,
    s::CancelledNotification: ClientNotification ServerNotification,
    s::Complete: ClientRequest,
    s::CreateMessage: ServerRequest,
    s::Discover: ClientRequest,
    s::ElicitationComplete: ServerNotification,
    s::GetPrompt: ClientRequest,
    s::GetTask: ClientRequest ServerRequest,
    s::GetTaskPayload: ClientRequest ServerRequest,
    s::Initialize: ClientRequest,
    s::Initialized: ClientNotification,
    s::ListPrompts: ClientRequest,
    s::ListResourceTemplates: ClientRequest,
    s::ListResources: ClientRequest,
    s::ListRoots: ServerRequest,
    s::ListTasks: ClientRequest ServerRequest,
    s::ListTools: ClientRequest,
    s::SubscriptionsListen: ClientRequest,
    s::LogMessage: ServerNotification,
    s::Ping: ClientRequest ServerRequest,
    s::ProgressNotification: ClientNotification ServerNotification,
    s::PromptsListChanged: ServerNotification,
    s::ReadResource: ClientRequest,
    s::ResourceUpdated: ServerNotification,
    s::ResourcesListChanged: ServerNotification,
    s::RootsListChanged: ClientNotification,
    s::SetLevel: ClientRequest,
    s::Subscribe: ClientRequest,
    s::SubscriptionsAcknowledged: ServerNotification,
    s::Task: ClientNotification ServerNotification,
    s::ToolsListChanged: ServerNotification,
    s::Unsubscribe: ClientRequest,
}

/// Returns the one method that has params of two types, distinguished by `mode`.
pub(crate) fn elicitation() -> (&'static str, &'static str, Codec) {
    let method = <s::Elicit as s::ServerRequest>::METHOD;
    assert_eq!(method, <s::ElicitUrl as s::ServerRequest>::METHOD);
    ("ServerRequest", method, Codec::of::<s::AnyElicit>("s::AnyElicit"))
}
