//! Closing servers on SIGINT, SIGTERM and SIGHUP.

pub(crate) use system::close_on_signals;

#[cfg(unix)]
mod system {
    use std::future::Future;
    use std::io;

    use async_signal::{Signal, Signals};
    use futures_lite::StreamExt as _;
    use futures_lite::future::{or, pending};
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
        let mut received = Received(Some(receive()?));
        // Each poll reads from a pipe.
        let received = poll_on_wake(async {
            if let Some(signals) = &mut received.0 {
                close_on_each(signals).await;
            }
            pending().await
        });
        Ok(or(received, future).await)
    }

    fn receive() -> io::Result<Signals> {
        Signals::new(closing_signals().into_iter().map(|closing| match closing {
            ClosingSignal::Hangup => Signal::Hup,
            ClosingSignal::Interrupt => Signal::Int,
            ClosingSignal::Terminate => Signal::Term,
        }))
    }

    async fn close_on_each(signals: &mut Signals) {
        while let Some(Ok(_)) = signals.next().await {
            close_on_received_signal();
        }
    }

    /// The signals that a server receives. Once dropped, later signals are received to the end of
    /// the process: nothing else reacts to them any more.
    struct Received(Option<Signals>);

    impl Drop for Received {
        fn drop(&mut self) {
            let Some(signals) = self.0.take() else { return };
            // Signals that have arrived were for the server and do not end the process. They may
            // not be in the old pipe yet, but never reach the new one: each signal is written to
            // the pipes that existed when its handler began.
            let mut later = receive().unwrap_or(signals);
            // Without a thread, the signals have no effect.
            drop(executor::spawn(async move { close_on_each(&mut later).await }));
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
