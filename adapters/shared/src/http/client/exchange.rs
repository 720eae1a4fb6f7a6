//! One HTTP exchange: sends a request and feeds the response to the session.

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;

use http::{HeaderName, HeaderValue, Request};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::SendRequest;
use mcp_proto::client::Client as Machine;
use mcp_proto::http::client::{ExchangeFailure, ExchangeId, HttpRequest};

use super::connections::{Borrowed, FullBody, HttpConnections};
use crate::transport::link::Link;

/// Runs an exchange to its end and reports the outcome to the session.
pub(super) async fn run(
    link: &Arc<Link<Machine>>,
    connections: &HttpConnections,
    send: HttpRequest,
    reserved: Option<SendRequest<FullBody>>,
) {
    let id = send.exchange;
    match send_and_read(link, connections, send, reserved).await {
        Ok(()) => with_http(link, |http, now| http.handle_end(now, id)),
        Err(reason) => with_http(link, |http, now| http.handle_failure(now, id, reason)),
    }
}

fn with_http(
    link: &Arc<Link<Machine>>,
    act: impl FnOnce(&mut mcp_proto::http::client::HttpClient, mcp_proto::Instant),
) {
    link.with(|state, now| {
        if let Some(transport) = state.connection.http() {
            act(transport.http(), now);
        }
    });
}

async fn send_and_read(
    link: &Arc<Link<Machine>>,
    connections: &HttpConnections,
    send: HttpRequest,
    reserved: Option<SendRequest<FullBody>>,
) -> Result<(), ExchangeFailure> {
    let id = send.exchange;
    link.trace.output(&send.body);
    let unreached = |cause| {
        connections.failed(cause);
        ExchangeFailure::Unreached
    };
    let authorization = authorize(link, connections).await.map_err(unreached)?;
    let Borrowed { mut sender, is_reused } =
        connections.borrow(reserved).await.map_err(unreached)?;
    let first = sender.try_send_request(request(connections, &send, authorization)).await;
    let response = match first {
        Ok(response) => response,
        // Nothing was sent: the server closed the idle connection.
        Err(mut error) if is_reused && error.message().is_some() => {
            let Some(unsent) = error.take_message() else { return Err(ExchangeFailure::Unreached) };
            sender = connections.connect().await.map_err(unreached)?;
            sender.try_send_request(unsent).await.map_err(|error| failure(connections, error))?
        }
        Err(error) => return Err(failure(connections, error)),
    };
    let (parts, body) = response.into_parts();
    with_http(link, |http, now| http.handle_head(now, id, parts.status.as_u16(), &parts.headers));
    read(link, id, body).await?;
    connections.give_back(sender);
    Ok(())
}

fn failure<T>(connections: &HttpConnections, error: TrySendError<T>) -> ExchangeFailure {
    let failure =
        if error.message().is_some() { ExchangeFailure::Unreached } else { ExchangeFailure::Cut };
    connections.failed(io::Error::other(error.into_error()));
    failure
}

async fn read(
    link: &Arc<Link<Machine>>,
    id: ExchangeId,
    body: Incoming,
) -> Result<(), ExchangeFailure> {
    let mut body = pin!(body);
    loop {
        link.when(|state| state.connection.http()?.http().wants_input(id).then_some(())).await;
        match poll_fn(|context| body.as_mut().poll_frame(context)).await {
            None => return Ok(()),
            Some(Err(_)) => return Err(ExchangeFailure::Cut),
            Some(Ok(frame)) => {
                let Ok(data) = frame.into_data() else { continue };
                link.trace.input(&data);
                with_http(link, |http, now| http.handle_body(now, id, &data));
            }
        }
    }
}

/// Returns the `Authorization` field, which the application determines on a thread where it may
/// block.
async fn authorize(
    link: &Link<Machine>,
    connections: &HttpConnections,
) -> io::Result<Option<HeaderValue>> {
    let Some(authorize) = connections.remote.authorize.clone() else { return Ok(None) };
    let invalid = || {
        let why = "the `authorization` callback panicked or returned an invalid header value";
        io::Error::other(why)
    };
    let value = link.shared.callbacks.call(move || authorize()).await.ok_or_else(invalid)?;
    let Some(value) = value else { return Ok(None) };
    let mut value = HeaderValue::from_str(&value).map_err(|_| invalid())?;
    value.set_sensitive(true);
    Ok(Some(value))
}

fn request(
    connections: &HttpConnections,
    send: &HttpRequest,
    authorization: Option<HeaderValue>,
) -> Request<FullBody> {
    let remote = &connections.remote;
    let mut request = Request::new(FullBody::new(send.body.clone()));
    *request.method_mut() =
        http::Method::from_bytes(send.method.name().as_bytes()).unwrap_or(http::Method::POST);
    *request.uri_mut() = remote.target.clone();
    let fields = request.headers_mut();
    fields.insert("host", remote.authority.clone());
    for (name, value) in &remote.fields {
        fields.append(name.clone(), value.clone());
    }
    if let Some(value) = authorization {
        fields.insert("authorization", value);
    }
    for (name, value) in &send.headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.as_bytes())) {
            fields.insert(name, value);
        }
    }
    request
}
