//! Serving on the runtime of a server.

#[cfg(feature = "http")]
use std::io;

#[cfg(feature = "http")]
use super::{HttpRuntime, Listen};
use super::{Runtime, Streams};
use crate::exec::clock::Clock;
use crate::exec::operation::Operation;
#[cfg(feature = "http")]
use crate::http::{Http, HttpService, Stop};
use crate::server::Server;

/// Serving.
impl<R: Runtime> Server<R> {
    /// Serves on stdin and stdout until the client disconnects or a closing signal arrives.
    ///
    /// SIGINT, SIGTERM and, on Linux and Android, SIGHUP close the server. There, a signal that is
    /// ignored when serving starts stays ignored; `nohup`, for example, ignores SIGHUP. After the
    /// last server has closed, a further signal ends the process with exit code 130.
    ///
    /// At the end of stdin, as in `server < requests | less`,
    /// - requests in progress can be answered within `Limits::eof_drain_timeout` (4 s by default);
    ///   on Unix, this ends once stdout has no reader;
    /// - the client may pause for `Limits::stall_timeout` (60 s) while it reads the remaining
    ///   output.
    ///
    /// After a signal, shorter times apply:
    /// - requests in progress can be answered within `Limits::drain_timeout` (50 ms);
    /// - remaining output is sent for at most 2 s, as long as the client reads it.
    ///
    /// On Windows, Ctrl-C, Ctrl-Break and the end of the console, the session or the system close
    /// the server. Of several handlers of such an event, Windows calls the latest one first, and
    /// this one ends the event.
    ///
    /// The server owns both streams. What handlers print to stdout during that time goes to stderr,
    /// and child processes inherit an empty stdin. On Unix, the server closes when its parent
    /// exits. On Windows, only the end of stdin reports the parent's exit. [`Server::stdio`]
    /// changes this.
    ///
    /// On an async runtime, dropping the operation ends the connection immediately, and no thread
    /// of the runtime blocks on stdin. Input that arrives after the end is left to the next reader
    /// of [`std::io::stdin`].
    ///
    /// # Errors
    /// The operation fails if
    /// - a registered tool, resource, resource template or prompt is invalid;
    /// - stdin or stdout is unavailable, or reading or writing fails for a reason other than the
    ///   client's disconnection;
    /// - it is used outside of the runtime, or a thread cannot be started;
    /// - the connection ends because of a protocol fault.
    pub fn serve_stdio(&self) -> Operation<'_, ()> {
        Operation::new(async {
            let (serving, driving) = self.settings.open_at(Clock::new(), R::current()?, None)?;
            Ok(R::serve_stdio(serving, driving.over_standard_streams()).await?)
        })
    }

    /// Serves one client over a pair of byte streams until the client disconnects.
    ///
    /// Each adapter takes the readers and writers of its runtime, such as the halves of a socket.
    /// One server can serve many connections at a time. When the connection ends, the server shuts
    /// down and drops `writer`. These two steps must close the underlying stream.
    ///
    /// # Errors
    /// The operation fails if
    /// - a registered tool, resource, resource template or prompt is invalid;
    /// - it is used outside of the runtime, or a thread cannot be started;
    /// - reading or writing fails for a reason other than the client's disconnection;
    /// - the connection ends because of a protocol fault.
    pub fn serve<'a, I, O>(&'a self, reader: I, writer: O) -> Operation<'a, ()>
    where
        R: Streams<I, O>,
        I: Send + 'a,
        O: Send + 'a,
    {
        Operation::new(async move {
            let (serving, driving) = self.settings.open_at(Clock::new(), R::current()?, None)?;
            R::drive(driving, reader, writer).await?;
            Ok(serving.outcome()?)
        })
    }

    /// Serves the HTTP clients of a listener until [`Stop::stop`] is called. (feature `http`)
    ///
    /// The listener is one of TCP or, on Unix, of a Unix socket. After the call of `stop`, the
    /// server accepts no more connections, ends its sessions, and waits at most
    /// [`drain_timeout`](crate::http::HttpLimits::drain_timeout) (2 s) for requests in progress.
    /// Dropping the operation closes all connections and ends the sessions immediately.
    ///
    /// Bind the listener to `127.0.0.1` unless other machines need access. [`Http`] configures the
    /// limits and the accepted hosts and origins. For a listener that other machines can reach, it
    /// must allow at least one host.
    ///
    /// A Unix socket is for clients on this machine and proxies in front of the server. The
    /// application creates its file, sets the permissions, which decide who can connect, and
    /// removes it. Its clients send `Host: localhost`; other hosts must be allowed as they must be
    /// for TCP. They have no address, so that limits per client address do not apply to them.
    ///
    /// # Errors
    /// The operation fails if
    /// - a registered tool, resource, resource template or prompt is invalid;
    /// - other machines can reach the listener, for example at `0.0.0.0`, and neither
    ///   [`Http::host`] nor [`Http::any_host`] is used;
    /// - it is used outside of the runtime;
    /// - the listener fails permanently; [`Stop::stop`] is then also called on `stop`.
    #[cfg(feature = "http")]
    pub fn serve_http<'a, L>(
        &'a self,
        listener: L,
        options: Http,
        stop: &'a Stop,
    ) -> Operation<'a, ()>
    where
        R: Listen<L>,
        L: Send + 'a,
    {
        Operation::new(async move {
            let service = HttpService::new(self, options)?;
            Ok(R::listen(service, listener, stop).await?)
        })
    }
}

#[cfg(feature = "http")]
impl HttpService {
    /// Creates the service of a server, on the runtime of the current thread.
    ///
    /// # Errors
    /// Fails if a registered tool, resource, resource template or prompt is invalid, or outside of
    /// the runtime.
    pub fn new<R: HttpRuntime>(server: &Server<R>, options: Http) -> io::Result<Self> {
        Self::on(&server.settings, options, R::current()?.dialer()?)
    }
}
