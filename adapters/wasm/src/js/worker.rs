//! Responses to the requests of a Worker.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Poll, Waker};

use bytes::Bytes;
use http::header::HOST;
use http_body::Body as _;
use js_sys::futures::future_to_promise;
use js_sys::{Array, Object, Promise, Reflect, Uint8Array};
use mcp_adapter::http::{HttpService, ResponseBody};
use wasm_bindgen::prelude::{Closure, JsValue};
use wasm_bindgen::{JsCast as _, JsError};
use web_sys::{
    AbortSignal, Headers, ReadableStream, ReadableStreamDefaultController, Request, Response,
    ResponseInit, Url,
};

use super::stream::StreamBody;

/// Handles a `Request` of a JavaScript host and returns its `Response`.
///
/// Event streams are `ReadableStream`s that are pulled. A client that disconnects cancels its
/// modern request.
///
/// # Errors
/// Fails with the exception of the host, for example if the request is used already.
pub async fn respond(service: &HttpService, request: &Request) -> Result<Response, JsValue> {
    let received = receive(request)?;
    let handled = or_abort(request.signal(), service.respond(received)).await;
    let Some(response) = handled else {
        return Err(JsError::new("the client has disconnected").into());
    };
    let (head, body) = response.into_parts();
    let sent = Headers::new()?;
    for (name, value) in &head.headers {
        sent.append(name.as_str(), value.to_str().unwrap_or_default())?;
    }
    let init = ResponseInit::new();
    init.set_status(head.status.as_u16());
    init.set_headers(&sent);
    match body.size_hint().exact() {
        // Some statuses may not have a body, not even an empty one.
        Some(0) => Response::new_with_opt_readable_stream_and_init(None, &init),
        Some(_) => {
            let bytes = Pulled::new(body).next().await.unwrap_or_default();
            let bytes = Uint8Array::from(&bytes[..]);
            Response::new_with_opt_js_u8_array_and_init(Some(&bytes), &init)
        }
        None => Response::new_with_opt_readable_stream_and_init(Some(&stream_of(body)?), &init),
    }
}

/// Converts a request of the host.
fn receive(request: &Request) -> Result<http::Request<StreamBody<()>>, JsValue> {
    let mut head = http::Request::builder().method(&*request.method()).uri(request.url());
    let mut has_host = false;
    for pair in js_sys::try_iter(&request.headers())?.into_iter().flatten() {
        let pair: Array = pair?.dyn_into()?;
        let text = |index| pair.get(index).as_string().unwrap_or_default();
        has_host |= text(0).eq_ignore_ascii_case(HOST.as_str());
        head = head.header(text(0), text(1));
    }
    // Some hosts hide the header.
    if !has_host {
        head = head.header(HOST, Url::new(&request.url())?.host());
    }
    let body = StreamBody::new(request.body(), ());
    head.body(body).map_err(|_| JsError::new("the request has an invalid head").into())
}

/// Waits for a future; returns `None` once `signal` is aborted.
async fn or_abort<T>(signal: AbortSignal, future: impl Future<Output = T>) -> Option<T> {
    let aborted = Rc::new(RefCell::new(None::<Waker>));
    let woken = Rc::clone(&aborted);
    let on_abort: Closure<dyn FnMut()> = Closure::new(move || {
        let waker = woken.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    });
    signal.set_onabort(Some(on_abort.as_ref().unchecked_ref()));
    let mut future = pin!(future);
    let outcome = poll_fn(|cx| {
        if signal.aborted() {
            return Poll::Ready(None);
        }
        aborted.replace(Some(cx.waker().clone()));
        future.as_mut().poll(cx).map(Some)
    })
    .await;
    signal.set_onabort(None);
    outcome
}

/// An event stream, and whether the client has disconnected.
struct Pulled {
    /// `None` while a chunk is awaited, and at the end.
    events: RefCell<Option<ResponseBody>>,
    is_cancelled: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Pulled {
    fn new(events: ResponseBody) -> Self {
        Self {
            events: RefCell::new(Some(events)),
            is_cancelled: Cell::new(false),
            waker: RefCell::default(),
        }
    }

    /// Returns the next chunk; `None` at the end, and when the client has disconnected.
    async fn next(&self) -> Option<Bytes> {
        let mut events = self.events.take()?;
        let frame = poll_fn(|cx| {
            if self.is_cancelled.get() {
                return Poll::Ready(None);
            }
            self.waker.replace(Some(cx.waker().clone()));
            Pin::new(&mut events).poll_frame(cx)
        });
        let chunk = frame.await.and_then(|Ok(frame)| frame.into_data().ok());
        if chunk.is_some() && !self.is_cancelled.get() {
            self.events.replace(Some(events));
        }
        chunk
    }

    fn cancel(&self) {
        self.is_cancelled.set(true);
        let (events, waker) = (self.events.take(), self.waker.take());
        drop(events);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Returns a stream that pulls the chunks of an event stream.
fn stream_of(events: ResponseBody) -> Result<ReadableStream, JsValue> {
    let pulled = Rc::new(Pulled::new(events));
    let cancelled = Rc::clone(&pulled);
    let pull: Closure<dyn FnMut(ReadableStreamDefaultController) -> Promise> =
        Closure::new(move |controller: ReadableStreamDefaultController| {
            let pulled = Rc::clone(&pulled);
            future_to_promise(async move {
                match pulled.next().await {
                    Some(chunk) => {
                        controller.enqueue_with_chunk(&Uint8Array::from(&chunk[..]))?;
                    }
                    // A cancelled stream is closed already.
                    None if pulled.is_cancelled.get() => {}
                    None => controller.close()?,
                }
                Ok(JsValue::UNDEFINED)
            })
        });
    let cancel: Closure<dyn FnMut()> = Closure::new(move || cancelled.cancel());
    let source = Object::new();
    // The host frees the closures together with the stream.
    Reflect::set(&source, &"pull".into(), &pull.into_js_value())?;
    Reflect::set(&source, &"cancel".into(), &cancel.into_js_value())?;
    ReadableStream::new_with_underlying_source(&source)
}
