//! Clients over the `fetch` function of a JavaScript host.

use std::rc::Rc;

use js_sys::futures::JsFuture;
use js_sys::{Array, Promise, Uint8Array};
use mcp_proto::http::client::{ExchangeFailure, HttpRequest};
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::JsValue;
use web_sys::{
    AbortController, Headers, ReadableStreamDefaultReader, Request, RequestInit, Response,
};

use super::platform::{JsPlatform, call_global};
use super::stream::read;
use crate::client::Client;
use crate::client::connection::Connection;
use crate::error::Error;
use crate::http::{FetchBody, FetchReply, WebFetch, connect};
use crate::platform::{LocalBoxFuture, Platform};

/// The address of a server, and headers to send to it.
#[derive(Clone)]
#[must_use = "pass the address to `connect_http`"]
pub struct JsRemote {
    url: String,
    headers: Vec<(String, String)>,
}

// The headers may hold credentials.
impl std::fmt::Debug for JsRemote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JsRemote").field("url", &self.url).finish_non_exhaustive()
    }
}

impl JsRemote {
    /// Creates an address: the URL of the MCP endpoint, which the host resolves.
    pub fn new(url: &str) -> Self {
        Self { url: url.into(), headers: Vec::new() }
    }

    /// Adds a header to each request, such as `Authorization`.
    ///
    /// In a browser, the server must allow a custom header by name; of those of the protocol,
    /// servers of this project do.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

/// Connects a client to a server over Streamable HTTP, with the `fetch` function of the host.
///
/// Response bodies are read as they arrive. Cancelled calls abort their request. In a browser, the
/// server must let the origin of the page read its responses (CORS).
///
/// # Errors
/// Fails with [`Error::Start`] if the server cannot be reached or refuses the client.
pub async fn connect_http(client: Client, remote: JsRemote) -> Result<Connection, Error> {
    let platform: Rc<dyn Platform> = Rc::new(JsPlatform);
    connect(client, Rc::new(remote), &platform).await
}

impl WebFetch for JsRemote {
    fn fetch(
        &self,
        request: HttpRequest,
    ) -> LocalBoxFuture<'static, Result<FetchReply, ExchangeFailure>> {
        let remote = self.clone();
        Box::pin(async move {
            let abort = AbortController::new().map(AbortOnDrop);
            let prepared = abort.and_then(|abort| Ok((prepare(&remote, &request, &abort)?, abort)));
            let (sent, abort) = prepared.map_err(|_exception| ExchangeFailure::Unreached)?;
            // Whether a request that failed has reached the server is not revealed, so that it
            // cannot be said to be safe to repeat.
            send(&sent, abort).await.map_err(|_exception| ExchangeFailure::Cut)
        })
    }
}

/// Aborts a request when it is dropped. Has no effect on one that is complete.
struct AbortOnDrop(AbortController);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn prepare(
    remote: &JsRemote,
    request: &HttpRequest,
    abort: &AbortOnDrop,
) -> Result<Request, JsValue> {
    let headers = Headers::new()?;
    let own = request.headers.iter().map(|(name, value)| (&**name, &**value));
    let added = remote.headers.iter().map(|(name, value)| (&**name, &**value));
    for (name, value) in own.chain(added) {
        headers.append(name, value)?;
    }
    let init = RequestInit::new();
    init.set_method(request.method.name());
    init.set_headers(&headers);
    init.set_signal(Some(&abort.0.signal()));
    if !request.body.is_empty() {
        init.set_body(&Uint8Array::from(&request.body[..]).into());
    }
    Request::new_with_str_and_init(&remote.url, &init)
}

async fn send(request: &Request, abort: AbortOnDrop) -> Result<FetchReply, JsValue> {
    let response: Promise = call_global("fetch", &[request])?.dyn_into()?;
    let response: Response = JsFuture::from(response).await?.dyn_into()?;
    let mut headers = Vec::new();
    for pair in js_sys::try_iter(&response.headers())?.into_iter().flatten() {
        let pair: Array = pair?.dyn_into()?;
        let text = |index| pair.get(index).as_string().unwrap_or_default();
        headers.push((text(0), text(1)));
    }
    let reader = match response.body() {
        Some(body) => Some(body.get_reader().dyn_into()?),
        None => None,
    };
    let body = Box::new(JsBody { reader, _abort: abort });
    Ok(FetchReply { status: response.status(), headers, body })
}

struct JsBody {
    reader: Option<ReadableStreamDefaultReader>,
    _abort: AbortOnDrop,
}

impl FetchBody for JsBody {
    fn next(&mut self) -> LocalBoxFuture<'_, Result<Option<Vec<u8>>, ExchangeFailure>> {
        let reader = self.reader.as_ref();
        Box::pin(async move {
            let Some(reader) = reader else { return Ok(None) };
            read(reader).await.map_err(|_exception| ExchangeFailure::Cut)
        })
    }
}
