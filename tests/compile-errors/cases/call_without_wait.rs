//! A call is not sent.
#![deny(unused_must_use)]

pub fn call(client: &mcp_blocking::Connection) {
    client.call_raw("ping", mcp_blocking::proto::Raw::empty_object());
}
