//! A reader and a writer for event streams (`text/event-stream`).
//!
//! The format is that of [server-sent
//! events](https://html.spec.whatwg.org/multipage/server-sent-events.html), as defined by WHATWG.
//!
//! A stream consists of blocks of `field: value` lines. A blank line ends each block.
//!
//! ```
//! use mcp_proto::http::sse::{IncomingEvent, Item, OutgoingEvent, EventReader};
//!
//! let mut stream = Vec::new();
//! let event = OutgoingEvent { id: Some("7"), data: b"{}", ..OutgoingEvent::default() };
//! event.write(&mut stream).unwrap();
//! assert_eq!(stream, b"id: 7\ndata: {}\n\n");
//!
//! let mut reader = EventReader::new(1 << 20, 256);
//! let mut input = &stream[..];
//! let Some(Item::Event(event)) = reader.next(&mut input) else { panic!("no event") };
//! assert_eq!(event.message(), Some(&b"{}"[..]));
//! assert_eq!(reader.next(&mut input), None);
//! assert_eq!(reader.last_id(), Some("7"));
//! ```

mod read;
mod write;

pub use read::{EventReader, IncomingEvent, Item};
pub(super) use write::{MESSAGE, message_data};
pub use write::{OutgoingEvent, Unwritable, comment};

#[cfg(test)]
mod tests;
