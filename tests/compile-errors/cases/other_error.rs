//! A handler fails with its own error.
use mcp_tokio::Server;

fn now() -> Result<&'static str, std::io::Error> {
    Ok("noon")
}

pub fn server() -> Server {
    Server::new("s", "1").tool("now", "The time", now)
}
