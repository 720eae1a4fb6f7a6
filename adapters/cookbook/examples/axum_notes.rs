//! The notes of several users behind access tokens, in a web server made with axum.
//!
//! Run it with `cargo run -p mcp-cookbook --example axum_notes -- 127.0.0.1:8080 ada=secret
//! grace=word`. Each user sends their token as `Authorization: Bearer secret`, and sees only their
//! own notes. SIGTERM and Ctrl-C stop it, after the requests in progress.

use std::collections::HashMap;
use std::env;
use std::error::Error;

use axum::Router;
use axum::routing::get;
use mcp_tokio::http::{Http, HttpService, Principal, Refusal, Stop};
use rusqlite::Connection;
use tokio::net::TcpListener;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "it is what the example is for")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let address = arguments.next().ok_or("expected the address to listen at")?;
    let users: HashMap<_, _> = arguments.filter_map(|user| user_of(&user)).collect();
    let options = Http::new().any_path().authenticating(move |head| {
        let token = head.headers.get("authorization").and_then(|token| token.to_str().ok());
        let user = token.and_then(|token| users.get(token)).cloned();
        user.ok_or_else(|| Refusal::new(401, "unknown token").header("www-authenticate", "Bearer"))
    });
    let notes = mcp_cookbook::server(Connection::open("notes.db")?)?;
    let service = HttpService::new(&notes, options)?;
    let router =
        Router::new().route("/health", get(async || "well")).route_service("/mcp", service.clone());
    let listener = TcpListener::bind(address).await?;
    println!("listening on http://{}/mcp", listener.local_addr()?);
    let stop = Stop::on_signal();
    let stopping = async move {
        stop.stopped().await;
        // Ends the streams of subscribers, for which axum waits.
        service.close();
    };
    axum::serve(listener, router).with_graceful_shutdown(stopping).await?;
    Ok(())
}

/// Reads `name=token`.
fn user_of(argument: &str) -> Option<(String, Principal)> {
    let (name, token) = argument.split_once('=')?;
    Some((format!("Bearer {token}"), Principal::new(name)?))
}
