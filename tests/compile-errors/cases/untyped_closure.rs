//! The parameters of a closure have no types.
use mcp_tokio::Server;

pub fn server() -> Server {
    Server::new("s", "1").tool("now", "The time", |cx| "noon")
}
