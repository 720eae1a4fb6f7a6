//! A tool changes its state without a lock.
use mcp_blocking::HandlerError;

pub struct Notes(Vec<String>);

#[mcp_blocking::server]
impl Notes {
    /// Clears the notes.
    #[tool]
    fn clear(&mut self) -> Result<(), HandlerError> {
        self.0.clear();
        Ok(())
    }
}
