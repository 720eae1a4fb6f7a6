//! The methods of a type are added, but none of them is marked.
use mcp_tokio::Server;

struct Notes;

pub fn server() -> Server {
    Server::new("s", "1").handlers(Notes)
}
