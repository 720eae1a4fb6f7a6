//! The future of a handler keeps an `Rc` while it waits.
use std::rc::Rc;
use std::time::Duration;

use mcp_tokio::{Cx, Server};

async fn now(cx: Cx) -> String {
    let time = Rc::new("noon");
    cx.sleep(Duration::from_secs(1)).await;
    time.to_string()
}

pub fn server() -> Server {
    Server::new("s", "1").tool("now", "The time", now)
}
