//! Response bodies: complete ones and event streams.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_lite::future::yield_now;
use http_body::{Frame, SizeHint};
use mcp_proto::http::BodyChunk as StreamFrame;
use mcp_proto::server::Server as Machine;

use super::budget::AddressShare;
use super::sessions::Listener;
use super::sockets::RequestInFlight;
use super::transport::ResponseSource;
use crate::box_future::BoxFuture;
use crate::http::dial::Dial;
use crate::server::connection::serving::Serving;
use crate::transport::link::{Link, State};

/// The body of an HTTP response.
///
/// Dropping an unfinished body tells the server that the client has disconnected.
pub struct ResponseBody {
    kind: BodyKind,
    /// Marks the connection as busy until the body is dropped.
    in_flight: Option<RequestInFlight>,
    /// The share of the limits of the client's address that the request uses until this body is
    /// dropped, if the body is whole. Otherwise, the exchange has the share.
    #[expect(dead_code, reason = "counts until it is dropped")]
    share: Option<AddressShare>,
}

enum BodyKind {
    Whole(Option<Bytes>),
    /// Boxed: most responses are whole.
    Events(Box<Events>),
}

struct Events {
    exchange: Exchange,
    next: Option<BoxFuture<'static, StreamFrame>>,
    /// Runs the timers of a connection that has no timer task.
    timers: Option<BoxFuture<'static, ()>>,
}

/// An HTTP request whose response is in progress.
///
/// Dropping it before its end means that the client has disconnected.
pub(super) struct Exchange {
    pub(super) link: Arc<Link<Machine>>,
    pub(super) source: ResponseSource,
    /// The connection exists for this exchange only and ends with it.
    pub(super) is_modern: bool,
    pub(super) is_over: bool,
    /// Keeps the exchange subscribed to changes, and registered to be ended with the server.
    pub(super) listening: Option<(Serving, Listener)>,
    /// The share of the limits of the client's address that the request uses.
    pub(super) share: Option<AddressShare>,
    /// The place of an event stream that waits for messages, in the limit of its client's address.
    pub(super) listener_share: Option<AddressShare>,
}

impl Exchange {
    /// Counts the request in the limits of its client's address for as long as the session keeps
    /// it: the response ends here, but another stream may have taken it over.
    fn keep_share(&mut self) {
        if let Some(share) = self.share.take() {
            self.link.with(|state, _| state.keep_share(share));
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.is_over {
            let (source, share) = (self.source, self.share.take());
            self.link.with(|state, now| state.handle_gone(now, source, share));
        }
        // Without other handles to the connection, nothing waits for its end.
        if self.is_modern && (Arc::strong_count(&self.link) > 1 || !self.is_over) {
            self.link.abandon();
        }
    }
}

impl ResponseBody {
    pub(super) const fn whole(bytes: Bytes) -> Self {
        Self::counted(bytes, None)
    }

    /// Creates a whole body that keeps the share of the client's address until it is dropped.
    pub(super) const fn counted(bytes: Bytes, share: Option<AddressShare>) -> Self {
        Self { kind: BodyKind::Whole(Some(bytes)), in_flight: None, share }
    }

    pub(super) fn events(exchange: Exchange, runtime: &Arc<dyn Dial>) -> Self {
        let timers: Option<BoxFuture<'static, ()>> = exchange.is_modern.then(|| {
            let (link, runtime) = (Arc::clone(&exchange.link), Arc::clone(runtime));
            Box::pin(async move {
                // Most responses are ready immediately and need no timer.
                yield_now().await;
                link.keep_time(|duration| runtime.sleep(duration)).await;
            }) as _
        });
        let kind = BodyKind::Events(Box::new(Events { exchange, next: None, timers }));
        Self { kind, in_flight: None, share: None }
    }

    /// Returns whether this is an event stream that waits for messages, not for a response.
    #[cfg(feature = "tls")]
    pub(super) fn is_listening(&self) -> bool {
        match &self.kind {
            BodyKind::Whole(_) => false,
            BodyKind::Events(events) => events.exchange.listener_share.is_some(),
        }
    }

    /// Marks the connection as busy until this body is dropped.
    pub(super) fn keep_busy(&mut self, in_flight: RequestInFlight) {
        self.in_flight = Some(in_flight);
    }
}

impl Events {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.exchange.is_over {
            return Poll::Ready(None);
        }
        let Poll::Ready(frame) = self.poll_frame(context) else {
            // Timers, such as keep-alive, matter only while there is nothing to send.
            if let Some(timers) = &mut self.timers
                && timers.as_mut().poll(context).is_ready()
            {
                self.timers = None;
            }
            return Poll::Pending;
        };
        match frame {
            StreamFrame::Bytes(bytes) => Poll::Ready(Some(bytes)),
            StreamFrame::End => {
                self.exchange.is_over = true;
                self.exchange.keep_share();
                Poll::Ready(None)
            }
        }
    }

    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<StreamFrame> {
        let (link, source) = (&self.exchange.link, self.exchange.source);
        let next = self.next.get_or_insert_with(|| {
            let link = Arc::clone(link);
            Box::pin(async move {
                let poll = |state: &mut State<Machine>| state.poll_chunk(source);
                link.take_sent(poll).await
            })
        });
        let frame = next.as_mut().poll(context);
        if frame.is_ready() {
            self.next = None;
        }
        frame
    }
}

impl http_body::Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.kind {
            BodyKind::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            BodyKind::Events(events) => {
                events.poll(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            BodyKind::Whole(bytes) => bytes.as_ref().is_none_or(Bytes::is_empty),
            BodyKind::Events(events) => events.exchange.is_over,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            BodyKind::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64)
            }
            BodyKind::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.kind {
            BodyKind::Whole(_) => "Whole",
            BodyKind::Events(_) => "Events",
        };
        f.debug_tuple("Body").field(&kind).finish()
    }
}
