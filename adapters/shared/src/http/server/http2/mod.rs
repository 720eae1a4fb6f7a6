//! HTTP/2 on the connections of a listening server, with prior knowledge.

mod connection;
mod forward_write;
mod frame_guard;
mod frame_scanner;
mod preface;
mod stream_body;
mod stream_tasks;

pub(super) use connection::{ConnectionTimes, drive};
pub(super) use preface::{Prefixed, is_http2};
