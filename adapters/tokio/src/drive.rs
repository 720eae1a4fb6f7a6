//! The driver of a connection on tokio.

use mcp_adapter::io::{AsyncRead, AsyncWrite};
use mcp_adapter::{DriverHandle, LinkRole};

use crate::turn::turn;

/// Drives a connection to its end.
pub(crate) async fn drive<R: LinkRole>(
    driving: DriverHandle<R>,
    reader: impl AsyncRead + Unpin,
    writer: impl AsyncWrite + Unpin,
) {
    mcp_adapter::drive(driving, reader, writer, tokio::time::sleep, turn).await;
}
