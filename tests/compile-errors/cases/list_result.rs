//! A list handler returns a list without its page.
use mcp_tokio::Server;
use mcp_tokio::proto::schema::Tool;

pub fn server() -> Server {
    Server::new("s", "1").list_tools(|| Vec::<Tool>::new())
}
