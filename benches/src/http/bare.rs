//! The minimal HTTP server: reads the request and echoes its text.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response};
use memchr::memmem;

/// A response, piece by piece.
pub(super) struct Pieces {
    rest: std::vec::IntoIter<Bytes>,
    /// Whether the stream stays open without further events.
    is_open: bool,
}

/// Responds with JSON; a call of `steps` gets an event first, and a GET an idle stream.
pub(super) async fn answer(request: Request<Incoming>) -> Response<Pieces> {
    let is_get = request.method() == Method::GET;
    let body =
        request.into_body().collect().await.map_or_else(|_| Bytes::new(), |body| body.to_bytes());
    let (kind, pieces) = if is_get {
        ("text/event-stream", vec![Bytes::from_static(b":\n\n")])
    } else if memmem::find(&body, b"\"steps\"").is_some() {
        ("text/event-stream", vec![Bytes::from_static(STEP), event(&body)])
    } else {
        ("application/json", vec![body])
    };
    let mut response = Response::new(Pieces { rest: pieces.into_iter(), is_open: is_get });
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

const STEP: &[u8] = b"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\
    \"params\":{\"progressToken\":1,\"progress\":1}}\n\n";

fn event(data: &[u8]) -> Bytes {
    let mut event = Vec::with_capacity(data.len() + 8);
    event.extend_from_slice(b"data: ");
    event.extend_from_slice(data);
    event.extend_from_slice(b"\n\n");
    event.into()
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.rest.next() {
            None if self.is_open => Poll::Pending,
            piece => Poll::Ready(piece.map(|piece| Ok(Frame::data(piece)))),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self.rest.as_slice() {
            [one] if !self.is_open => SizeHint::with_exact(one.len() as u64),
            _ => SizeHint::default(),
        }
    }
}
