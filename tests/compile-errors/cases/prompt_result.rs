//! A prompt returns a type that is no prompt.
use mcp_tokio::Server;
use mcp_tokio::proto::schema::Prompt;

pub fn server() -> Server {
    Server::new("s", "1").prompt_with(Prompt::new("greet"), |_get, _cx| Ok("hello"))
}
