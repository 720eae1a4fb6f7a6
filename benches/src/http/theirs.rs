//! The official SDK's server over HTTP.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ProgressNotificationParam, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};

/// `echo` and `steps`, like ours; `wait` is never answered.
#[derive(Clone, Copy, Debug)]
pub struct Answers;

impl ServerHandler for Answers {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*call.name {
            "wait" => std::future::pending().await,
            "steps" => {
                if let Some(token) = context.meta.get_progress_token() {
                    let told = context
                        .peer
                        .notify_progress(ProgressNotificationParam::new(token, 1.0))
                        .await;
                    told.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                }
            }
            _ => {}
        }
        let arguments = call.arguments.unwrap_or_default();
        let text = arguments.get("text").and_then(|text| text.as_str()).unwrap_or_default();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

pub(super) fn service(is_json: bool) -> StreamableHttpService<Answers, LocalSessionManager> {
    let mut config = StreamableHttpServerConfig::default();
    if is_json {
        config.legacy_session_mode = false;
        config.json_response = true;
    }
    StreamableHttpService::new(|| Ok(Answers), Arc::new(LocalSessionManager::default()), config)
}
