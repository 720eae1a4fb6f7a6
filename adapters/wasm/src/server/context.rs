//! The context of a handler: the caller, progress, logging, cancellation, input and state.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;
use std::time::Duration;

use mcp_proto::schema::{Decode, Level};
use mcp_proto::{
    Context, ErrorObject, IncomingId, Misuse, NeededInput, Peer, Principal, Progress, Raw, Request,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::link::ServerLink;
use crate::server::error::{Cause, HandlerError};
use crate::server::rounds::Rounds;

/// The context of one request, for a handler that is a plain function.
///
/// Cheap to clone. No method waits: there is only one thread, and it must return to its host.
///
/// ```
/// use mcp_wasm::proto::{Progress, Raw};
/// use mcp_wasm::{Cx, HandlerError};
///
/// fn count(_arguments: Raw, cx: Cx) -> Result<&'static str, HandlerError> {
///     cx.progress(Progress::new(1.0).with_total(2.0))?;
///     Ok("done")
/// }
/// # let _handler: fn(Raw, Cx) -> _ = count;
/// ```
#[derive(Clone)]
pub struct Cx {
    request: Rc<RequestState>,
}

/// A request that is being handled.
pub(crate) struct RequestState {
    pub(crate) link: Rc<dyn ServerLink>,
    pub(crate) incoming: IncomingId,
    pub(crate) request: Request,
    pub(crate) context: Context,
    pub(crate) rounds: RefCell<Rounds>,
    pub(crate) is_cancelled: Cell<bool>,
}

impl Cx {
    pub(crate) const fn new(request: Rc<RequestState>) -> Self {
        Self { request }
    }

    /// Returns the client's description of itself, and the request's protocol revision.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.request.context.peer
    }

    /// Returns the protocol context of the request, such as its client, `_meta` and log level.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.request.context
    }

    /// Returns the authenticated sender of the request; `None` if it is not authenticated.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.request.context.principal()
    }

    /// Sends a progress notification if the client requested progress.
    ///
    /// The progress value must increase with each notification.
    ///
    /// # Errors
    /// Fails with [`Misuse::Stale`] if the request was cancelled. Fails with
    /// [`Misuse::Unencodable`] if the progress value is not greater than the previous one in this
    /// run of the handler.
    pub fn progress(&self, progress: Progress) -> Result<(), Misuse> {
        let mut sent = Ok(());
        self.request.link.command(&mut |server, now| {
            sent = server.progress(now, self.request.incoming, &progress);
        });
        sent
    }

    /// Sends a log message, unless its level is below the client's threshold.
    ///
    /// Needs [`Server::logging`](crate::Server::logging): the messages of a server that does not
    /// declare it are dropped.
    ///
    /// # Errors
    /// Fails with
    /// - [`Misuse::Stale`] if the request was cancelled;
    /// - [`Misuse::Blocked`] if the output queue is full;
    /// - [`Misuse::Unencodable`] if `data` cannot be serialized as JSON.
    pub fn log<T: Serialize + ?Sized>(&self, level: Level, data: &T) -> Result<(), Misuse> {
        self.log_raw(level, &Raw::new(data)?)
    }

    fn log_raw(&self, level: Level, data: &Raw) -> Result<(), Misuse> {
        let mut sent = Ok(());
        self.request.link.command(&mut |server, now| {
            sent = server.log(now, Some(self.request.incoming), level, None, data);
        });
        match sent {
            Err(Misuse::Undeclared) => Ok(()),
            sent => sent,
        }
    }

    /// Returns whether the request was cancelled, by the client or by the end of the connection.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.request.is_cancelled.get()
    }

    /// Closes the HTTP response stream of this request but leaves the request open.
    ///
    /// The client reconnects after the retry delay to receive the response. Has no effect where
    /// clients cannot reconnect: over a byte stream, and in revisions other than 2025-11-25.
    ///
    /// # Errors
    /// Fails with [`Misuse::Stale`] if the request was cancelled.
    pub fn end_stream(&self) -> Result<(), Misuse> {
        let mut ended = Ok(());
        self.request.link.command(&mut |server, now| {
            ended = server.end_stream(now, self.request.incoming);
        });
        ended
    }

    /// Returns the client's answer to an input request, such as an elicitation.
    ///
    /// On the handler's first run, there is no answer yet: this method returns an error, which the
    /// handler must return with `?`. The client then receives the input request. Once the client
    /// has answered, the handler runs again from the start, and this method returns the answer. A
    /// handler must therefore have no side effects before its last question.
    ///
    /// # Errors
    /// Fails if the request has not been answered yet; propagate this error with `?`. Fails with
    /// `-32602` if the answer cannot be decoded as `T`.
    pub fn ask_any<T: Decode>(&self, key: &str, question: NeededInput) -> Result<T, HandlerError> {
        self.ask_all([(key, question)])?;
        self.answer(key)
    }

    /// Sends several input requests in one round; see [`ask_any`](Self::ask_any).
    ///
    /// Each request has a key. Once this method has returned `Ok`, [`answer`](Self::answer) returns
    /// the answer for each key. Requests that were answered in an earlier round are not sent again.
    ///
    /// # Errors
    /// Fails if any of the requests has not been answered yet; propagate this error with `?`. Fails
    /// with `-32603` if this run of the handler has already asked with one of the keys.
    pub fn ask_all<'a>(
        &self,
        questions: impl IntoIterator<Item = (&'a str, NeededInput)>,
    ) -> Result<(), HandlerError> {
        let mut open = Vec::new();
        for (key, question) in questions {
            let mut rounds = self.request.rounds.borrow_mut();
            if rounds.asked.iter().any(|asked| asked == key) {
                let why = format!(
                    "the handler asks twice with the key `{key}`: give each question a key of its \
                     own"
                );
                return Err(HandlerError::refused(ErrorObject::internal(why)));
            }
            rounds.asked.push(key.to_owned());
            if rounds.find(key).is_none() {
                open.push((key.to_owned(), question));
            }
        }
        if open.is_empty() { Ok(()) } else { Err(HandlerError(Cause::InputRequired(open))) }
    }

    /// Returns the client's answer to the input request with this key.
    ///
    /// # Errors
    /// Fails with `-32602` if there is no answer, or if it cannot be decoded as `T`.
    pub fn answer<T: Decode>(&self, key: &str) -> Result<T, HandlerError> {
        let invalid = |why: &dyn fmt::Display| {
            let message = format!("invalid answer to `{key}`: {why}");
            HandlerError::refused(ErrorObject::invalid_params(message))
        };
        let answer = self.request.rounds.borrow().find(key).cloned();
        T::decode(&answer.ok_or_else(|| invalid(&"missing"))?).map_err(|error| invalid(&error))
    }

    /// Returns an error that requests another run of the handler, without asking for input.
    ///
    /// Before returning this error, store the data for the next run with
    /// [`set_state`](Self::set_state).
    #[must_use]
    pub fn repeat(&self) -> HandlerError {
        HandlerError(Cause::InputRequired(Vec::new()))
    }

    /// Returns the state that an earlier run of the handler stored for this request.
    ///
    /// Returns `None` on the first run, or if no state was stored. In the modern era (from revision
    /// 2026-07-28), the client keeps the state and returns it. Without the feature `seal`, the
    /// client can forge it.
    ///
    /// # Errors
    /// Fails with `-32602` if the state cannot be deserialized as `T`.
    pub fn state<T: DeserializeOwned>(&self) -> Result<Option<T>, HandlerError> {
        let state = self.request.rounds.borrow().state.clone();
        state.map(|state| state.parse()).transpose().map_err(|error| {
            let message = format!("invalid request state: {error}");
            HandlerError::refused(ErrorObject::invalid_params(message))
        })
    }

    /// Stores `state` for the handler's next run for this request.
    ///
    /// There is a next run if this run ends with a request for input or with
    /// [`repeat`](Self::repeat). Otherwise, the state is dropped. Together with all answers, it
    /// must not exceed 64 KiB.
    ///
    /// # Errors
    /// Fails with [`Misuse::Unencodable`] if `state` cannot be serialized as JSON.
    pub fn set_state<T: Serialize + ?Sized>(&self, state: &T) -> Result<(), Misuse> {
        let state = Raw::new(state)?;
        self.request.rounds.borrow_mut().state = Some(state);
        Ok(())
    }
}

