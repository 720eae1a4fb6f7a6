//! A tool returns a type that is no tool result.
use mcp_tokio::Server;

struct Weather {
    _degrees: i32,
}

pub fn server() -> Server {
    Server::new("s", "1").tool("now", "The weather", || Weather { _degrees: 20 })
}
