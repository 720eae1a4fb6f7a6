//! A tool is created and not added.
#![deny(unused_must_use)]

pub fn tool() {
    mcp_tokio::Tool::new("now", || "noon");
}
