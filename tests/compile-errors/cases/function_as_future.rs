//! A function is registered as a future.
use mcp_tokio::{Server, ToolError};

pub fn server() -> Server {
    Server::new("s", "1")
        .tool_async("now", "The weather", |(), _cx| Ok::<_, ToolError>("sunny"))
}
