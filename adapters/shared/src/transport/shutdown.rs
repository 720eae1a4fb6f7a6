//! What becomes of a connection whose session is closed: what is left is sent, and a child is
//! ended, step by step; knows nothing of what is read and written, nor by whom.

use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::{or, race};
use mcp_proto::Limits;
use mcp_proto::stdio::{Ending, Shutdown};

use crate::process::child::Child;
use crate::process::pipe_size::Wide;
use crate::transport::link::{Link, Role};

/// A connection in the hands of its driver. Dropping it, which is what a runtime does that shuts
/// down, ends the connection at once, and its child with it.
#[derive(Debug)]
pub struct Driving<R: Role> {
    link: Arc<Link<R>>,
    child: Option<Arc<Child>>,
    limits: Limits,
    wide: Wide,
}

impl<R: Role> Driving<R> {
    pub(crate) fn new(link: Arc<Link<R>>, child: Option<Arc<Child>>, limits: Limits) -> Self {
        Self { link, child, limits, wide: Wide::default() }
    }

    /// The same, of a connection over this process's stdin and stdout.
    #[must_use]
    pub fn over_standard_streams(mut self) -> Self {
        self.wide = Wide::standard();
        self
    }

    /// Whom to tell how much there was to be read and written.
    #[must_use]
    pub const fn wide(&self) -> Wide {
        self.wide
    }

    /// The connection.
    #[must_use]
    pub const fn link(&self) -> &Arc<Link<R>> {
        &self.link
    }

    /// Whether what follows is to be read to its end once the session is closed: a child that still
    /// has something to say while it ends must not find nobody listening. Whose stream it is
    /// otherwise may go on for ever.
    #[must_use]
    pub const fn reads_on(&self) -> bool {
        self.child.is_some()
    }

    /// Waits until nothing is left for a driver to do. The time has to be kept meanwhile.
    pub async fn ended(&self) {
        match &self.child {
            None => {
                self.link.drained().await;
                self.link.handed_out().await;
            }
            Some(child) => {
                or(self.link.closed(), self.exited(child)).await;
                self.end(child).await;
                // Its last words say why it ended.
                race(child.silent(), self.link.sleep_until(self.link.clock.now() + LAST_WORDS))
                    .await;
                self.link.handed_out().await;
            }
        }
    }

    /// Its output may be held open by others; the connection ends all the same.
    async fn exited(&self, child: &Child) {
        child.exited().await;
        self.link.end_within(R::LAST_INPUT).await;
    }

    /// Ends a child whose session is closed, step by step. (FRM-19)
    async fn end(&self, child: &Child) {
        let mut shutdown = Shutdown::new(self.link.clock.now(), &self.limits);
        loop {
            match shutdown.poll_step() {
                // The writer closes the child's stdin itself once all is sent.
                Some(Ending::CloseInput) | None => {}
                Some(Ending::Terminate) => child.terminate(),
                Some(Ending::Kill) => child.kill(),
            }
            let step = shutdown.poll_timeout();
            let give_up = step.unwrap_or_else(|| self.link.clock.now() + AFTER_KILL);
            let exited = async {
                child.exited().await;
                true
            };
            let gave_up = async {
                self.link.sleep_until(give_up).await;
                false
            };
            if or(exited, gave_up).await || step.is_none() {
                return;
            }
            shutdown.handle_timeout(self.link.clock.now());
        }
    }
}

impl<R: Role> Drop for Driving<R> {
    fn drop(&mut self) {
        if let Some(child) = &self.child {
            child.kill();
        }
        self.link.over();
    }
}

/// How long the system may take to end a killed process.
const AFTER_KILL: Duration = Duration::from_secs(2);

/// How long the last lines on stderr of a child that exited may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(200);
