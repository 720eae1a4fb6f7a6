//! Our HTTP servers, on each runtime.

use std::io;
use std::net::TcpListener;

use mcp_blocking::Threads;
use mcp_smol::Smol;
use mcp_tokio::http::{Http, HttpLimits, HttpService, Stop};
use mcp_tokio::proto::{Progress, Raw};
use mcp_tokio::{Cx, HandlerError, Server, Tool, on_runtime};

/// Builds a server with two tools, both of them plain functions: `echo` returns its text, and
/// `steps` reports one step of progress first.
///
/// # Errors
///
/// Never: the schemas are JSON.
pub fn echo() -> io::Result<Server> {
    let schema = Raw::from_text(r#"{"type":"object"}"#).map_err(io::Error::other)?;
    let echo = |arguments: Raw, _: Cx| said(&arguments);
    let steps = |arguments: Raw, cx: Cx| {
        cx.progress(Progress::new(1.0)).map_err(HandlerError::from)?;
        said(&arguments)
    };
    Ok(Server::new("echo", "1.0.0")
        .add(Tool::new("echo", echo).description("Returns its text").input_schema(schema.clone()))
        .add(
            Tool::new("steps", steps)
                .description("Reports progress, then returns its text")
                .input_schema(schema),
        ))
}

/// Builds the server of [`echo`] with handlers that are futures.
///
/// # Errors
///
/// Never: the schemas are JSON.
pub(super) fn echo_futures() -> io::Result<Server> {
    let schema = Raw::from_text(r#"{"type":"object"}"#).map_err(io::Error::other)?;
    let echo = async |arguments: Raw, _: Cx| said(&arguments);
    let steps = async |arguments: Raw, cx: Cx| {
        cx.progress(Progress::new(1.0)).map_err(HandlerError::from)?;
        said(&arguments)
    };
    Ok(Server::new("echo", "1.0.0")
        .add(Tool::new("echo", echo).description("Returns its text").input_schema(schema.clone()))
        .add(
            Tool::new("steps", steps)
                .description("Reports progress, then returns its text")
                .input_schema(schema),
        ))
}

fn said(arguments: &Raw) -> Result<String, HandlerError> {
    let text = arguments.member("text").ok_or("which text?")?;
    Ok(text.to_text().unwrap_or_default().into_owned())
}

pub(super) fn service() -> io::Result<HttpService> {
    HttpService::new(&echo()?, Http::new())
}

pub(super) async fn on_tokio(listener: tokio::net::TcpListener, server: &Server) -> io::Result<()> {
    // Thousands of sessions are measured, all of one address.
    let limits = HttpLimits { sessions_per_address_max: 10_000, ..HttpLimits::default() };
    let options = Http::new().limits(limits);
    Ok(server.serve_http(listener, options, &Stop::new()).await?)
}

pub(super) fn on_smol(listener: TcpListener, server: &Server) -> io::Result<()> {
    let server = on_runtime::server::<_, Smol>(server.clone());
    Ok(smol::block_on(server.serve_http(listener, Http::new(), &Stop::new()))?)
}

pub(super) fn on_threads(listener: TcpListener) -> io::Result<()> {
    let server = on_runtime::server::<_, Threads>(echo()?);
    Ok(server.serve_http(listener, Http::new(), &Stop::new()).wait()?)
}
