//! A server on stdin and stdout that echoes, on smol.

use mcp_smol::proto::Raw;
use mcp_smol::{Serve, Server};

fn main() -> std::io::Result<()> {
    let schema = Raw::from_text(r#"{"type":"object"}"#).map_err(std::io::Error::other)?;
    let server = Server::new("echo", "1.0.0").pipe_bytes(512 * 1024).tool_raw(
        "echo",
        "Returns its text",
        schema,
        |arguments, _| {
            let text = arguments.member("text").ok_or("which text?")?;
            Ok(text.to_text().unwrap_or_default().into_owned())
        },
    );
    smol::block_on(server.serve_stdio())
}
