//! The bodies of requests on the connections of a listening server.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::sockets::SocketMeter;

/// The body of a request, which tells its connection if it is dropped before its end.
///
/// hyper then reads the rest, which must not be taken for the next request.
pub(super) struct RequestBody {
    incoming: Incoming,
    meter: SocketMeter,
    has_ended: bool,
}

/// The rest of a body that hyper may have in its buffer.
const SHORT_BYTES: u64 = 64 << 10;

impl RequestBody {
    pub(super) const fn new(incoming: Incoming, meter: SocketMeter) -> Self {
        Self { incoming, meter, has_ended: false }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let frame = Pin::new(&mut self.incoming).poll_frame(context);
        self.has_ended |= matches!(frame, Poll::Ready(None));
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if !self.has_ended && !self.incoming.is_end_stream() {
            let rest = self.incoming.size_hint().upper();
            self.meter.left_body(rest.is_some_and(|rest| rest <= SHORT_BYTES));
        }
    }
}
