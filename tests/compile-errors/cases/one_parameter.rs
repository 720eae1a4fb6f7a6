//! A handler does not take the context.
use mcp_tokio::Server;

pub fn server() -> Server {
    Server::new("s", "1").tool("now", "The weather", |()| Ok("sunny"))
}
