//! Responses to the requests of a Worker.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

use bytes::Bytes;
use js_sys::futures::future_to_promise;
use js_sys::{Array, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::{Closure, JsValue};
use wasm_bindgen::{JsCast as _, JsError};
use web_sys::{
    AbortSignal, Headers, ReadableStream, ReadableStreamDefaultController,
    ReadableStreamDefaultReader, Request, Response, ResponseInit, Url,
};

use super::stream::read;
use crate::http::{EventBody, WebBody, WebReply, WebRequest, WebService};

/// Handles a `Request` of a JavaScript host and returns its `Response`.
///
/// Event streams are `ReadableStream`s that are pulled. A client that disconnects cancels its
/// modern request. At most [`WebService::body_bytes_max`] bytes of the body, plus one chunk, are
/// read.
///
/// # Errors
/// Fails with the exception of the host, for example if the request is used already.
pub async fn respond(service: &WebService, request: &Request) -> Result<Response, JsValue> {
    let head = head_of(request)?;
    let body = read_body(request.body(), service.body_bytes_max());
    let handled = or_abort(request.signal(), service.handle(&head, body)).await;
    let Some(WebReply { status, headers, body }) = handled else {
        return Err(JsError::new("the client has disconnected").into());
    };
    let sent = Headers::new()?;
    for (name, value) in headers {
        sent.append(name, &value)?;
    }
    let init = ResponseInit::new();
    init.set_status(status);
    init.set_headers(&sent);
    match body {
        // Some statuses may not have a body, not even an empty one.
        WebBody::Whole(bytes) if bytes.is_empty() => {
            Response::new_with_opt_readable_stream_and_init(None, &init)
        }
        WebBody::Whole(bytes) => {
            let bytes = Uint8Array::from(&bytes[..]);
            Response::new_with_opt_js_u8_array_and_init(Some(&bytes), &init)
        }
        WebBody::Events(events) => {
            Response::new_with_opt_readable_stream_and_init(Some(&stream_of(events)?), &init)
        }
    }
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

fn head_of(request: &Request) -> Result<WebRequest, JsValue> {
    let mut headers = Vec::new();
    for pair in js_sys::try_iter(&request.headers())?.into_iter().flatten() {
        let pair: Array = pair?.dyn_into()?;
        let text = |index| pair.get(index).as_string().unwrap_or_default();
        headers.push((text(0), text(1)));
    }
    // Some hosts hide the header.
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        headers.push(("host".into(), Url::new(&request.url())?.host()));
    }
    Ok(WebRequest { method: request.method(), headers })
}

/// Reads a body until it exceeds `bytes_max`; returns `None` if it is incomplete.
async fn read_body(body: Option<ReadableStream>, bytes_max: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let Some(body) = body else { return Some(bytes) };
    let reader: ReadableStreamDefaultReader = body.get_reader().dyn_into().ok()?;
    while bytes.len() <= bytes_max {
        match read(&reader).await.ok()? {
            Some(chunk) => bytes.extend_from_slice(&chunk),
            None => return Some(bytes),
        }
    }
    let _cancelled = reader.cancel();
    Some(bytes)
}

/// An event stream, and whether the client has disconnected.
struct Pulled {
    /// `None` while a chunk is awaited, and at the end.
    events: RefCell<Option<EventBody>>,
    is_cancelled: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Pulled {
    /// Returns the next chunk; `None` at the end, and when the client has disconnected.
    async fn next(&self) -> Option<Bytes> {
        let mut events = self.events.take()?;
        let chunk = {
            let mut next = pin!(events.next());
            poll_fn(|cx| {
                if self.is_cancelled.get() {
                    return Poll::Ready(None);
                }
                self.waker.replace(Some(cx.waker().clone()));
                next.as_mut().poll(cx)
            })
            .await
        };
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
fn stream_of(events: EventBody) -> Result<ReadableStream, JsValue> {
    let pulled = Rc::new(Pulled {
        events: RefCell::new(Some(events)),
        is_cancelled: Cell::new(false),
        waker: RefCell::default(),
    });
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
