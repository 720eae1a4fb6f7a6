//! The bodies of the fuzz targets, one function each: arbitrary bytes in, a panic if a promise is
//! broken.
//!
//! The targets in `fuzz/` call them under libFuzzer, and `tests/corpus.rs` replays the corpora
//! under `cargo test`.

#![allow(clippy::panic, reason = "a fuzz target reports by panicking")]

mod admit;
mod app;
mod auth_challenge;
mod auth_machine;
mod auth_metadata;
mod auth_record;
mod auth_redirect;
mod auth_token;
mod auth_uri;
mod envelope;
mod exchange;
mod field;
mod guard;
mod http_client;
mod legacy_sse;
mod line;
mod pair;
mod raw_splice;
mod reference;
mod revisions;
mod schema_decode;
mod served;
mod session;
mod sse;
mod stream;
mod text;

pub use admit::admit;
pub use auth_challenge::auth_challenge;
pub use auth_machine::auth_machine;
pub use auth_metadata::auth_metadata;
pub use auth_record::auth_record;
pub use auth_redirect::auth_redirect;
pub use auth_token::auth_token;
pub use auth_uri::auth_uri;
pub use envelope::envelope;
pub use exchange::exchange;
pub use field::field;
pub use guard::guard;
pub use http_client::http_client;
pub use legacy_sse::legacy_sse;
pub use line::line;
pub use pair::pair;
pub use raw_splice::raw_splice;
pub use revisions::revisions;
pub use schema_decode::{schema_decode, selector};
pub use session::session;
pub use sse::sse;
pub use stream::{mark, stream_client, stream_server};
pub use text::text;
