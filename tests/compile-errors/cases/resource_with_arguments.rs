//! A resource takes arguments, which only tools and prompts have.
use mcp_tokio::Server;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Note {
    pub id: u32,
}

pub fn server() -> Server {
    Server::new("s", "1").template("notes://{id}", "note", |note: Note| note.id.to_string())
}
