//! One HTTP exchange: sends a request and feeds the response to the session.

use std::io;
use std::sync::Arc;

use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, PROXY_AUTHORIZATION};
use http::response::Parts;
use http::{HeaderName, HeaderValue, Request, Uri};
use mcp_proto::Instant;
use mcp_proto::client::Client as Machine;
use mcp_proto::http::client::{ExchangeFailure, ExchangeId, HttpClient, HttpRequest};

use super::authorize::authorize;
use super::connections::{HttpConnections, Route};
use super::error_reason::{self, Credentials, Explained};
use super::full_body::FullBody;
use super::http_send::SendError;
use super::pool::Leased;
use super::proxy::ProxyServer;
use super::redirect;
use super::response::ResponseStream;
use crate::exec::budget::PIECE_BYTES_MAX;
use crate::exec::workers::catch_panic;
use crate::transport::link::{Link, State};

/// Runs an exchange to its end and reports the outcome to the session.
pub(super) async fn run(
    link: &Arc<Link<Machine>>,
    connections: &HttpConnections,
    send: HttpRequest,
    reserved: Option<Leased>,
) {
    let id = send.exchange;
    match send_and_read(link, connections, send, reserved).await {
        Ok(()) => with_http(link, |http, now| http.handle_end(now, id)),
        Err(reason) => with_http(link, |http, now| http.handle_failure(now, id, reason)),
    }
}

fn with_http(link: &Arc<Link<Machine>>, act: impl FnOnce(&mut HttpClient, Instant)) {
    link.with(|state, now| {
        if let Some(transport) = state.http() {
            act(transport.http(), now);
        }
    });
}

async fn send_and_read(
    link: &Arc<Link<Machine>>,
    connections: &HttpConnections,
    send: HttpRequest,
    reserved: Option<Leased>,
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
    let mut connection = reserved;
    for followed in 0.. {
        let mut request = request(connections, &send, &target, authorization.clone());
        let url = || connections.remote.url_of(&target);
        let member = connections.member.as_ref();
        let proof = member.map_or(Ok(None), |member| member.proof(&send, &url));
        if let Some(proof) = proof.map_err(|error| unreached(connections, error))? {
            request.headers_mut().insert("dpop", proof);
        }
        let is_again = followed > 0;
        let sent = send_once(connections, connection.take(), is_again, request).await;
        let (parts, mut body) = sent?;
        let next = redirect::next_target(&connections.remote, &target, &parts);
        let Some(next) = next.filter(|_| followed < redirect::REDIRECTS_MAX) else {
            let status = parts.status.as_u16();
            let is_error = !parts.status.is_success();
            if matches!(status, 401 | 403) {
                connections.rejected_at((followed > 0).then(|| connections.remote.url_of(&target)));
            }
            let explained = if is_error {
                let credentials = Credentials {
                    remote: &connections.remote,
                    target: &target,
                    authorization: authorization.as_ref(),
                    proxy_authorization: connections.forwarder().and_then(ProxyServer::credentials),
                    session_id: send.header("mcp-session-id"),
                };
                error_reason::read(link, &parts.headers, &mut body, &credentials).await
            } else {
                Explained::default()
            };
            with_http(link, |http, now| {
                if is_error {
                    http.handle_challenge(now, id, status, &parts.headers, &explained.reason);
                } else {
                    http.handle_head(now, id, status, &parts.headers);
                }
            });
            for piece in explained.body.chunks(PIECE_BYTES_MAX) {
                feed(link, id, piece).await;
            }
            if explained.is_cut {
                return Err(ExchangeFailure::Cut);
            }
            read(link, id, &mut body).await?;
            connections.give_back(body);
            break;
        };
        target = next;
        skip(&mut body).await?;
        connection = body.finish();
    }
    Ok(())
}

/// Sends the request and waits for the head of the response. `connection` is reserved, or was used
/// for the request that this one follows.
async fn send_once(
    connections: &HttpConnections,
    connection: Option<Leased>,
    is_again: bool,
    request: Request<FullBody>,
) -> Result<(Parts, ResponseStream), ExchangeFailure> {
    let sent = match &connections.route {
        Route::Pool(pool) => {
            let borrowed = if is_again {
                pool.borrow_again(connection).await
            } else {
                pool.borrow(connection).await
            };
            let borrowed = borrowed.map_err(|error| unreached(connections, error))?;
            pool.send(borrowed, request).await.map(|(leased, response)| {
                let (parts, body) = response.into_parts();
                (parts, ResponseStream::Pooled(body, leased))
            })
        }
        Route::Client(client) => {
            let request = request.map(FullBody::into_bytes);
            // Called inside the future: the function may panic, too.
            let sent = catch_panic(async { client.send(request).await }).await;
            let panicked = || Err(SendError::lost("the client of the `Remote` panicked"));
            sent.unwrap_or_else(panicked).map(|response| {
                let (mut parts, body) = response.into_parts();
                // The client has decoded what it asked for, and may leave the field.
                parts.headers.remove(CONTENT_ENCODING);
                (parts, ResponseStream::Client(Some(body)))
            })
        }
    };
    let (parts, body) = sent.map_err(|error| failure(connections, error))?;
    if let Some(proxy) = connections.forwarder().filter(|_| parts.status.as_u16() == 407) {
        return Err(unreached(connections, proxy.unauthorized().into()));
    }
    Ok((parts, body))
}

fn unreached(connections: &HttpConnections, cause: io::Error) -> ExchangeFailure {
    connections.failed(cause);
    ExchangeFailure::Unreached
}

/// Reads the body of a redirect, so that its connection can be used again.
async fn skip(body: &mut ResponseStream) -> Result<(), ExchangeFailure> {
    let mut left = REDIRECT_BYTES_MAX;
    while let Some(data) = body.next().await {
        let data = data.map_err(|_| ExchangeFailure::Cut)?;
        left = left.checked_sub(data.len()).ok_or(ExchangeFailure::Cut)?;
    }
    Ok(())
}

/// The maximum length of the body of a redirect that is followed.
const REDIRECT_BYTES_MAX: usize = 64 * 1024;

fn failure(connections: &HttpConnections, error: SendError) -> ExchangeFailure {
    let is_unsent = error.is_unsent();
    connections.failed(error.into_io());
    if is_unsent { ExchangeFailure::Unreached } else { ExchangeFailure::Cut }
}

async fn read(
    link: &Arc<Link<Machine>>,
    id: ExchangeId,
    body: &mut ResponseStream,
) -> Result<(), ExchangeFailure> {
    loop {
        link.when(|state| may_read(state, id).then_some(())).await;
        match body.next().await {
            None => return Ok(()),
            Some(Err(_)) => return Err(ExchangeFailure::Cut),
            Some(Ok(data)) => {
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
        if let Some(transport) = state.http().filter(|_| has_room) {
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
    let wants_input = state.http().is_some_and(|it| it.http().wants_input(id));
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
    let is_foreign = matches!(connections.route, Route::Client(_));
    *request.uri_mut() = if is_foreign || forwarder.is_some() {
        // Proxies and the clients of programs need the whole URL.
        remote.url_of(target).parse().unwrap_or_else(|_| target.clone())
    } else {
        target.clone()
    };
    let fields = request.headers_mut();
    if !is_foreign {
        fields.insert("host", remote.authority.clone());
    }
    if !is_foreign {
        fields.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    }
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
