//! Tests of servers and clients in memory.
//!
//! `pair` runs both sides on the thread of the test, in virtual time; [`connect`] runs them on the
//! runtime.
//!
//! ```
//! use mcp_tokio::{Client, Server, testing};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), mcp_tokio::Error> {
//! let server = Server::new("weather", "1.0.0")
//!     .tool("today", "Today's weather", || "sunny");
//! let client = testing::connect(&server, Client::new("test", "1.0.0")).await?;
//! let result = client.call_tool("today", &json!({})).await?;
//! assert_eq!(result.content[0].as_text(), Some("sunny"));
//! client.close().await?;
//! # Ok(())
//! # }
//! ```

use std::io;

use mcp_adapter::Pipes;
pub use mcp_adapter::connect_in_memory as connect;
pub use mcp_adapter::testing::{PairError, TestPair, pair, pair_as};
use tokio::io::{ReadHalf, SimplexStream, WriteHalf, simplex};

use crate::runtime::Tokio;

/// The bytes in flight in each direction.
const PIPE_BYTES: usize = 64 << 10;

impl Pipes for Tokio {
    type Reader = ReadHalf<SimplexStream>;
    type Writer = WriteHalf<SimplexStream>;

    fn pipe() -> io::Result<(Self::Reader, Self::Writer)> {
        Ok(simplex(PIPE_BYTES))
    }
}
