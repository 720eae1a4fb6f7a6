//! A structured result cannot be serialized.
use mcp_tokio::{Json, Server};

#[derive(schemars::JsonSchema)]
struct Weather {
    _degrees: i32,
}

pub fn server() -> Server {
    Server::new("s", "1").tool("now", "The weather", || Json(Weather { _degrees: 20 }))
}
