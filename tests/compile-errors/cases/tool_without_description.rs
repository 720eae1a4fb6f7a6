//! A tool has no doc comment.
use mcp_tokio::HandlerError;

pub struct Clock;

#[mcp_tokio::server]
impl Clock {
    #[tool]
    fn now(&self) -> Result<&'static str, HandlerError> {
        Ok("noon")
    }
}
