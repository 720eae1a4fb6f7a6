//! A tool has an option that does not exist.
use mcp_tokio::ToolError;

pub struct Clock;

#[mcp_tokio::server]
impl Clock {
    /// Tells the time.
    #[tool(readonly)]
    fn now(&self) -> Result<&'static str, ToolError> {
        Ok("noon")
    }
}
