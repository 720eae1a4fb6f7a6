//! Opens lost connections and the streams of subscriptions again, in the background.

use std::sync::Arc;

use mcp_proto::CloseReason;
use mcp_proto::client::Client as Machine;

use crate::client::connector::{Connector, Opened};
use crate::client::feed::Feed;
use crate::client::recovery::link_slot::{LinkSlot, Phase};
use crate::client::recovery::state::ConnectionState;
use crate::client::recovery::{Retry, is_recoverable};
use crate::error::Error;
use crate::transport::link::Link;

/// A recovery. Dropping it before a link was found ends the connection: the runtime is shutting
/// down, or the application has closed the connection.
struct Recovering {
    slot: Arc<LinkSlot>,
    lost: Arc<Link<Machine>>,
}

impl Drop for Recovering {
    fn drop(&mut self) {
        if self.slot.give_up(&self.lost) {
            self.slot.lose_feeds();
        }
    }
}

impl LinkSlot {
    /// Starts a task that opens another link.
    pub(super) fn start_recovery(self: &Arc<Self>, lost: &Arc<Link<Machine>>, why: &CloseReason) {
        let Some(connector) = self.connector().cloned() else { return };
        let recovering = Recovering { slot: Arc::clone(self), lost: Arc::clone(lost) };
        let (closed, why) = (Arc::clone(&self.closed), why.clone());
        let runtime = connector.target.runtime();
        let task = async move {
            let Recovering { slot, lost } = &recovering;
            let _closed = closed.run_until_set(slot.reopen(&connector, lost, why)).await;
        };
        // A runtime that takes no tasks is shutting down; dropping the task ends the connection.
        let _shutting_down = runtime.spawn(Box::pin(task));
    }

    async fn reopen(
        self: &Arc<Self>,
        connector: &Arc<Connector>,
        lost: &Arc<Link<Machine>>,
        why: CloseReason,
    ) {
        lost.wait_ended().await;
        let mut error = Error::Closed(why);
        while let Some(Retry { attempt, delay }) = self.next_retry(&connector.connection.recovery) {
            self.report(lost, ConnectionState::Retrying { attempt, delay });
            connector.target.runtime().sleep(delay).await;
            match connector.reopen(lost).await {
                Ok(opened) => return self.adopt(connector, opened).await,
                Err(failed) => error = failed,
            }
            if matches!(&error, Error::Start { why, .. } if !is_recoverable(why)) {
                break;
            }
        }
        if self.give_up(lost) {
            self.lose_feeds();
            self.report(lost, ConnectionState::GaveUp { error });
        }
    }

    /// Continues with an opened link, and resumes the subscriptions on it.
    async fn adopt(self: &Arc<Self>, connector: &Arc<Connector>, (link, child): Opened) {
        let mut replaced = None;
        self.current.change(|current| {
            let before = std::mem::replace(&mut current.link, Arc::clone(&link));
            replaced = Some((before, std::mem::replace(&mut current.child, child)));
            current.phase = Phase::Open;
        });
        drop(replaced);
        self.attach(&link);
        // The application may have closed the link before.
        if self.closed.is_set() {
            self.close();
        }
        for feed in connector.feeds() {
            feed.continue_on(&link).await;
        }
    }

    /// Marks the connection as ended, if it still recovers from the loss of this link. Returns
    /// whether it did.
    fn give_up(&self, lost: &Arc<Link<Machine>>) -> bool {
        let mut gives_up = false;
        self.current.change(|current| {
            gives_up = current.phase == Phase::Recovering && Arc::ptr_eq(&current.link, lost);
            if gives_up {
                current.phase = Phase::Over;
            }
        });
        gives_up
    }

    /// Starts a subscription again that has ended while the connection is open. Returns whether
    /// that is tried.
    // STL-38: the server does not replay changes.
    pub(super) fn start_stream_again(self: &Arc<Self>, feed: &Arc<Feed>) -> bool {
        let Some(connector) = self.connector().cloned() else { return false };
        let retry = feed.next_retry(&connector.connection.recovery, self.clock.now());
        let Some(Retry { delay, .. }) = retry else { return false };
        let (slot, mut waiting) = (Arc::clone(self), LoseOnDrop(Some(Arc::clone(feed))));
        let closed = Arc::clone(&self.closed);
        let runtime = connector.target.runtime();
        let task = async move {
            let resumed = async {
                connector.target.runtime().sleep(delay).await;
                if let Some(feed) = &waiting.0 {
                    feed.continue_on(&slot.link()).await;
                }
                // If the link is lost, the feed waits for the next one.
                waiting.0 = None;
            };
            let _closed = closed.run_until_set(resumed).await;
        };
        runtime.spawn(Box::pin(task)).is_ok()
    }
}

/// A subscription that ends as lost unless it was started again.
struct LoseOnDrop(Option<Arc<Feed>>);

impl Drop for LoseOnDrop {
    fn drop(&mut self) {
        if let Some(feed) = &self.0 {
            feed.lost();
        }
    }
}
