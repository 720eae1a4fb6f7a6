//! A method of a borrowed value is a handler.
use mcp_tokio::Server;

pub struct Clock;

impl Clock {
    fn now(&self) -> &'static str {
        "noon"
    }
}

pub fn server(clock: &Clock) -> Server {
    Server::new("s", "1").tool("now", "The time", || clock.now())
}
