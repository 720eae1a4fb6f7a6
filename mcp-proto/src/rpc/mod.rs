//! JSON-RPC 2.0 messages: what one is, how it is read and written; knows nothing of MCP's methods.

mod decode;
mod encode;
mod error;
mod id;

pub(crate) use decode::{Malformed, Message, Params, decode_utf8};
pub(crate) use encode::{error_line, notification, request, response};
pub use error::ErrorObject;
pub use id::RequestId;
