//! Closing servers on SIGINT, SIGTERM and SIGHUP.

use std::io;

use mcp_adapter::Serving;

/// Lets signals close a server, received by the runtime.
#[cfg(unix)]
pub(crate) fn close_on_signals(serving: &Serving) -> io::Result<()> {
    use mcp_adapter::{ClosingSignal, close_on_received_signal, closing_signals};
    use tokio::signal::unix::{SignalKind, signal};

    serving.close_on_signal();
    for closing in closing_signals() {
        let mut received = signal(match closing {
            ClosingSignal::Hangup => SignalKind::hangup(),
            ClosingSignal::Interrupt => SignalKind::interrupt(),
            ClosingSignal::Terminate => SignalKind::terminate(),
        })?;
        // Not ended with the server: nothing else would react to the signal from then on.
        let _detached = tokio::spawn(async move {
            while received.recv().await.is_some() {
                close_on_received_signal();
            }
        });
    }
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn close_on_signals(serving: &Serving) -> io::Result<()> {
    serving.close_with_process();
    Ok(())
}
