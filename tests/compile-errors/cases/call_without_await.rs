//! A call is not sent.
#![deny(unused_must_use)]

pub async fn call(client: &mcp_tokio::Connection) {
    client.call_raw("ping", mcp_tokio::proto::Raw::empty_object());
}
