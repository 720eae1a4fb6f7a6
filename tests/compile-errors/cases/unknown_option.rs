//! A tool has an option that does not exist.
use mcp_tokio::HandlerError;

pub struct Clock;

#[mcp_tokio::server]
impl Clock {
    /// Tells the time.
    #[tool(readonly)]
    fn now(&self) -> Result<&'static str, HandlerError> {
        Ok("noon")
    }
}
