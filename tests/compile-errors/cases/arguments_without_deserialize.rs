//! The arguments of a tool cannot be deserialized.
use mcp_tokio::Server;

#[derive(schemars::JsonSchema)]
pub struct Today {
    pub city: String,
}

async fn today(today: Today) -> String {
    today.city
}

pub fn server() -> Server {
    Server::new("s", "1").tool("today", "Today", today)
}
