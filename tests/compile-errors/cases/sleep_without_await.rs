//! A sleep is neither awaited nor waited for.
#![deny(unused_must_use)]
use std::time::Duration;

pub async fn nap(cx: mcp_tokio::Cx) {
    cx.sleep(Duration::from_secs(1));
}
