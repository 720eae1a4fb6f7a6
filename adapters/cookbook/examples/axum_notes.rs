//! The notes of several users behind access tokens, in a web server made with axum.
//!
//! Run it with `cargo run -p mcp-cookbook --example axum_notes -- ada=secret grace=word`. Each user
//! sends their token as `Authorization: Bearer secret`, and sees only their own notes.

use std::collections::HashMap;
use std::env;
use std::error::Error;

use axum::Router;
use axum::routing::get;
use mcp_tokio::http::{Http, HttpService, Principal, Refusal, RequestHead};
use rusqlite::Connection;
use tokio::net::TcpListener;

/// The users by their tokens.
type Tokens = HashMap<String, Principal>;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "it is what the example is for")]
async fn main() -> Result<(), Box<dyn Error>> {
    let tokens: Tokens = env::args().skip(1).filter_map(|argument| user(&argument)).collect();
    let options = Http::new().path("/mcp").authenticating(move |head| authenticate(head, &tokens));
    let notes = mcp_cookbook::server(Connection::open("notes.db")?)?;
    let router = Router::new()
        .route("/health", get(async || "well"))
        .route_service("/mcp", HttpService::new(&notes, options)?);
    let listener = TcpListener::bind("127.0.0.1:8080").await?;
    println!("listening on http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, router).await?;
    Ok(())
}

/// Reads `name=token`.
fn user(argument: &str) -> Option<(String, Principal)> {
    let (name, token) = argument.split_once('=')?;
    Some((format!("Bearer {token}"), Principal::new(name)?))
}

fn authenticate(head: &RequestHead, tokens: &Tokens) -> Result<Principal, Refusal> {
    let token = head.headers.get("authorization").and_then(|value| value.to_str().ok());
    token
        .and_then(|token| tokens.get(token))
        .cloned()
        .ok_or_else(|| Refusal::new(401, "unknown token").header("www-authenticate", "Bearer"))
}
