//! The arguments of a tool have no schema.
use mcp_tokio::Server;

#[derive(serde::Deserialize)]
pub struct Today {
    pub city: String,
}

pub fn server() -> Server {
    Server::new("s", "1").tool("today", "Today", |today: Today| today.city)
}
