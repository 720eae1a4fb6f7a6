//! A completion names a tool.
use mcp_tokio::Server;

#[derive(Default)]
struct Notes;

#[mcp_tokio::server]
impl Notes {
    /// Deletes a note.
    #[tool]
    fn delete(&self) {}

    #[completion(delete, "id")]
    fn ids(&self) -> Vec<String> {
        Vec::new()
    }
}

pub fn server() -> Server {
    Server::new("s", "1").handlers(Notes)
}
