//! [`HttpSend`]: an HTTP client that the program brings, instead of the built-in one.

use std::error::Error;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;

use crate::box_future::BoxFuture;

type BoxError = Box<dyn Error + Send + Sync>;

/// Sends the HTTP requests of a client, for
/// [`Remote::with_client`](super::remote::Remote::with_client).
///
/// Functions from a request to a future implement this trait.
///
/// The URL of a request is absolute; there is no `Host` field. A request contains credentials if
/// the [`Remote`](super::remote::Remote) has any, in `Authorization` and fields set by
/// [`Remote::header`](super::remote::Remote::header), and the session's id, which is as secret.
///
/// Responsibilities:
///
/// - **Redirects**: the adapter. The implementation must return responses with status 3xx and
///   follow none, because it could send credentials to other origins.
/// - **Timeouts**: the adapter limits how long calls take, and the implementation how long it
///   connects. Neither responses nor bodies may have their own limit: event streams last for
///   hours.
/// - **Proxies, TLS, addresses and pooling**: the implementation.
/// - **Credentials**: the adapter, which adds them to each request for the origin of the URL. The
///   implementation must not add them to requests for other origins, and must not log them.
/// - **Cookies**: the implementation, which by default should keep none.
/// - **Decompression**: the implementation, which adds `Accept-Encoding` if it decodes. The adapter
///   sends no such field, and reads bodies as they are.
/// - **Retries**: the adapter. The implementation sends each request at most once, except one that
///   was certainly not sent.
///
/// **Backpressure**: the adapter polls the body only while it has room, so the implementation must
/// not read ahead without a limit. **Aborting**: dropping the future or the body must end the
/// exchange, in HTTP/1.1 by closing the connection.
///
/// With `mcp-blocking`, futures and bodies are polled by the thread that does all IO, and must not
/// block: see [`BlockingClient`](super::blocking_client::BlockingClient).
///
/// If the future or the body panics, the request fails as with [`SendError::lost`].
///
/// Cost: two allocations for each exchange.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use mcp_tokio::http::{ReceivedBody, Remote, SendError};
/// # struct MyClient;
/// # impl MyClient {
/// #     async fn send(&self, _: Request<Bytes>) -> Result<Response<String>, std::io::Error> {
/// #         Ok(Response::new(String::new()))
/// #     }
/// # }
/// # static CLIENT: MyClient = MyClient;
///
/// let remote = Remote::with_client("https://example.com/mcp", |request| async move {
///     let response = CLIENT.send(request).await.map_err(SendError::lost)?;
///     Ok(response.map(ReceivedBody::new))
/// });
/// # drop(remote);
/// ```
pub trait HttpSend: Send + Sync + 'static {
    /// Sends a request; completes with the head of the response, as soon as that has arrived.
    ///
    /// # Errors
    /// Fails with a [`SendError`] that states whether the server may have processed the request.
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<ReceivedBody>, SendError>>;
}

impl<F, R> HttpSend for F
where
    F: Fn(Request<Bytes>) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Response<ReceivedBody>, SendError>> + Send + 'static,
{
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<ReceivedBody>, SendError>> {
        Box::pin(self(request))
    }
}

/// The failure of a request, and whether the server may have received it.
///
/// A call whose request was not sent fails with [`CallError::Unsent`](mcp_proto::CallError::Unsent)
/// and can be repeated. Otherwise it fails with [`CallError::Lost`](mcp_proto::CallError::Lost).
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::http::SendError;
///
/// let error = SendError::unsent("connection refused");
/// assert!(error.is_unsent());
/// assert_eq!(error.to_string(), "the request was not sent: connection refused");
/// ```
#[derive(Debug)]
pub struct SendError {
    is_unsent: bool,
    cause: BoxError,
}

impl SendError {
    /// Creates the error of a request that the server cannot have processed, for example because
    /// no connection was opened. The cause must not contain credentials.
    pub fn unsent(cause: impl Into<BoxError>) -> Self {
        Self { is_unsent: true, cause: cause.into() }
    }

    /// Creates the error of a request that the server may have processed. Use this one in case of
    /// doubt. The cause must not contain credentials.
    pub fn lost(cause: impl Into<BoxError>) -> Self {
        Self { is_unsent: false, cause: cause.into() }
    }

    /// Returns whether the server cannot have processed the request.
    #[must_use]
    pub const fn is_unsent(&self) -> bool {
        self.is_unsent
    }

    /// Returns the error for reports. An IO error that is the cause stays what it is.
    pub(super) fn into_io(self) -> io::Error {
        let is_unsent = self.is_unsent;
        match self.cause.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(cause) => io::Error::other(Self { is_unsent, cause }),
        }
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_unsent { "the request was not sent" } else { "no response arrived" };
        write!(f, "{what}: {}", self.cause)
    }
}

impl Error for SendError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.cause)
    }
}

/// The body of a response that an [`HttpSend`] returns, of any type.
///
/// Dropping it aborts the exchange. Cost: one allocation.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::http::ReceivedBody;
///
/// // The body of a client's response; here, one in a single piece.
/// let body: String = "{}".into();
/// let body = ReceivedBody::new(body);
/// # drop(body);
/// ```
pub struct ReceivedBody(Pin<Box<dyn PollBody>>);

impl ReceivedBody {
    /// Wraps a body. An error of the body means that the response was cut off.
    pub fn new<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        Self(Box::pin(body))
    }

    /// Polls the next frame. A panic is an error, after which the body must not be polled.
    pub(super) fn poll_frame(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let body = self.0.as_mut();
        catch_unwind(AssertUnwindSafe(|| body.poll_body(context)))
            .unwrap_or_else(|_| Poll::Ready(Some(Err("the body panicked".into()))))
    }
}

opaque_debug!(ReceivedBody);

/// Bodies with errors of any type.
trait PollBody: Send {
    fn poll_body(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>>;
}

impl<B> PollBody for B
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send,
{
    fn poll_body(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.poll_frame(context).map_err(Into::into)
    }
}
