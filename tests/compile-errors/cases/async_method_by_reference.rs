//! An asynchronous method borrows its state.
use mcp_tokio::Server;

pub struct Notes(Vec<String>);

impl Notes {
    async fn count(&self) -> usize {
        self.0.len()
    }
}

pub fn server() -> Server {
    Server::new("s", "1").state(Notes(Vec::new())).tool("count", "Counts", Notes::count)
}
