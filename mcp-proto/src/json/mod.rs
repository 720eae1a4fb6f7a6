//! JSON as text, without a tree: validation, member lookup, a pull parser and writers.

mod cursor;
mod escape;
mod insert;
mod lookup;
mod parse_error;
mod raw;
mod reader;
mod str;
mod swar;
mod syntax;
#[cfg(test)]
pub(crate) mod testing;
mod whole_numbers;
mod writer;

pub(crate) use cursor::Cursor;
#[cfg(feature = "http")]
pub(crate) use escape::unescape_text;
pub(crate) use escape::{key_is, unescape, unescape_key};
pub(crate) use insert::{TextWithMeta, with_meta};
pub(crate) use lookup::{elements, find, find_each, find_rare, members};
pub use parse_error::ParseError;
pub(crate) use parse_error::push as push_pointer;
pub(crate) use raw::Frame;
pub use raw::Raw;
#[cfg(feature = "seal")]
pub(crate) use raw::compact;
pub use reader::{JsonReader, Kind};
pub use str::Str;
pub(crate) use syntax::SyntaxError;
pub(crate) use whole_numbers::{unsigned, whole_number};
pub(crate) use writer::{Array, Object, write_f64, write_i64, write_str, write_text, write_u64};
