//! A resource returns a type that is no resource.
use mcp_tokio::Server;

pub fn server() -> Server {
    Server::new("s", "1").resource("notes://all", "all", async || 1)
}