impl fmt::Debug for Cx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cx").field("request", &self.request.incoming).finish_non_exhaustive()
    }
}

/// The context of one request, for a handler that is a future.
///
/// Dereferences to [`Cx`] and adds the methods that wait.
///
/// ```
/// use std::time::Duration;
///
/// use mcp_wasm::proto::Raw;
/// use mcp_wasm::{AsyncCx, HandlerError};
///
/// async fn slowly(_arguments: Raw, cx: AsyncCx) -> Result<&'static str, HandlerError> {
///     cx.sleep(Duration::from_secs(1)).await;
///     Ok("done")
/// }
/// # let _handler = slowly;
/// ```
#[derive(Clone, Debug)]
pub struct AsyncCx(pub(crate) Cx);

/// How long a log message waits for room.
const LOG_PATIENCE: Duration = Duration::from_secs(10);

/// How often a log message looks for room.
const LOG_PERIOD: Duration = Duration::from_millis(10);

impl AsyncCx {
    /// Waits for `duration`, with a timer of the host.
    ///
    /// The future of a handler is dropped when its request is cancelled, so this method does not
    /// return in that case.
    pub async fn sleep(&self, duration: Duration) {
        self.request.link.platform().sleep(duration).await;
    }

    /// Sends a log message, unless its level is below the client's threshold.
    ///
    /// If the output queue is full, waits for at most 10 s until the message fits. Needs
    /// [`Server::logging`](crate::Server::logging), like [`Cx::log`].
    ///
    /// # Errors
    /// Fails under the conditions listed for [`Cx::log`].
    pub async fn log<T: Serialize + ?Sized>(&self, level: Level, data: &T) -> Result<(), Misuse> {
        let data = Raw::new(data)?;
        let deadline = self.request.link.platform().now() + LOG_PATIENCE;
        loop {
            let sent = self.0.log_raw(level, &data);
            if sent != Err(Misuse::Blocked) || self.request.link.platform().now() >= deadline {
                return sent;
            }
            self.sleep(LOG_PERIOD).await;
        }
    }
}

impl Deref for AsyncCx {
    type Target = Cx;

    fn deref(&self) -> &Cx {
        &self.0
    }
}
