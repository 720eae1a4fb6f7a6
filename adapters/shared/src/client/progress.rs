//! The progress of a call as a stream.

use std::pin::Pin;
use std::task::{Context, Poll};

use event_listener::EventListener;
use futures_lite::Stream;
use mcp_proto::Progress;

use crate::client::call::Pending;
use crate::client::in_flight::CallSlot;

impl<T> Pending<T> {
    /// Returns the progress of the call as a `Stream` of `futures-core`, which ends with the call.
    ///
    /// Like [`next_progress`](Self::next_progress), this is empty unless the call was configured
    /// with [`Call::progress`](crate::Call::progress).
    pub fn progress_updates(&mut self) -> ProgressUpdates<'_> {
        ProgressUpdates { slot: self.in_flight.slot(), waiting: None }
    }
}

/// The progress of a call in flight, as a `Stream` of `futures-core`.
///
/// Created by [`Pending::progress_updates`](crate::Pending::progress_updates). The stream ends when
/// the call does. Dropping it neither loses progress nor cancels the call.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::{Connection, Error};
/// use futures_lite::StreamExt;
///
/// async fn report(connection: &Connection) -> Result<(), Error> {
///     let call = connection.call_tool("report", &serde_json::json!({})).progress(|_| {});
///     let mut report = call.start().await?;
///     let mut updates = report.progress_updates();
///     while let Some(update) = updates.next().await {
///         println!("{}", update.progress);
///     }
///     report.await.map(drop)
/// }
/// ```
#[must_use = "a stream does nothing unless it is polled"]
pub struct ProgressUpdates<'p> {
    slot: &'p CallSlot,
    waiting: Option<EventListener>,
}

impl Stream for ProgressUpdates<'_> {
    type Item = Progress;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Progress>> {
        let Self { slot, waiting } = self.get_mut();
        slot.poll_progress(context, waiting)
    }
}

opaque_debug!(ProgressUpdates<'_>);
