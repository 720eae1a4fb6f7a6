//! A tool takes the request of a prompt.
use mcp_tokio::Server;
use mcp_tokio::proto::schema::GetPrompt;

pub fn server() -> Server {
    Server::new("s", "1").tool("now", "The time", |_get: GetPrompt| "noon")
}
