//! A log message is neither awaited nor waited for.
#![deny(unused_must_use)]
use mcp_tokio::proto::schema::Level;

pub fn tell(cx: mcp_tokio::Cx) {
    cx.log(Level::Info, "hello");
}
