//! Parses and writes the metadata of modern messages, and the input responses of a retried request.

mod input_responses;
mod request_context;
mod writer;

pub(crate) use input_responses::read_input;
#[allow(unreachable_pub, reason = "exported by `http`")]
pub use request_context::ContextCache;
pub(crate) use request_context::{
    RequestContext, keep_meta, missing_capabilities, missing_context, supported, write_revisions,
};
pub(crate) use writer::{MetaWriter, asks_for_logs};
