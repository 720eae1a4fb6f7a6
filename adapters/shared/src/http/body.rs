//! The body of a response: all of it at once, or an event stream; knows nothing of what it says.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_lite::future::yield_now;
use http_body::{Frame, SizeHint};
use mcp_proto::http::{ExchangeId, Frame as Piece};
use mcp_proto::server::Server as Machine;

use super::runtime::HttpRuntime;
use super::sessions::Listener;
use crate::BoxFuture;
use crate::server::events::Serving;
use crate::transport::link::{Link, State};

/// The body of a response. Dropping it tells the server that nobody hears the rest.
pub struct Body(Inner);

enum Inner {
    Whole(Option<Bytes>),
    Events(Events),
}

struct Events {
    exchange: Exchange,
    next: Option<BoxFuture<'static, Piece>>,
    /// Keeps the time, where nobody else does.
    time: Option<BoxFuture<'static, ()>>,
}

/// A request that is being answered: whoever drops it is gone.
pub(super) struct Exchange {
    pub(super) link: Arc<Link<Machine>>,
    pub(super) id: ExchangeId,
    /// It shares its session with nobody, and ends it.
    pub(super) is_alone: bool,
    pub(super) is_over: bool,
    /// It hears of changes, and of the end, for as long as this is there.
    pub(super) listening: Option<(Serving, Listener)>,
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.is_over {
            let id = self.id;
            self.link.with(|state, now| {
                if let Some(http) = state.session.http() {
                    http.handle_gone(now, id);
                }
            });
        }
        // Where nobody else has it, there is nobody to be told.
        if self.is_alone && (Arc::strong_count(&self.link) > 1 || !self.is_over) {
            self.link.over();
        }
    }
}

impl Body {
    pub(super) const fn whole(bytes: Bytes) -> Self {
        Self(Inner::Whole(Some(bytes)))
    }

    pub(super) fn events(exchange: Exchange, runtime: &Arc<dyn HttpRuntime>) -> Self {
        let time: Option<BoxFuture<'static, ()>> = exchange.is_alone.then(|| {
            let (link, runtime) = (Arc::clone(&exchange.link), Arc::clone(runtime));
            Box::pin(async move {
                // What is said at once needs no timer.
                yield_now().await;
                link.keep_time(|duration| runtime.sleep(duration)).await;
            }) as _
        });
        Self(Inner::Events(Events { exchange, next: None, time }))
    }
}

impl Events {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.exchange.is_over {
            return Poll::Ready(None);
        }
        let Poll::Ready(piece) = self.poll_piece(context) else {
            // While there is something to say, nothing has to be said for time having passed.
            if let Some(time) = &mut self.time
                && time.as_mut().poll(context).is_ready()
            {
                self.time = None;
            }
            return Poll::Pending;
        };
        match piece {
            Piece::Bytes(bytes) => Poll::Ready(Some(bytes)),
            Piece::End => {
                self.exchange.is_over = true;
                Poll::Ready(None)
            }
        }
    }
}

impl Events {
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Piece> {
        let (link, id) = (&self.exchange.link, self.exchange.id);
        let next = self.next.get_or_insert_with(|| {
            let link = Arc::clone(link);
            Box::pin(async move {
                let poll = |state: &mut State<Machine>| {
                    state.session.http().map_or(Some(Piece::End), |http| http.poll_frame(id))
                };
                link.take_sent(poll).await
            })
        });
        let piece = next.as_mut().poll(context);
        if piece.is_ready() {
            self.next = None;
        }
        piece
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.0 {
            Inner::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Inner::Events(events) => {
                events.poll(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Inner::Whole(bytes) => bytes.as_ref().is_none_or(Bytes::is_empty),
            Inner::Events(events) => events.exchange.is_over,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64)
            }
            Inner::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.0 {
            Inner::Whole(_) => "Whole",
            Inner::Events(_) => "Events",
        };
        f.debug_tuple("Body").field(&kind).finish()
    }
}
