//! JSON text without a tree: checked values, a scanner that finds members, and splicing; knows nothing of MCP.

mod parts;
mod plain;
mod raw;
mod reader;
mod scan;
mod skip;
mod splice;
mod str;
#[cfg(test)]
pub(crate) mod testing;
mod text;
mod write;

pub(crate) use parts::{elements, find, find_each, find_rare, members};
pub(crate) use raw::Frame;
pub use raw::Raw;
#[cfg(feature = "seal")]
pub(crate) use raw::compact;
pub use reader::{Kind, Reader};
pub(crate) use scan::{Scanner, SyntaxError};
pub(crate) use splice::with_meta;
pub use str::Str;
pub(crate) use text::{key_is, unescape, unescape_key};
pub(crate) use write::{Array, Object, write_f64, write_i64, write_str, write_text, write_u64};
