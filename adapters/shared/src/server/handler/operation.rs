//! Operations of a context that never fail the handler: log messages and sleeps.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_lite::future::block_on;
use mcp_proto::schema::Level;
use mcp_proto::server::Command;
use mcp_proto::{Misuse, OwnedCommand, Raw};
use serde::Serialize;

use crate::box_future::BoxFuture;
use crate::exec::sole_driver::is_sole_driver;
use crate::server::handler::context::{Cx, HandlerLink as _};
use crate::trace;

/// Operations of handlers.
impl Cx {
    /// Sends a log message, unless its level is below the client's threshold.
    ///
    /// Needs [`Server::logging`](crate::Server::logging): the messages of a server that does not
    /// declare it are dropped, with a warning of `tracing` (with that feature).
    ///
    /// The message is queued immediately if it fits into the output queue. Otherwise, the operation
    /// waits for room, for at most 10 s; on a driving thread (see [`Server`](crate::Server)) that
    /// no other thread can replace, [`wait`](SendLog::wait) fails immediately instead.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::proto::schema::Level;
    /// use mcp_tokio::{Cx, HandlerError, Server};
    ///
    /// fn now(cx: Cx) -> Result<&'static str, HandlerError> {
    ///     cx.log(Level::Info, "tells the time").wait()?;
    ///     Ok("noon")
    /// }
    ///
    /// async fn later(cx: Cx) -> Result<&'static str, HandlerError> {
    ///     cx.log(Level::Info, "tells the time").await?;
    ///     Ok("afternoon")
    /// }
    ///
    /// let server = Server::new("clock", "1.0.0")
    ///     .logging()
    ///     .tool("now", "Tells the time", now)
    ///     .tool("later", "Tells a later time", later);
    /// # drop(server);
    /// ```
    ///
    /// # Errors
    /// The operation fails with
    /// - [`Misuse::Stale`] if the request was cancelled;
    /// - [`Misuse::Blocked`] if the output queue is still full;
    /// - [`Misuse::Unencodable`] if `data` cannot be serialized as JSON.
    pub fn log<T: Serialize + ?Sized>(&self, level: Level, data: &T) -> SendLog {
        let data = match Raw::new(data) {
            Ok(data) => data,
            Err(error) => return SendLog::done(Err(error.into())),
        };
        // PRG-14: tasks have no log messages.
        if self.request.task.is_some() {
            return SendLog::done(Ok(()));
        }
        let incoming = Some(self.request.incoming);
        let log = Command::Log { incoming, level, logger: None, data: &data };
        match self.request.link.apply(log) {
            // The declaration is missing in every call, so this is no reason for one to fail.
            Err(Misuse::Undeclared) => {
                trace::undeclared_logging();
                SendLog::done(Ok(()))
            }
            Err(Misuse::Blocked) => {
                let log = OwnedCommand::Log { incoming, level, logger: None, data };
                SendLog::blocked(self, log)
            }
            sent => SendLog::done(sent),
        }
    }

    /// Sleeps for `duration`, on any runtime.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use std::time::Duration;
    ///
    /// use mcp_tokio::{Cx, Server};
    ///
    /// fn nap(cx: Cx) -> &'static str {
    ///     let is_cancelled = cx.sleep(Duration::from_millis(10)).wait();
    ///     if is_cancelled { "cancelled" } else { "awake" }
    /// }
    ///
    /// async fn doze(cx: Cx) -> &'static str {
    ///     cx.sleep(Duration::from_millis(10)).await;
    ///     "awake"
    /// }
    ///
    /// let server =
    ///     Server::new("bed", "1.0.0").tool("nap", "Naps", nap).tool("doze", "Dozes", doze);
    /// # drop(server);
    /// ```
    pub fn sleep(&self, duration: Duration) -> Sleep<'_> {
        Sleep::new(self, duration)
    }
}

/// How long a log message waits for room in the output queue.
const LOG_PATIENCE: Duration = Duration::from_secs(10);

/// A log message that may still wait for room in the output queue; see [`Cx::log`].
///
/// If the output queue had room, the message was sent when [`Cx::log`] returned. Otherwise, await
/// this value or call [`wait`](Self::wait); dropping it discards the message.
#[must_use = "a log message that finds the output queue full is sent by `.await` or `.wait()`"]
pub struct SendLog(LogState);

enum LogState {
    Done(Result<(), Misuse>),
    Blocked(Cx, OwnedCommand),
    Waiting(BoxFuture<'static, Result<(), Misuse>>),
}

impl SendLog {
    pub(super) const fn done(sent: Result<(), Misuse>) -> Self {
        Self(LogState::Done(sent))
    }

    pub(super) fn blocked(cx: &Cx, log: OwnedCommand) -> Self {
        Self(LogState::Blocked(cx.clone(), log))
    }

    /// Blocks until the message is queued, in a synchronous handler.
    ///
    /// # Errors
    /// See [`Cx::log`].
    pub fn wait(self) -> Result<(), Misuse> {
        match self.0 {
            LogState::Done(sent) => sent,
            LogState::Blocked(cx, log) => {
                // From now on the handler runs on the pool, where it may wait.
                cx.request.pace.disprove();
                let patience = if is_sole_driver() { Duration::ZERO } else { LOG_PATIENCE };
                block_on(cx.request.link.apply_within(patience, log))
            }
            LogState::Waiting(waiting) => block_on(waiting),
        }
    }
}

impl Future for SendLog {
    type Output = Result<(), Misuse>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            match &mut self.0 {
                LogState::Done(sent) => return Poll::Ready(std::mem::replace(sent, Ok(()))),
                LogState::Waiting(waiting) => return waiting.as_mut().poll(task),
                LogState::Blocked(cx, log) => {
                    let (cx, log) = (cx.clone(), log.clone());
                    self.0 = LogState::Waiting(Box::pin(async move {
                        cx.request.link.apply_within(LOG_PATIENCE, log).await
                    }));
                }
            }
        }
    }
}

opaque_debug!(SendLog);

/// A sleep; see [`Cx::sleep`].
#[derive(Debug)]
#[must_use = "a sleep does nothing unless it is awaited, or waited for with `.wait()`"]
pub struct Sleep<'a> {
    cx: &'a Cx,
    duration: Duration,
}

impl<'a> Sleep<'a> {
    pub(super) const fn new(cx: &'a Cx, duration: Duration) -> Self {
        Self { cx, duration }
    }

    /// Blocks until the time is over or the request is cancelled, in a synchronous handler; returns
    /// whether it was cancelled.
    ///
    /// On a [`ManualServer`](crate::ManualServer), whose loop a handler must not block, this method
    /// returns immediately.
    #[must_use]
    pub fn wait(self) -> bool {
        let request = &self.cx.request;
        if request.link.clock.is_manual() {
            return self.cx.is_cancelled();
        }
        request.pace.disprove();
        request.cancelled.wait_blocking(self.duration)
    }
}

impl<'a> IntoFuture for Sleep<'a> {
    type Output = ();
    type IntoFuture = BoxFuture<'a, ()>;

    /// Once the connection has ended, the future only yields to other tasks and does not sleep.
    fn into_future(self) -> BoxFuture<'a, ()> {
        let request = &self.cx.request;
        match request.task_timer() {
            // The connection may have ended.
            Some(task) => task.sleep(self.duration),
            None => request.link.sleep(self.duration),
        }
    }
}
