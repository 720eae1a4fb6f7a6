//! A marked method returns a type that is no tool result.
use mcp_tokio::ToolError;

pub struct Clock;

pub struct Time;

#[mcp_tokio::server]
impl Clock {
    /// Tells the time.
    #[tool]
    fn now(&self) -> Result<Time, ToolError> {
        Ok(Time)
    }
}
