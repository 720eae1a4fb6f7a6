//! The arguments of a tool cannot be deserialized.
use mcp_tokio::Server;

#[derive(schemars::JsonSchema)]
pub struct Today {
    pub city: String,
}

pub fn server() -> Server {
    Server::new("s", "1")
        .tool_async("today", "Today", |today: Today, _cx| async move { Ok(today.city) })
}
