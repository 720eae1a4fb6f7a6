//! Tests of exchanges on threads: pieces of bodies, aborts, panics and the limit.

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Receiver, Sender, channel};

use futures_lite::future::{poll_fn, poll_once};

use super::*;

fn request() -> Request<Bytes> {
    Request::new(Bytes::new())
}

async fn next(body: &mut ReceivedBody) -> Option<Bytes> {
    let frame = poll_fn(|context| body.poll_frame(context)).await?;
    Some(frame.unwrap().into_data().unwrap())
}

/// A reader of pieces that the test sends; reports when it is dropped.
struct Pieces(Receiver<Vec<u8>>, Sender<()>);

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Ok(piece) = self.0.recv() else { return Ok(0) };
        buffer[..piece.len()].copy_from_slice(&piece);
        Ok(piece.len())
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        let _gone = self.1.send(());
    }
}

/// Returns a client of one response, the pieces of its body, and when the reader is dropped.
fn client() -> (BlockingClient, Sender<Vec<u8>>, Receiver<()>) {
    let (pieces, body) = channel();
    let (ends, ended) = channel();
    let body = Mutex::new(Some(Pieces(body, ends)));
    let client =
        BlockingClient::new(move |_| Ok(Response::new(body.lock().unwrap().take().unwrap())));
    (client, pieces, ended)
}

#[test]
fn a_body_streams_in_pieces() {
    let (client, pieces, ended) = client();
    let mut body = block_on(client.send(request())).unwrap().into_body();
    assert!(block_on(poll_once(next(&mut body))).is_none());
    for piece in [b"one", b"two"] {
        pieces.send(piece.to_vec()).unwrap();
        assert_eq!(block_on(next(&mut body)).unwrap(), &piece[..]);
    }
    drop(pieces);
    assert_eq!((block_on(next(&mut body)), block_on(next(&mut body))), (None, None));
    ended.recv().unwrap();
}

#[test]
fn a_dropped_body_ends_its_thread() {
    let (client, pieces, ended) = client();
    let body = block_on(client.send(request())).unwrap().into_body();
    drop(body);
    // The thread may be within a read.
    let _gone = pieces.send(b"late".to_vec());
    ended.recv().unwrap();
}

/// Counts its reads.
struct Endless(Arc<AtomicUsize>);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(buffer.len())
    }
}

#[test]
fn reading_waits_for_the_adapter() {
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reads);
    let client = BlockingClient::new(move |_| Ok(Response::new(Endless(Arc::clone(&counted)))));
    let mut body = block_on(client.send(request())).unwrap().into_body();
    for taken in 1..=50 {
        assert_eq!(block_on(next(&mut body)).unwrap().len(), CHUNK_BYTES);
        // One piece waits in the buffer, and another one to get into it.
        assert!(reads.load(Ordering::SeqCst) <= taken + 2);
    }
}

#[test]
fn panics_and_broken_bodies_are_errors() {
    let client =
        BlockingClient::new(|_| -> Result<Response<io::Empty>, SendError> { panic!("on purpose") });
    assert!(!block_on(client.send(request())).unwrap_err().is_unsent());

    struct Broken(bool);
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            assert!(!self.0, "on purpose");
            Err(io::Error::other("broken"))
        }
    }
    for panics in [false, true] {
        let client = BlockingClient::new(move |_| Ok(Response::new(Broken(panics))));
        let mut body = block_on(client.send(request())).unwrap().into_body();
        let frame = block_on(poll_fn(|context| body.poll_frame(context)));
        frame.unwrap().unwrap_err();
    }
}

#[test]
fn requests_beyond_the_maximum_wait_and_are_withdrawn() {
    let begun = Arc::new(AtomicUsize::new(0));
    let (release, released) = channel::<()>();
    let (counted, released) = (Arc::clone(&begun), Mutex::new(released));
    let (says, started) = channel();
    let client = BlockingClient::new(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        says.send(()).unwrap();
        released.lock().unwrap().recv().unwrap();
        Ok(Response::new(io::empty()))
    });
    let client = client.threads_max(1);
    let mut first = client.send(request());
    started.recv().unwrap();
    drop(client.send(request()));
    let mut third = client.send(request());
    assert!(block_on(poll_once(&mut first)).is_none());
    assert!(block_on(poll_once(&mut third)).is_none());
    assert_eq!(begun.load(Ordering::SeqCst), 1);
    release.send(()).unwrap();
    let mut body = block_on(first).unwrap().into_body();
    assert_eq!(block_on(next(&mut body)), None);
    release.send(()).unwrap();
    block_on(third).unwrap();
    assert_eq!(begun.load(Ordering::SeqCst), 2, "the second was withdrawn");
}
