//! A server on stdin and stdout that echoes, on plain threads.

use mcp_blocking::proto::Raw;
use mcp_blocking::{Server, StdioSettings, Tool};

fn main() -> Result<(), mcp_blocking::Error> {
    let schema = Raw::from_text(r#"{"type":"object"}"#).map_err(std::io::Error::other)?;
    Server::new("echo", "1.0.0")
        .add(
            Tool::new("echo", |arguments: Raw| {
                let text = arguments.member("text").ok_or("which text?")?;
                Ok(text.to_text().unwrap_or_default().into_owned())
            })
            .description("Returns its text")
            .input_schema(schema),
        )
        .stdio(StdioSettings::new().pipe_bytes(512 * 1024))
        .serve_stdio()
        .wait()
}
