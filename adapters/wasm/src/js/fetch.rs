//! The HTTP client of a JavaScript host.

use std::future::{Future as _, poll_fn};

use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{Request, Response};
use js_sys::futures::JsFuture;
use js_sys::{Array, Promise, Uint8Array};
use mcp_adapter::BoxFuture;
use mcp_adapter::http::{HttpSend, ReceivedBody, SendError};
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::JsValue;
use web_sys::{AbortController, Headers, RequestInit};

use super::stream::{StreamBody, failure};
use crate::host::call_global;

/// Sends requests with the function `fetch`. Dropping a future or a body aborts its request.
#[derive(Debug)]
pub(crate) struct Fetch;

impl HttpSend for Fetch {
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<ReceivedBody>, SendError>> {
        let mut sent = SendWrapper::new(Box::pin(async move {
            let abort = AbortController::new().map(AbortOnDrop);
            let prepared = abort.and_then(|abort| Ok((prepare(&request, &abort)?, abort)));
            let (sent, abort) = prepared.map_err(|why| SendError::unsent(failure(&why)))?;
            // Whether a request that failed has reached the server is not revealed, so that it
            // cannot be said to be safe to repeat.
            send(&sent, abort).await.map_err(|why| SendError::lost(failure(&why)))
        }));
        Box::pin(poll_fn(move |context| sent.as_mut().poll(context)))
    }
}

/// Aborts a request when it is dropped. Has no effect on one that is complete.
struct AbortOnDrop(AbortController);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn prepare(request: &Request<Bytes>, abort: &AbortOnDrop) -> Result<web_sys::Request, JsValue> {
    let headers = Headers::new()?;
    for (name, value) in request.headers() {
        headers.append(name.as_str(), value.to_str().unwrap_or_default())?;
    }
    let init = RequestInit::new();
    init.set_method(request.method().as_str());
    init.set_headers(&headers);
    init.set_signal(Some(&abort.0.signal()));
    if !request.body().is_empty() {
        init.set_body(&Uint8Array::from(&request.body()[..]).into());
    }
    web_sys::Request::new_with_str_and_init(&request.uri().to_string(), &init)
}

async fn send(
    request: &web_sys::Request,
    abort: AbortOnDrop,
) -> Result<Response<ReceivedBody>, JsValue> {
    let response: Promise = call_global("fetch", &[request])?.dyn_into()?;
    let response: web_sys::Response = JsFuture::from(response).await?.dyn_into()?;
    let mut head = Response::builder().status(response.status());
    for pair in js_sys::try_iter(&response.headers())?.into_iter().flatten() {
        let pair: Array = pair?.dyn_into()?;
        let text = |index| pair.get(index).as_string().unwrap_or_default();
        // `fetch` decodes bodies, and leaves the field.
        if !text(0).eq_ignore_ascii_case(CONTENT_ENCODING.as_str()) {
            head = head.header(text(0), text(1));
        }
    }
    let body = ReceivedBody::new(StreamBody::new(response.body(), abort));
    head.body(body).map_err(|_| JsValue::from_str("the response has an invalid head"))
}
