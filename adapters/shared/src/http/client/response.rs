//! [`ResponseStream`]: the body of a response, and the connection that it arrives over.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as _, Frame};
use hyper::body::Incoming;

use super::http_send::ReceivedBody;
use super::pool::Leased;

/// The body of a response. Dropping it before its end aborts the exchange.
pub(super) enum ResponseStream {
    Pooled(Incoming, Leased),
    /// `None` after the end or an error: bodies need not be polled afterwards.
    Client(Option<ReceivedBody>),
}

/// The response was cut off.
pub(super) struct BodyCut;

impl ResponseStream {
    /// Reads the next piece of the body; `None` at its end.
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, BodyCut>> {
        loop {
            match poll_fn(|context| self.poll_frame(context)).await? {
                Ok(frame) => {
                    // Other frames are trailers.
                    if let Ok(data) = frame.into_data() {
                        return Some(Ok(data));
                    }
                }
                Err(cut) => return Some(Err(cut)),
            }
        }
    }

    fn poll_frame(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyCut>>> {
        match self {
            Self::Pooled(body, _) => Pin::new(body).poll_frame(context).map_err(|_| BodyCut),
            Self::Client(body) => {
                let Some(received) = body else { return Poll::Ready(None) };
                let polled = received.poll_frame(context).map_err(|_| BodyCut);
                if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
                    *body = None;
                }
                polled
            }
        }
    }

    /// Returns the connection, after the end of the body.
    pub(super) fn finish(self) -> Option<Leased> {
        match self {
            Self::Pooled(_, leased) => Some(leased),
            Self::Client(_) => None,
        }
    }
}
