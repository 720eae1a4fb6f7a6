//! One request and its response over a connection that serves nothing else.

use std::future::{pending, poll_fn};
use std::io;
use std::pin::Pin;

use bytes::Bytes;
use futures_lite::future::or;
use http::header::{CONTENT_ENCODING, InvalidHeaderValue, PROXY_AUTHORIZATION};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use mcp_proto::auth::Uri;
use zeroize::Zeroizing;

use super::connect::OpenedStream;
use super::failure::OAuthFailure;
use super::message::{OAuthRequest, OAuthResponse};
use crate::http::{FullBody, HyperStream, ProxyServer};

/// The maximum length of a response's head, and the maximum number of its headers.
const HEAD_BYTES_MAX: usize = 64 << 10;
const HEADERS_MAX: usize = 128;

/// Sends a request to `uri` over a connection and reads the response, whose body has at most
/// `bytes_max` bytes.
pub(super) async fn run(
    opened: OpenedStream<'_>,
    request: &OAuthRequest,
    uri: &Uri,
    bytes_max: usize,
) -> Result<OAuthResponse, OAuthFailure> {
    let OpenedStream { stream, forwarder } = opened;
    let request = encode(request, uri, forwarder)
        .map_err(|why| unreached(io::Error::new(io::ErrorKind::InvalidInput, why)))?;
    let mut builder = Builder::new();
    builder.max_buf_size(HEAD_BYTES_MAX).max_headers(HEADERS_MAX);
    let (sender, connection) =
        builder.handshake(HyperStream(stream)).await.map_err(|error| unreached(other(error)))?;
    let driven = async {
        // The exchange reports how the connection ends.
        let _ended = connection.await;
        pending().await
    };
    let response = or(exchange(sender, request, bytes_max), driven).await?;
    match forwarder.filter(|_| response.status == 407) {
        Some(proxy) => Err(unreached(proxy.unauthorized().into())),
        None => Ok(response),
    }
}

async fn exchange(
    mut sender: SendRequest<FullBody>,
    request: Request<FullBody>,
    bytes_max: usize,
) -> Result<OAuthResponse, OAuthFailure> {
    let sent = sender.try_send_request(request).await;
    let (parts, body) = sent
        .map_err(|error| {
            let is_unsent = error.message().is_some();
            let error = other(error.into_error());
            if is_unsent { unreached(error) } else { OAuthFailure::Cut(error) }
        })?
        .into_parts();
    let body = if is_plain(&parts.headers) { read(body, bytes_max).await? } else { None };
    Ok(OAuthResponse { status: parts.status.as_u16(), headers: parts.headers, body })
}

/// Returns whether a body has no content coding: none was asked for.
fn is_plain(headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(CONTENT_ENCODING).iter();
    codings.all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Reads a body; `None` if it is longer than `bytes_max`.
async fn read(
    mut body: Incoming,
    bytes_max: usize,
) -> Result<Option<Zeroizing<Vec<u8>>>, OAuthFailure> {
    let announced = body.size_hint().lower();
    if announced > bytes_max as u64 {
        return Ok(None);
    }
    // Allocated in full: growing would leave copies of tokens in memory.
    let mut text = Zeroizing::new(Vec::with_capacity(bytes_max));
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|error| OAuthFailure::Cut(other(error)))?;
        let Ok(data) = frame.into_data() else { continue };
        if text.len() + data.len() > bytes_max {
            return Ok(None);
        }
        text.extend_from_slice(&data);
    }
    Ok(Some(text))
}

/// Builds the request for one hop, which a proxy may forward.
fn encode(
    request: &OAuthRequest,
    uri: &Uri,
    forwarder: Option<&ProxyServer>,
) -> Result<Request<FullBody>, http::Error> {
    let body = Bytes::copy_from_slice(request.body.expose().as_bytes());
    let path = if uri.path().is_empty() { "/" } else { uri.path() };
    let target = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    // A proxy needs the whole URL.
    let origin = forwarder.map_or("", |_| uri.origin());
    let mut encoded = Request::new(FullBody::new(body));
    *encoded.method_mut() = Method::from_bytes(request.method.name().as_bytes())?;
    *encoded.uri_mut() = format!("{origin}{target}").parse()?;
    let headers = encoded.headers_mut();
    for (name, value) in &request.headers {
        headers.append(HeaderName::from_bytes(name.as_bytes())?, sensitive(value)?);
    }
    headers.insert("host", HeaderValue::from_str(uri.authority())?);
    headers.insert("connection", HeaderValue::from_static("close"));
    headers.insert("accept-encoding", HeaderValue::from_static("identity"));
    if let Some(credentials) = forwarder.and_then(ProxyServer::credentials) {
        headers.insert(PROXY_AUTHORIZATION, credentials.clone());
    }
    if let Some(authorization) = &request.authorization
        && uri.is_same_origin(&request.uri)
    {
        headers.insert("authorization", sensitive(authorization.expose())?);
    }
    Ok(encoded)
}

/// Returns a value that no `Debug` shows.
fn sensitive(value: &str) -> Result<HeaderValue, InvalidHeaderValue> {
    let mut value = HeaderValue::from_str(value)?;
    value.set_sensitive(true);
    Ok(value)
}

const fn unreached(error: io::Error) -> OAuthFailure {
    OAuthFailure::Unreached(error)
}

fn other(error: hyper::Error) -> io::Error {
    io::Error::other(error)
}
