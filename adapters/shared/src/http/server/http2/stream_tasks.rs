//! Runs the streams of an HTTP/2 connection as tasks, and ends those whose client reads nothing.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, ready};
use std::time::Duration;

use hyper::rt::Executor;

use super::stream_body::StreamProgress;
use crate::box_future::BoxFuture;
use crate::http::dial::Dial;

/// Starts a task for each stream of a connection.
///
/// Each stream has its own task, so that a runtime with several threads handles the requests
/// of a proxy, which come over few connections, on all of them.
#[derive(Clone)]
pub(super) struct StreamTasks(Arc<SharedTasks>);

struct SharedTasks {
    runtime: Arc<dyn Dial>,
    stall_timeout: Duration,
    /// Called for each stream that has stalled.
    on_stall: Box<dyn Fn() + Send + Sync>,
    /// The progress of the request that was passed to the service and whose task starts next.
    next: Mutex<Option<Arc<StreamProgress>>>,
}

impl StreamTasks {
    pub(super) fn new(
        runtime: Arc<dyn Dial>,
        stall_timeout: Duration,
        on_stall: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let (next, on_stall) = (Mutex::default(), Box::new(on_stall));
        Self(Arc::new(SharedTasks { runtime, stall_timeout, on_stall, next }))
    }

    /// Returns the progress of a request. hyper starts its task before it accepts another request.
    pub(super) fn begin(&self) -> Arc<StreamProgress> {
        let progress = Arc::<StreamProgress>::default();
        let mut next = self.0.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = Some(Arc::clone(&progress));
        progress
    }
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for StreamTasks {
    fn execute(&self, stream: F) {
        let next = self.0.next.lock().unwrap_or_else(PoisonError::into_inner).take();
        let progress = next.unwrap_or_default();
        let shared = Arc::clone(&self.0);
        // Boxed here: captured by the task, it would occupy its space twice.
        let mut stream = Box::pin(stream);
        let task: BoxFuture<'static, ()> = Box::pin(async move {
            let mut timer: Option<(usize, BoxFuture<'static, ()>)> = None;
            poll_fn(|context| {
                if stream.as_mut().poll(context).is_ready() {
                    return Poll::Ready(());
                }
                let Some(piece) = progress.waiting() else {
                    timer = None;
                    return Poll::Pending;
                };
                timer.take_if(|(timed, _)| *timed != piece);
                let (_, sleep) = timer
                    .get_or_insert_with(|| (piece, shared.runtime.sleep(shared.stall_timeout)));
                ready!(sleep.as_mut().poll(context));
                // Dropped, the stream is reset.
                (shared.on_stall)();
                Poll::Ready(())
            })
            .await;
        });
        // A stream without a task is dropped, which resets it.
        let _started = self.0.runtime.spawn(task);
    }
}
