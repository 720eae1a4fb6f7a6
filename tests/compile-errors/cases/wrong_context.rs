//! An asynchronous tool takes the context of blocking ones.
use mcp_tokio::{Cx, ToolError};

pub struct Clock;

#[mcp_tokio::server]
impl Clock {
    /// Tells the time.
    #[tool]
    async fn now(&self, _cx: Cx) -> Result<&'static str, ToolError> {
        Ok("noon")
    }
}
