//! The `_meta` of modern messages: parsing the context of requests, and writing it.

mod request_context;
mod writer;

pub(crate) use request_context::{
    LastContext, RequestContext, has_progress_token, keep_meta, missing_capabilities,
    missing_context, read_input, supported, write_revisions,
};
pub(crate) use writer::{MetaWriter, asks_for_logs};
