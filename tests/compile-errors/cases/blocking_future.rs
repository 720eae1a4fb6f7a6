//! A tool is asynchronous and marked as blocking.
pub struct Clock;

#[mcp_tokio::server]
impl Clock {
    /// Tells the time.
    #[tool(blocking)]
    async fn now(&self) -> &'static str {
        "noon"
    }
}
