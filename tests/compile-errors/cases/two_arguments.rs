//! A tool takes its arguments one by one.
use mcp_tokio::{Cx, HandlerError};

pub struct Calculator;

#[mcp_tokio::server]
impl Calculator {
    /// Adds two numbers.
    #[tool]
    fn add(&self, a: i64, b: i64, _cx: Cx) -> Result<i64, HandlerError> {
        Ok(a + b)
    }
}
