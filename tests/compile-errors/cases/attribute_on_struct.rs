//! The attribute is on the type.
#[mcp_tokio::server]
pub struct Notes;
