//! The attribute is on the implementation of a trait.
pub struct Notes;

#[mcp_tokio::server]
impl Default for Notes {
    fn default() -> Self {
        Self
    }
}
