//! A handler of a client returns no result.
use mcp_tokio::Client;

pub fn client() -> Client {
    Client::new("c", "1").on_elicitation(|| "yes")
}
