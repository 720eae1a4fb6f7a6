//! Closing servers on SIGINT, SIGTERM and SIGHUP.

pub(crate) use system::close_on_signals;

#[cfg(unix)]
mod system {
    use std::future::Future;
    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use async_signal::{Signal, Signals};
    use futures_lite::future::{or, pending};
    use futures_lite::{Stream as _, StreamExt as _};
    use mcp_adapter::{
        ClosingSignal, Serving, close_on_received_signal, closing_signals, poll_on_wake,
    };

    use crate::executor;

    /// Runs `future`, and closes the server on signals, which async-io receives.
    ///
    /// The task that serves receives them itself, so that no thread is needed for it.
    pub(crate) async fn close_on_signals<T>(
        serving: &Serving,
        future: impl Future<Output = T>,
    ) -> io::Result<T> {
        serving.close_on_signal();
        let signals = Signals::new(closing_signals().into_iter().map(|closing| match closing {
            ClosingSignal::Hangup => Signal::Hup,
            ClosingSignal::Interrupt => Signal::Int,
            ClosingSignal::Terminate => Signal::Term,
        }))?;
        let mut received = Received(Some(signals));
        // Each poll reads from a pipe.
        let received = poll_on_wake(async {
            if let Some(signals) = &mut received.0 {
                close_on_each(signals).await;
            }
            pending().await
        });
        Ok(or(received, future).await)
    }

    async fn close_on_each(signals: &mut Signals) {
        while let Some(Ok(_)) = signals.next().await {
            close_on_received_signal();
        }
    }

    /// Signals that are received to the end of the process: nothing else reacts to them any more.
    struct Received(Option<Signals>);

    impl Drop for Received {
        fn drop(&mut self) {
            let Some(mut signals) = self.0.take() else { return };
            // The server is still there: a signal that has already arrived does not end the
            // process.
            let mut context = Context::from_waker(Waker::noop());
            while let Poll::Ready(Some(Ok(_))) = Pin::new(&mut signals).poll_next(&mut context) {
                close_on_received_signal();
            }
            // Without a thread, the signals have no effect.
            drop(executor::spawn(async move { close_on_each(&mut signals).await }));
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::future::Future;
    use std::io;

    use mcp_adapter::Serving;

    /// Runs `future`, and closes the server with the console, the session or the system.
    pub(crate) async fn close_on_signals<T>(
        serving: &Serving,
        future: impl Future<Output = T>,
    ) -> io::Result<T> {
        serving.close_with_process();
        Ok(future.await)
    }
}
