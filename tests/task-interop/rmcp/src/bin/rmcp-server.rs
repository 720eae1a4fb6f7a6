//! A stdio server with the tasks extension. Its tools are those of our fixture server.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ContentBlock,
    CreateTaskResult, GetTaskParams, GetTaskResult, InputRequest, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use rmcp::transport::stdio;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Tasks::default().serve(stdio()).await?.waiting().await?;
    Ok(())
}

const TOOLS: [&str; 4] = ["slow_compute", "confirm_delete", "failing_job", "protocol_error_job"];

#[derive(Clone, Default)]
struct Tasks {
    tasks: TaskManager,
}

fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text.into())])
}

async fn work(
    name: &str,
    arguments: &JsonObject,
    task: &TaskContext,
) -> Result<CallToolResult, TaskExit> {
    let argument = |name: &str| arguments.get(name).cloned().unwrap_or_default();
    match name {
        "slow_compute" => {
            let time = Duration::from_secs(argument("seconds").as_u64().unwrap_or_default());
            tokio::select! {
                () = task.cancelled() => Err(TaskExit::Cancelled),
                () = tokio::time::sleep(time) => {
                    Ok(text(format!("computed {}", argument("label").as_str().unwrap_or_default())))
                }
            }
        }
        "confirm_delete" => {
            let asked = json!({"method": "elicitation/create", "params": {
                "mode": "form",
                "message": format!("Delete {}?", argument("filename")),
                "requestedSchema": {
                    "type": "object",
                    "properties": {"confirm": {"type": "boolean"}},
                    "required": ["confirm"],
                },
            }});
            let asked: InputRequest = serde_json::from_value(asked)
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            let answer = task.request_input("confirm", asked).await?;
            let is_confirmed = answer["action"] == "accept" && answer["content"]["confirm"] == true;
            Ok(text(if is_confirmed { "deleted" } else { "kept" }))
        }
        "failing_job" => Ok(CallToolResult::error(vec![ContentBlock::text("the job failed")])),
        _ => Err(ErrorData::internal_error("the job is broken", None).into()),
    }
}

impl ServerHandler for Tasks {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tasks().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let Value::Object(schema) = json!({"type": "object"}) else { unreachable!() };
        let schema = Arc::new(schema);
        let tools = TOOLS.map(|name| Tool::new(name, name, Arc::clone(&schema)));
        Ok(ListToolsResult::with_all_items(tools.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let options = TaskOptions::new().with_poll_interval_ms(100);
        let task = self.tasks.spawn(options, move |task| {
            Box::pin(async move {
                work(&request.name, &request.arguments.unwrap_or_default(), &task).await
            })
        });
        Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&request.task_id)?))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&request.task_id)
    }
}
