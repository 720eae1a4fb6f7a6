//! Streamable HTTP without IO: what a server's driver asks for each request, and the two languages that are spoken below
//! JSON, event streams and header field values.
//!
//! It knows neither sockets nor how HTTP is written: the driver has those.

mod reply;
mod session;
mod stream;
mod table;

pub use crate::wire::{field, sse};
pub use reply::{Body, Frame, Head};
pub use session::{ExchangeId, Session, Settings, Unresumable};
pub use table::{Full, Table};
