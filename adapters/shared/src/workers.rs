//! Where handlers run: plain functions on a bounded pool of threads, futures on the runtime; knows nothing of what they
//! do.

use std::future::Future;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_lite::FutureExt as _;
use futures_lite::future::block_on;
use mcp_proto::IncomingId;

use crate::BoxFuture;
use crate::pool::Pool;

/// Runs futures in the background.
pub trait Spawn: Send + Sync + 'static {
    /// Runs a future to its end, unless the runtime ends before.
    ///
    /// # Errors
    /// When it cannot be run.
    fn spawn(&self, future: BoxFuture<'static, ()>) -> io::Result<()>;

    /// Whether handlers that are futures are to run on the threads of plain functions, each until its end.
    fn is_plain(&self) -> bool {
        false
    }
}

/// Threads for plain functions, shared by all connections of one server or client.
pub(crate) type Threads = Arc<Pool<(u64, IncomingId)>>;

pub(crate) fn threads(threads_max: usize) -> Threads {
    Arc::new(Pool::new(threads_max))
}

/// The handlers of one connection.
pub(crate) struct Workers {
    threads: Threads,
    /// Tells this connection from others that use the same threads.
    connection: u64,
    runtime: Arc<dyn Spawn>,
}

impl Workers {
    pub(crate) fn new(threads: Threads, runtime: Arc<dyn Spawn>) -> Self {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
        Self { threads, connection: CONNECTIONS.fetch_add(1, Ordering::Relaxed), runtime }
    }

    /// Runs a plain function, soon.
    pub(crate) fn run(&self, incoming: IncomingId, job: impl FnOnce() + Send + 'static) {
        self.threads.run((self.connection, incoming), job);
    }

    /// Runs a future.
    pub(crate) fn spawn(&self, incoming: IncomingId, future: impl Future<Output = ()> + Send + 'static) {
        if self.runtime.is_plain() {
            return self.run(incoming, move || block_on(future));
        }
        // A runtime that takes no more futures is ending, and the connection with it.
        let _ending = self.runtime.spawn(Box::pin(future));
    }

    /// Forgets a plain function that has not begun.
    pub(crate) fn withdraw(&self, incoming: IncomingId) {
        self.threads.withdraw(&(self.connection, incoming));
    }
}

/// What a future gives; `None` when it panics. What the panic says is not for the peer.
pub(crate) async fn unpanicked<T>(future: impl Future<Output = T>) -> Option<T> {
    AssertUnwindSafe(future).catch_unwind().await.ok()
}
