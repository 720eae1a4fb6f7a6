//! Clients over the `fetch` function of a host.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mcp_proto::Instant;
use mcp_proto::client::Client as ClientMachine;
use mcp_proto::http::client::{
    Action, ExchangeFailure, ExchangeId, HttpClient, HttpConfig, HttpEvent, HttpRequest,
};

use crate::client::Client;
use crate::client::calls::Calls;
use crate::client::connection::Connection;
use crate::error::Error;
use crate::link::{ClientLink, Link};
use crate::platform::{DeadlineTimer, LocalBoxFuture, Platform};
use crate::tasks::{TaskSet, poll_tasks};

/// The HTTP client of a host.
///
/// Dropping a returned future or body aborts the request.
///
/// ```
/// use mcp_wasm::LocalBoxFuture;
/// use mcp_wasm::http::{WebFetch, FetchReply};
/// use mcp_wasm::proto::http::client::{ExchangeFailure, HttpRequest};
///
/// /// A network without any server.
/// struct Offline;
///
/// impl WebFetch for Offline {
///     fn fetch(
///         &self,
///         _: HttpRequest,
///     ) -> LocalBoxFuture<'static, Result<FetchReply, ExchangeFailure>> {
///         Box::pin(async { Err(ExchangeFailure::Unreached) })
///     }
/// }
/// # drop(Offline);
/// ```
pub trait WebFetch {
    /// Sends a request to the server and returns the head of the response.
    ///
    /// The future fails with [`ExchangeFailure`] if there is no response.
    fn fetch(
        &self,
        request: HttpRequest,
    ) -> LocalBoxFuture<'static, Result<FetchReply, ExchangeFailure>>;
}

/// A response, whose body has yet to be read.
pub struct FetchReply {
    /// The status code.
    pub status: u16,
    /// The headers, in any case.
    pub headers: Vec<(String, String)>,
    /// The body, decoded if it had a content coding.
    pub body: Box<dyn FetchBody>,
}

impl std::fmt::Debug for FetchReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FetchReply").field("status", &self.status).finish_non_exhaustive()
    }
}

/// The body of a response.
pub trait FetchBody {
    /// Returns the next bytes of the body; `None` at its end.
    ///
    /// The future fails with [`ExchangeFailure::Cut`] if the body is incomplete.
    fn next(&mut self) -> LocalBoxFuture<'_, Result<Option<Vec<u8>>, ExchangeFailure>>;
}

/// How long the last messages of a closed connection may take.
const CLOSING_MAX: Duration = Duration::from_secs(2);

/// Connects a client to a server through `fetch`.
///
/// One task of `platform` drives the connection until it is closed.
///
/// # Errors
/// Fails with [`Error::Io`] if the platform has no random bytes, and with [`Error::Start`] if the
/// server cannot be reached or refuses the client.
pub async fn connect(
    client: Client,
    fetch: Rc<dyn WebFetch>,
    platform: &Rc<dyn Platform>,
) -> Result<Connection, Error> {
    let mut seed = [0; 8];
    platform.fill_random(&mut seed)?;
    let (config, limits, handlers) = client.into_parts();
    let machine = ClientMachine::new(platform.now(), config);
    let machine = HttpClient::new(machine, HttpConfig::new(u64::from_le_bytes(seed)));
    let link = Rc::new(Link::new(platform, machine));
    let calls = Rc::new(Calls::new(Rc::clone(&link) as Rc<dyn ClientLink>, handlers));
    let driver = Driver {
        link,
        calls: Rc::clone(&calls),
        fetch,
        exchanges: RefCell::new(TaskSet::new()),
        paused: Rc::default(),
        closing_until: None,
    };
    platform.spawn(Box::pin(driver.drive()));
    Connection::open(calls, limits).await
}

/// The bodies that are not read, because too much of what they said is unhandled.
type Paused = Rc<RefCell<Vec<Waker>>>;

struct Driver {
    link: Rc<Link<HttpClient>>,
    calls: Rc<Calls>,
    fetch: Rc<dyn WebFetch>,
    exchanges: RefCell<TaskSet<ExchangeId>>,
    paused: Paused,
    /// When a closed connection is dropped with what it still sends.
    closing_until: Option<Instant>,
}

impl Driver {
    async fn drive(mut self) {
        let mut timer = DeadlineTimer::new(&Rc::clone(&self.link.platform));
        poll_fn(|cx| self.poll(cx, &mut timer)).await;
    }

    fn poll(&mut self, cx: &mut Context<'_>, timer: &mut DeadlineTimer) -> Poll<()> {
        self.link.set_driver(0, cx.waker());
        loop {
            while self.take_turn(cx) {}
            let now = self.link.now();
            if self.link.machine.borrow().is_closed() {
                let until = *self.closing_until.get_or_insert(now + CLOSING_MAX);
                if self.exchanges.borrow().is_empty() || now >= until {
                    return Poll::Ready(());
                }
                if !timer.poll(cx, Some(until)) {
                    return Poll::Pending;
                }
                continue;
            }
            let deadline = self.link.machine.borrow().poll_timeout();
            if !timer.poll(cx, deadline) {
                return Poll::Pending;
            }
            self.link.machine.borrow_mut().handle_timeout(self.link.now());
        }
    }

    /// Performs all actions, and handles all events. Returns whether there were any.
    fn take_turn(&self, cx: &Context<'_>) -> bool {
        let mut is_busy = false;
        loop {
            let action = self.link.machine.borrow_mut().poll_action();
            match action {
                Some(Action::Send(request)) => {
                    let id = request.exchange;
                    let task = exchange(
                        Rc::clone(&self.link),
                        Rc::clone(&self.fetch),
                        Rc::clone(&self.paused),
                        request,
                    );
                    self.exchanges.borrow_mut().insert(id, Box::pin(task));
                }
                Some(Action::Abort(id)) => {
                    let aborted = self.exchanges.borrow_mut().remove(id);
                    drop(aborted);
                }
                None => break,
            }
            is_busy = true;
        }
        loop {
            let event = self.link.machine.borrow_mut().poll_event();
            let Some(event) = event else { break };
            if let HttpEvent::Client(event) = event {
                self.calls.on_event(event);
            }
            is_busy = true;
        }
        if is_busy {
            self.paused.take().into_iter().for_each(Waker::wake);
        }
        is_busy |= poll_tasks(&self.exchanges, cx.waker());
        self.calls.poll(cx.waker()) | is_busy
    }
}

/// Sends a request and reports its response to the state machine.
async fn exchange(
    link: Rc<Link<HttpClient>>,
    fetch: Rc<dyn WebFetch>,
    paused: Paused,
    request: HttpRequest,
) {
    let id = request.exchange;
    let reply = fetch.fetch(request).await;
    let mut reply = match reply {
        Ok(reply) => reply,
        Err(why) => return link.machine.borrow_mut().handle_failure(link.now(), id, why),
    };
    // `fetch` decodes bodies, and leaves the field.
    reply.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-encoding"));
    link.machine.borrow_mut().handle_head(link.now(), id, reply.status, &reply.headers);
    loop {
        poll_fn(|cx| {
            if link.machine.borrow().wants_input(id) {
                return Poll::Ready(());
            }
            paused.borrow_mut().push(cx.waker().clone());
            Poll::Pending
        })
        .await;
        let chunk = reply.body.next().await;
        let mut machine = link.machine.borrow_mut();
        match chunk {
            Ok(Some(bytes)) => machine.handle_body(link.now(), id, &bytes),
            Ok(None) => return machine.handle_end(link.now(), id),
            Err(why) => return machine.handle_failure(link.now(), id, why),
        }
    }
}
