//! Two scopes of a tool are one text.
use mcp_tokio::HandlerError;

pub struct Notes;

#[mcp_tokio::server]
impl Notes {
    /// Deletes all notes.
    #[tool(requires = ["notes:read notes:write"])]
    fn reset(&self) -> Result<(), HandlerError> {
        Ok(())
    }
}
