//! A guide to the protocol core, for programs with their own event loop and for tests.
//!
//! | topic | contents |
//! |---|---|
//! | [`custom_event_loop`] | driving a connection with bytes and time |
//! | [`http_in_your_loop`] | serving HTTP from an event loop, on any HTTP library |
//! | [`limits`] | choosing limits, and what they cost |
//! | [`unreadable_input`] | input that cannot be read: answers, errors and reports |
//! | [`testing_your_server`] | tests in virtual time, with faults |
//! | [`revisions_and_eras`] | the differences between protocol revisions |
//!
//! Programs on threads, tokio or smol should use an adapter instead. The guide of `mcp-tokio`
//! covers servers, clients, asking the user for input, errors and HTTP.

#[doc = include_str!("custom_event_loop.md")]
pub mod custom_event_loop {}
#[cfg(all(feature = "http", feature = "schema", feature = "server"))]
#[doc = include_str!("http_in_your_loop.md")]
pub mod http_in_your_loop {}
#[doc = include_str!("limits.md")]
pub mod limits {}
#[cfg(all(feature = "schema", feature = "testing"))]
#[doc = include_str!("revisions_and_eras.md")]
pub mod revisions_and_eras {}
#[cfg(all(feature = "schema", feature = "testing"))]
#[doc = include_str!("testing_your_server.md")]
pub mod testing_your_server {}
#[cfg(feature = "schema")]
#[doc = include_str!("unreadable_input.md")]
pub mod unreadable_input {}
