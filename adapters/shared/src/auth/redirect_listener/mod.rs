//! A listener on a loopback address for the redirect that ends a user's authorization.

mod head;
mod page;

use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mcp_proto::Secret;
use mcp_proto::auth::{LoopbackHost, RedirectPage};

/// How long a connection may take to send its request, and to take its response.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum number of open connections. Browsers open a few in advance.
const CONNECTIONS_MAX: usize = 16;

/// How long to wait after an error before accepting again.
const PAUSE: Duration = Duration::from_millis(50);

type OnRedirect = dyn Fn(Secret) -> RedirectPage + Send + Sync;

/// Listens for the redirect of a user's browser until dropped.
///
/// Requests for anything but the path of the redirect URI, and requests whose `Host` differs from
/// it, are answered with status 404. Neither these requests nor unrelated redirects end the
/// listener, because browsers also ask for icons, and any page can make a browser send a request
/// here.
///
/// One thread accepts connections and up to 16 short-lived threads answer them, on each runtime:
/// the listener does not depend on the runtime, works while all of its threads are blocked, and
/// costs nothing once the user has signed in. A connection may take 5 s to send its request, of
/// which the first line has at most 32 KiB. Further connections replace the oldest open ones.
///
/// ```
/// use mcp_adapter::auth::{LoopbackHost, RedirectListener};
/// use mcp_adapter::proto::auth::RedirectPage;
///
/// # fn main() -> std::io::Result<()> {
/// let on_redirect = |query: mcp_adapter::proto::Secret| match query.expose() {
///     "code=1&state=2" => RedirectPage::Success,
///     _ => RedirectPage::NotFound,
/// };
/// let listener = RedirectListener::start(LoopbackHost::V4, None, "/callback", on_redirect)?;
/// let redirect_uri = format!("http://127.0.0.1:{}/callback", listener.port());
/// # drop(redirect_uri);
/// # Ok(())
/// # }
/// ```
pub struct RedirectListener {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl RedirectListener {
    /// Listens on `port` of `host`; on any free port if that one is taken or `None`.
    ///
    /// Authorization servers accept any port of a registered loopback address, and those that do
    /// not need the port that was registered.
    ///
    /// `on_redirect` receives the query of each request for `path` that has one, and returns the
    /// page to respond with. Calls may overlap. The page shows nothing of the request.
    ///
    /// # Errors
    /// Fails if the system provides no socket or no thread.
    pub fn start(
        host: LoopbackHost,
        port: Option<u16>,
        path: &str,
        on_redirect: impl Fn(Secret) -> RedirectPage + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let bind = |port| TcpListener::bind((host.address(), port));
        let listener = bind(port.unwrap_or(0)).or_else(|_| bind(0)).map_err(|error| {
            let why = format!("cannot listen on {}: {error}", host.as_str());
            io::Error::new(error.kind(), why)
        })?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            host: host.as_str(),
            port: address.port(),
            path: path.into(),
            is_closed: AtomicBool::new(false),
            open: Mutex::default(),
            on_redirect: Box::new(on_redirect),
        });
        let accepting = Arc::clone(&shared);
        let thread = spawn(move || accept(&listener, &accepting))?;
        Ok(Self { address, shared, thread: Some(thread) })
    }

    /// Returns the port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for RedirectListener {
    /// Closes the port. Responses that are being sent are finished.
    fn drop(&mut self) {
        self.shared.is_closed.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts connections.
        if TcpStream::connect_timeout(&self.address, REQUEST_TIMEOUT).is_ok()
            && let Some(thread) = self.thread.take()
        {
            let _panicked = thread.join();
        }
    }
}

opaque_debug!(RedirectListener, it => address: it.address);

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name("mcp-redirect".into()).spawn(work)
}

/// The state that the threads of a listener share.
struct Shared {
    host: &'static str,
    port: u16,
    path: Box<str>,
    is_closed: AtomicBool,
    /// The open connections with their numbers, oldest first.
    open: Mutex<VecDeque<(u64, TcpStream)>>,
    on_redirect: Box<OnRedirect>,
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for number in 0.. {
        let accepted = listener.accept();
        if shared.is_closed.load(Ordering::SeqCst) {
            return;
        }
        match accepted {
            // A connection without a thread is closed immediately.
            Ok((stream, _)) => drop(attend(shared, number, stream)),
            // Too many open files, or a client that disconnected immediately.
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

/// Starts a thread for a connection, and closes the oldest one if there are too many.
fn attend(shared: &Arc<Shared>, number: u64, stream: TcpStream) -> io::Result<()> {
    let mut open = shared.open();
    open.push_back((number, stream.try_clone()?));
    let oldest = if open.len() > CONNECTIONS_MAX { open.pop_front() } else { None };
    drop(open);
    if let Some((_, oldest)) = oldest {
        let _gone = oldest.shutdown(Shutdown::Both);
    }
    let connection = OpenConnection { shared: Arc::clone(shared), number };
    spawn(move || drop(connection.answer(stream)))?;
    Ok(())
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, VecDeque<(u64, TcpStream)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the page for a request.
    fn page(&self, head: &Secret) -> RedirectPage {
        let query = head::query(head.expose(), self.host, self.port, &self.path);
        match query.filter(|query| !query.is_empty()) {
            Some(query) if !self.is_closed.load(Ordering::SeqCst) => {
                let query = Secret::new(query);
                let called = catch_unwind(AssertUnwindSafe(|| (self.on_redirect)(query)));
                called.unwrap_or(RedirectPage::Failure)
            }
            _ => RedirectPage::NotFound,
        }
    }
}

/// A connection, which leaves the list of open ones when dropped.
struct OpenConnection {
    shared: Arc<Shared>,
    number: u64,
}

impl OpenConnection {
    /// Reads a request, answers it and closes the connection.
    fn answer(&self, mut stream: TcpStream) -> io::Result<()> {
        let deadline = Instant::now() + REQUEST_TIMEOUT;
        stream.set_write_timeout(Some(REQUEST_TIMEOUT))?;
        let page = match head::read(&mut stream, deadline)? {
            Some(head) => self.shared.page(&head),
            None => RedirectPage::NotFound,
        };
        page::write(page, &mut stream)?;
        stream.shutdown(Shutdown::Write)?;
        head::drain(&mut stream, Instant::now() + REQUEST_TIMEOUT)
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.shared.open().retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests;
