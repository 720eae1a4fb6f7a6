//! The body of a response on an HTTP/2 stream, in pieces that can be given up.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::http::server::body::ResponseBody;

/// The progress of a response. Even: the body has nothing to send. Odd: its latest piece waits
/// until the client has room for it.
#[derive(Debug, Default)]
pub(super) struct StreamProgress(AtomicUsize);

impl StreamProgress {
    /// Returns the number of the piece that waits for the client, if one does.
    pub(super) fn waiting(&self) -> Option<usize> {
        Some(self.0.load(Relaxed)).filter(|count| count % 2 == 1)
    }

    fn set_waiting(&self) {
        self.0.store((self.0.load(Relaxed) | 1).wrapping_add(2), Relaxed);
    }

    fn set_ready(&self) {
        self.0.fetch_and(!1, Relaxed);
    }
}

/// A response body that is sent in pieces of at most [`PIECE_BYTES`], and at the end of at most
/// [`LAST_PIECE_BYTES`].
///
/// hyper passes a piece on as soon as the client accepts one byte. What is passed on last stays in
/// memory until the client accepts all of it, and nothing can time that.
pub(super) struct StreamBody {
    body: ResponseBody,
    rest: Bytes,
    progress: Arc<StreamProgress>,
}

/// The most that is passed on before the client has accepted it.
const PIECE_BYTES: usize = 16 << 10;

/// The most that is passed on at the end of a response.
pub(super) const LAST_PIECE_BYTES: usize = 1 << 10;

impl StreamBody {
    pub(super) const fn new(body: ResponseBody, progress: Arc<StreamProgress>) -> Self {
        Self { body, rest: Bytes::new(), progress }
    }

    fn next_piece(&mut self) -> Bytes {
        let count = match self.rest.len() {
            all @ ..=LAST_PIECE_BYTES => all,
            more => (more - LAST_PIECE_BYTES).min(PIECE_BYTES),
        };
        self.rest.split_to(count)
    }
}

impl Body for StreamBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            self.progress.set_ready();
            match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                ended => return ended,
            }
        }
        self.progress.set_waiting();
        let piece = self.next_piece();
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        let rest = self.rest.len() as u64;
        match hint.exact() {
            Some(length) => hint.set_exact(length + rest),
            None => hint.set_lower(hint.lower() + rest),
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use futures_lite::future::{block_on, poll_fn};

    use super::*;

    #[test]
    fn a_body_is_split_and_ends_with_a_short_piece() {
        for (length, pieces) in [
            (1, vec![1]),
            (LAST_PIECE_BYTES, vec![LAST_PIECE_BYTES]),
            (LAST_PIECE_BYTES + 1, vec![1, LAST_PIECE_BYTES]),
            (20 << 10, vec![PIECE_BYTES, 3 << 10, LAST_PIECE_BYTES]),
        ] {
            let progress = Arc::<StreamProgress>::default();
            let whole = ResponseBody::whole(Bytes::from(vec![7; length]));
            let mut body = StreamBody::new(whole, Arc::clone(&progress));
            let mut seen = Vec::new();
            let mut numbers = Vec::new();
            while !body.is_end_stream() {
                let left = length - seen.iter().sum::<usize>();
                assert_eq!(body.size_hint().exact(), Some(left as u64));
                let frame = block_on(poll_fn(|context| Pin::new(&mut body).poll_frame(context)));
                seen.push(frame.unwrap().unwrap().into_data().unwrap().len());
                numbers.push(progress.waiting().expect("a piece waits"));
            }
            assert_eq!(seen, pieces);
            assert!(numbers.windows(2).all(|pair| pair[0] != pair[1]), "{numbers:?}");
            let end = block_on(poll_fn(|context| Pin::new(&mut body).poll_frame(context)));
            assert!(end.is_none() && progress.waiting().is_none());
        }
    }
}
