//! An action that happens once returns no result.
use mcp_tokio::{Cx, HandlerError};

pub fn pay(cx: &Cx) -> Result<u32, HandlerError> {
    cx.once("pay", || 17)
}
