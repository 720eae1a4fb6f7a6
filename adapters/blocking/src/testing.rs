//! Tests of servers and clients in memory.
//!
//! `pair` runs both sides on the thread of the test, in virtual time; [`connect`] runs them on the
//! runtime.
//!
//! ```
//! use mcp_blocking::{Client, Server, testing};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), mcp_blocking::Error> {
//! let server = Server::new("weather", "1.0.0")
//!     .tool("today", "Today's weather", || "sunny");
//! let client = testing::connect(&server, Client::new("test", "1.0.0")).wait()?;
//! let result = client.call_tool("today", &json!({})).wait()?;
//! assert_eq!(result.content[0].as_text(), Some("sunny"));
//! client.close().wait()?;
//! # Ok(())
//! # }
//! ```

use std::io::{self, PipeReader, PipeWriter};

use mcp_adapter::Pipes;
pub use mcp_adapter::connect_in_memory as connect;
pub use mcp_adapter::testing::{PairError, TestPair, pair, pair_as};

use crate::runtime::Threads;

impl Pipes for Threads {
    type Reader = PipeReader;
    type Writer = PipeWriter;

    fn pipe() -> io::Result<(PipeReader, PipeWriter)> {
        io::pipe()
    }
}
