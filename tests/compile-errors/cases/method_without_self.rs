//! A tool is no method.
use mcp_tokio::HandlerError;

pub struct Notes;

#[mcp_tokio::server]
impl Notes {
    /// Adds a note.
    #[tool]
    fn add() -> Result<(), HandlerError> {
        Ok(())
    }
}
