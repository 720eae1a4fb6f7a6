//! A prompt returns a type that is no prompt.
use mcp_tokio::Server;

pub fn server() -> Server {
    Server::new("s", "1").prompt("greet", "Greets", || 1)
}
