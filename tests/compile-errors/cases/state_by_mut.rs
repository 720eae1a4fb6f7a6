//! A method that takes `&mut self` is named as a handler.
use mcp_tokio::{Cx, Server, State, ToolError};

struct Notes(Vec<String>);

impl Notes {
    fn clear(&mut self, (): (), _cx: Cx) -> Result<(), ToolError> {
        self.0.clear();
        Ok(())
    }
}

pub fn server() -> Server {
    let notes = State::new(Notes(Vec::new()));
    Server::new("s", "1").tool("clear", "Clears the notes", notes.handler(Notes::clear))
}
