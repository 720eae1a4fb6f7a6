//! A server on stdin and stdout that echoes, on tokio, with a handler that is a future.

use mcp_tokio::proto::Raw;
use mcp_tokio::{Server, StdioSettings, Tool};

fn main() -> Result<(), mcp_tokio::Error> {
    let schema = Raw::from_text(r#"{"type":"object"}"#).map_err(std::io::Error::other)?;
    let echo = Tool::new("echo", async |arguments: Raw| {
        let text = arguments.member("text").ok_or("which text?")?;
        Ok(text.to_text().unwrap_or_default().into_owned())
    });
    let echo = echo.description("Returns its text").input_schema(schema);
    let server =
        Server::new("echo", "1.0.0").stdio(StdioSettings::new().pipe_bytes(512 * 1024)).add(echo);
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(server.serve_stdio())
}
