//! JSON-RPC 2.0 messages: parsing, classification and writing.

mod decode;
mod decoded;
mod encode;
mod error;
mod id;
mod partial;

pub(crate) use decode::{Defect, Malformed, Message, MethodName, Params, Repeated, decode_utf8};
pub use decoded::{DecodedMessage, IncomingMessage};
pub(crate) use encode::{error_line, notification, request, response};
pub use error::ErrorObject;
pub use id::RequestId;
pub(crate) use partial::{
    BrokenLine, PartialEnvelope, PartialKind, partial_batch, with_foreign_text,
};
