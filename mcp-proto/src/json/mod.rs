//! JSON as text, without a tree: checked values, a cursor, member lookup, and writers.

mod cursor;
mod parts;
mod plain;
mod raw;
mod reader;
mod splice;
mod str;
mod syntax;
#[cfg(test)]
pub(crate) mod testing;
mod text;
mod write;

pub(crate) use cursor::Cursor;
pub(crate) use parts::{elements, find, find_each, find_rare, members};
pub(crate) use raw::Frame;
pub use raw::Raw;
#[cfg(feature = "seal")]
pub(crate) use raw::compact;
pub use reader::{Kind, Reader};
pub(crate) use splice::with_meta;
pub use str::Str;
pub(crate) use syntax::SyntaxError;
pub(crate) use text::{key_is, unescape, unescape_key};
pub(crate) use write::{Array, Object, write_f64, write_i64, write_str, write_text, write_u64};
