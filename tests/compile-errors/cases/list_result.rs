//! A list handler returns a list without its page.
use mcp_tokio::{Unregistered, Server};
use mcp_tokio::proto::schema::Tool;

pub fn server() -> Server {
    Server::new("s", "1").add(Unregistered::new().list_tools(|| Vec::<Tool>::new()))
}
