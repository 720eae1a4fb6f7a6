//! One HTTP exchange: sends a request and feeds the response to the session.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;

use bytes::Bytes;
use http::header::PROXY_AUTHORIZATION;
use http::response::Parts;
use http::{HeaderName, HeaderValue, Request, Uri};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::SendRequest;
use mcp_proto::Instant;
use mcp_proto::client::Client as Machine;
use mcp_proto::http::client::{ExchangeFailure, ExchangeId, HttpClient, HttpRequest};

use super::authorize::authorize;
use super::challenge_reason::{self, Credentials};
use super::connections::{Borrowed, HttpConnections};
use super::full_body::FullBody;
use super::proxy::ProxyServer;
use super::redirect;
use crate::exec::budget::PIECE_BYTES_MAX;
use crate::transport::link::{Link, State};

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

fn with_http(link: &Arc<Link<Machine>>, act: impl FnOnce(&mut HttpClient, Instant)) {
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
    let authorization =
        authorize(link, connections, &send).await.map_err(|error| unreached(connections, error))?;
    let mut target = match &send.target {
        Some(target) => target.expose().parse().map_err(|_| {
            unreached(connections, io::Error::other("the server named an invalid message endpoint"))
        })?,
        None => connections.remote.target.clone(),
    };
    let mut borrowed = connections.borrow(reserved).await.map_err(|e| unreached(connections, e))?;
    for followed in 0.. {
        let mut request = request(connections, &send, &target, authorization.clone());
        let url = || connections.remote.url_of(&target);
        let proof = connections.proofs.header(&send, url);
        if let Some(proof) = proof.map_err(|error| unreached(connections, error))? {
            request.headers_mut().insert("dpop", proof);
        }
        let (sender, parts, mut body) = send_once(connections, borrowed, request).await?;
        let next = redirect::next_target(&connections.remote, &target, &parts);
        let Some(next) = next.filter(|_| followed < redirect::REDIRECTS_MAX) else {
            let status = parts.status.as_u16();
            let reason = if matches!(status, 401 | 403) {
                let credentials = Credentials {
                    remote: &connections.remote,
                    target: &target,
                    authorization: authorization.as_ref(),
                    proxy_authorization: connections.forwarder().and_then(ProxyServer::credentials),
                    session_id: send.header("mcp-session-id"),
                };
                challenge_reason::read(link, &mut body, &credentials).await
            } else {
                None
            };
            with_http(link, |http, now| match reason {
                Some(reason) => http.handle_challenge(now, id, status, &parts.headers, &reason),
                None => http.handle_head(now, id, status, &parts.headers),
            });
            read(link, id, body).await?;
            connections.give_back(sender);
            break;
        };
        target = next;
        skip(&mut body).await?;
        borrowed = connections
            .borrow_again(sender)
            .await
            .map_err(|error| unreached(connections, error))?;
    }
    Ok(())
}

/// Sends the request and waits for the head of the response.
async fn send_once(
    connections: &HttpConnections,
    Borrowed { mut sender, is_reused }: Borrowed,
    request: Request<FullBody>,
) -> Result<(SendRequest<FullBody>, Parts, Incoming), ExchangeFailure> {
    let response = match sender.try_send_request(request).await {
        Ok(response) => response,
        // Nothing was sent: the server closed the idle connection.
        Err(mut error) if is_reused && error.message().is_some() => {
            let Some(unsent) = error.take_message() else { return Err(ExchangeFailure::Unreached) };
            sender = connections.connect().await.map_err(|error| unreached(connections, error))?;
            sender.try_send_request(unsent).await.map_err(|error| failure(connections, error))?
        }
        Err(error) => return Err(failure(connections, error)),
    };
    let (parts, body) = response.into_parts();
    if let Some(proxy) = connections.forwarder().filter(|_| parts.status.as_u16() == 407) {
        return Err(unreached(connections, proxy.unauthorized().into()));
    }
    Ok((sender, parts, body))
}

fn unreached(connections: &HttpConnections, cause: io::Error) -> ExchangeFailure {
    connections.failed(cause);
    ExchangeFailure::Unreached
}

/// Reads the body of a redirect, so that its connection can be used again.
async fn skip(body: &mut Incoming) -> Result<(), ExchangeFailure> {
    let mut left = REDIRECT_BYTES_MAX;
    while let Some(frame) = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await {
        let length = frame.map_err(|_| ExchangeFailure::Cut)?.data_ref().map_or(0, Bytes::len);
        left = left.checked_sub(length).ok_or(ExchangeFailure::Cut)?;
    }
    Ok(())
}

/// The maximum length of the body of a redirect that is followed.
const REDIRECT_BYTES_MAX: usize = 64 * 1024;

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
        link.when(|state| may_read(state, id).then_some(())).await;
        match poll_fn(|context| body.as_mut().poll_frame(context)).await {
            None => return Ok(()),
            Some(Err(_)) => return Err(ExchangeFailure::Cut),
            Some(Ok(frame)) => {
                let Ok(data) = frame.into_data() else { continue };
                link.trace.input(&data);
                for piece in data.chunks(PIECE_BYTES_MAX) {
                    feed(link, id, piece).await;
                }
            }
        }
    }
}

/// Passes a piece of a body to the session, as soon as there is room for what it may cause.
async fn feed(link: &Arc<Link<Machine>>, id: ExchangeId, piece: &[u8]) {
    // Checked under the lock that also covers the change: other exchanges read concurrently.
    let try_feed = |state: &mut State<Machine>, now: Instant| {
        let has_room = may_read(state, id);
        if let Some(transport) = state.connection.http().filter(|_| has_room) {
            transport.http().handle_body(now, id, piece);
        }
        has_room
    };
    while !link.with(try_feed) {
        link.when(|state| may_read(state, id).then_some(())).await;
    }
}

/// Returns whether the session and the application have room for more of this exchange's body.
fn may_read(state: &mut State<Machine>, id: ExchangeId) -> bool {
    let wants_input = state.connection.http().is_some_and(|it| it.http().wants_input(id));
    wants_input && state.callbacks.has_room()
}

fn request(
    connections: &HttpConnections,
    send: &HttpRequest,
    target: &Uri,
    authorization: Option<HeaderValue>,
) -> Request<FullBody> {
    let remote = &connections.remote;
    let mut request = Request::new(FullBody::new(send.body.clone()));
    *request.method_mut() =
        http::Method::from_bytes(send.method.name().as_bytes()).unwrap_or(http::Method::POST);
    let forwarder = connections.forwarder();
    *request.uri_mut() = match forwarder {
        // A proxy needs the whole URL.
        Some(_) => remote.url_of(target).parse().unwrap_or_else(|_| target.clone()),
        None => target.clone(),
    };
    let fields = request.headers_mut();
    fields.insert("host", remote.authority.clone());
    for (name, value) in &remote.fields {
        fields.append(name.clone(), value.clone());
    }
    if let Some(value) = authorization {
        fields.insert("authorization", value);
    }
    if let Some(value) = forwarder.and_then(ProxyServer::credentials) {
        fields.insert(PROXY_AUTHORIZATION, value.clone());
    }
    for (name, value) in &send.headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(mut value)) = (name, HeaderValue::from_bytes(value.as_bytes())) {
            value.set_sensitive(name == "mcp-session-id");
            fields.insert(name, value);
        }
    }
    request
}
