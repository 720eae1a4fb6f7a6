//! The definition of a tool is added without its handler.
use mcp_tokio::Server;
use mcp_tokio::proto::schema::Tool;

pub fn server() -> Server {
    Server::new("s", "1").add(Tool::new("now", serde_json::json!({"type": "object"})))
}
