//! HTTP+SSE, the transport of revision 2024-11-05, without IO.
//!
//! Streamable HTTP has replaced it in revision 2025-03-26. Clients and servers offer it beside
//! Streamable HTTP to reach peers that know nothing else.
//!
//! ```text
//!  client                                                     server
//!    │  POST /sse    initialize                                  │
//!    │ ────────────────────────────────────────────────────────▶ │  no Streamable HTTP here:
//!    │ ◀──────────────────────────────────────── 400, 404 or 405 │
//!    │                                                           │
//!    │  GET /sse     Accept: text/event-stream                   │
//!    │ ────────────────────────────────────────────────────────▶ │  a session begins
//!    │ ◀───────── event: endpoint   data: /messages?session_id=… │  first event
//!    │                                                           │
//!    │  POST /messages?session_id=…   initialize                 │
//!    │ ────────────────────────────────────────────────────────▶ │
//!    │ ◀──────────────────────────────────────────── 202, empty  │
//!    │ ◀───────────── event: message    data: {"id":1,"result":… │  on the stream of the GET
//!    │                                                           │
//!    │  …any number of POSTs and of `message` events…            │
//!    │                                                           │
//!    │  the stream ends                                          │  and the session with it
//! ```
//!
//! A client is an [`HttpClient`](super::client::HttpClient) with
//! [`HttpConfig::sse_fallback`](super::client::HttpConfig::sse_fallback). A server is a
//! [`SseServer`] for each session; [`admit_stream`] and [`admit_message`] check the heads of the
//! requests, and a [`SessionTable`](super::SessionTable) stores the open sessions.
//!
//! [Specification][spec]
//!
//! [spec]: https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse

mod admit;
#[cfg(feature = "server")]
mod server;
pub(super) mod server_url;

pub use admit::{admit_message, admit_stream};
#[cfg(feature = "server")]
pub use server::{InvalidMessagePath, SseServer, SseSettings};
pub use server_url::{InvalidServerUrl, ServerUrl};
