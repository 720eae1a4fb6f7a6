//! A connection on its transport, and the loops and buffers that drive it.

pub(crate) mod event_loop;
pub(crate) mod http_sender;
pub(crate) mod link;
pub(crate) mod manual_driver;
pub(crate) mod read_buffer;
pub(crate) mod shutdown;
pub(crate) mod stream_error;
