//! Closing servers on SIGINT, SIGTERM and SIGHUP.

use std::io;

use mcp_adapter::Serving;

#[cfg(unix)]
use crate::executor;

/// Lets signals close a server, received by async-io.
#[cfg(unix)]
pub(crate) fn close_on_signals(serving: &Serving) -> io::Result<()> {
    use async_signal::{Signal, Signals};
    use futures_lite::StreamExt as _;
    use mcp_adapter::{ClosingSignal, close_on_received_signal, closing_signals};

    serving.close_on_signal();
    let mut received = Signals::new(closing_signals().into_iter().map(|closing| match closing {
        ClosingSignal::Hangup => Signal::Hup,
        ClosingSignal::Interrupt => Signal::Int,
        ClosingSignal::Terminate => Signal::Term,
    }))?;
    // Not ended with the server: nothing else would react to the signal from then on.
    executor::spawn(async move {
        while let Some(Ok(_)) = received.next().await {
            close_on_received_signal();
        }
    })
}

#[cfg(not(unix))]
pub(crate) fn close_on_signals(serving: &Serving) -> io::Result<()> {
    serving.close_with_process();
    Ok(())
}
