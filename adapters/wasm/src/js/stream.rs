//! Streams of bytes of a JavaScript host.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame};
use js_sys::futures::JsFuture;
use js_sys::{Reflect, Uint8Array};
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::JsValue;
use web_sys::{ReadableStream, ReadableStreamDefaultReader};

/// A body that a stream of the host delivers.
pub(super) struct StreamBody<K> {
    /// `None` for an empty body, and at the end.
    reader: Option<SendWrapper<ReadableStreamDefaultReader>>,
    /// The chunk that is being read.
    chunk: Option<SendWrapper<JsFuture>>,
    /// Kept until the body is dropped.
    _kept: SendWrapper<K>,
}

impl<K> StreamBody<K> {
    /// Creates a body that keeps a value until it is dropped.
    pub(super) fn new(stream: Option<ReadableStream>, kept: K) -> Self {
        let reader = stream.and_then(|stream| stream.get_reader().dyn_into().ok());
        Self { reader: reader.map(SendWrapper::new), chunk: None, _kept: SendWrapper::new(kept) }
    }
}

impl<K: Unpin> Body for StreamBody<K> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let Self { reader, chunk, .. } = &mut *self;
        let Some(stream) = reader else { return Poll::Ready(None) };
        let reading = chunk.get_or_insert_with(|| SendWrapper::new(JsFuture::from(stream.read())));
        let read = ready!(Pin::new(&mut **reading).poll(context));
        *chunk = None;
        let next = read.and_then(|result| bytes_of(&result));
        if !matches!(next, Ok(Some(_))) {
            *reader = None;
        }
        Poll::Ready(match next {
            Ok(bytes) => bytes.map(|bytes| Ok(Frame::data(bytes))),
            Err(exception) => Some(Err(failure(&exception))),
        })
    }
}

/// Returns the bytes of a chunk; `None` at the end of the stream.
fn bytes_of(result: &JsValue) -> Result<Option<Bytes>, JsValue> {
    if Reflect::get(result, &"done".into())?.is_truthy() {
        return Ok(None);
    }
    let chunk: Uint8Array = Reflect::get(result, &"value".into())?.dyn_into()?;
    Ok(Some(chunk.to_vec().into()))
}

/// Returns an exception as an error.
pub(super) fn failure(exception: &JsValue) -> io::Error {
    let message = Reflect::get(exception, &"message".into()).ok().and_then(|it| it.as_string());
    io::Error::other(message.unwrap_or_else(|| "the host reported an exception".into()))
}
