//! A method that takes `&mut self` is named as a handler.
use mcp_tokio::Server;

pub struct Notes(Vec<String>);

impl Notes {
    fn clear(&mut self) {
        self.0.clear();
    }
}

pub fn server() -> Server {
    Server::new("s", "1").state(Notes(Vec::new())).tool("clear", "Clears", Notes::clear)
}
