//! A handler borrows its arguments.
use mcp_tokio::{Cx, Server};

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Today {
    pub city: String,
}

fn today(_cx: Cx, today: &Today) -> String {
    today.city.clone()
}

pub fn server() -> Server {
    Server::new("s", "1").tool("today", "Today", today)
}
