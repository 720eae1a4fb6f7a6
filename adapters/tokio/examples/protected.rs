//! A server that requires access tokens, at `http://127.0.0.1:8080/mcp`.
//!
//! Run it with `cargo run --example tokio_protected -p mcp-tokio`. The token `read-me` may read,
//! and the token `change-me` may also write:
//!
//! ```sh
//! curl -i http://127.0.0.1:8080/mcp
//! curl http://127.0.0.1:8080/.well-known/oauth-protected-resource/mcp
//! ```

use std::error::Error;

use mcp_tokio::http::{FixedTokens, Guard, Http, Stop};
use mcp_tokio::{Cx, Server, Tool};
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let guard = Guard::builder("http://127.0.0.1:8080/mcp")
        .authorization_server("https://id.example.com")
        .scopes_supported(["notes:read"])
        .implies("notes:write", ["notes:read"])
        .build()?;
    // Fixed tokens are for local servers. Others verify those of their authorization server.
    let tokens = FixedTokens::new(&guard).token("read-me", "ada", ["notes:read"]).token(
        "change-me",
        "ada",
        ["notes:write"],
    );

    let server = Server::new("notes", "1.0.0")
        .add(Tool::new("today", today).description("Today's notes").requires(["notes:read"]))
        .add(
            Tool::new("reset", || "done")
                .description("Deletes all notes")
                .destructive()
                .requires(["notes:write"]),
        );

    let listener = TcpListener::bind("127.0.0.1:8080").await?;
    let options = Http::new().authorizing(guard, tokens);
    server.serve_http(listener, options, &Stop::on_signal()).await?;
    Ok(())
}

fn today(cx: Cx) -> String {
    let user = cx.access_token().and_then(|token| token.subject()).unwrap_or("unknown");
    format!("{user}: buy milk")
}
