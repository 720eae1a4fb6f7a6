//! A marked method returns a type that is no tool result.
use mcp_tokio::HandlerError;

pub struct Clock;

pub struct Time;

#[mcp_tokio::server]
impl Clock {
    /// Tells the time.
    #[tool]
    fn now(&self) -> Result<Time, HandlerError> {
        Ok(Time)
    }
}
