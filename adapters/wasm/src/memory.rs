//! Servers and clients joined in memory, on one thread.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Buf;
use mcp_proto::client::Client as ClientMachine;
use mcp_proto::server::Server as ServerMachine;
use mcp_proto::stdio::Stdio;
use mcp_proto::{Endpoint, Instant};

use crate::client::Client;
use crate::client::calls::Calls;
use crate::client::connection::Connection;
use crate::error::Error;
use crate::link::{ClientLink, Link, ServerLink};
use crate::platform::{DeadlineTimer, Platform};
use crate::server::Server;
use crate::server::serving::Serving;

/// How often both sides take turns before other tasks of the thread do.
const TURNS_MAX: usize = 64;

/// Connects a client to a server in memory, and returns the client's connection.
///
/// One task of `platform` drives both sides until the connection is closed. Messages are the lines
/// of a stdio connection, and each side keeps to its limits.
///
/// ```
/// use std::rc::Rc;
///
/// use mcp_wasm::proto::Raw;
/// use mcp_wasm::{Client, Platform, Server, StdPlatform, memory};
///
/// let object = Raw::from_text(r#"{"type":"object"}"#).unwrap();
/// let server = Server::new("weather", "1.0.0")
///     .tool_raw("today", "Today's weather", object, |_arguments, _cx| Ok("sunny"));
/// let std_platform = StdPlatform::new();
/// let platform: Rc<dyn Platform> = Rc::new(std_platform.clone());
/// let result = std_platform.block_on(async {
///     let connection = memory::connect(&server, Client::new("demo", "1.0.0"), &platform).await?;
///     let result = connection.call_tool_raw("today", Raw::empty_object()).await?;
///     connection.close().await;
///     Ok::<_, mcp_wasm::Error>(result)
/// });
/// assert!(result.unwrap().as_str().contains("sunny"));
/// ```
///
/// # Errors
/// Fails with [`Error::Io`] if an entry of the server is invalid, and with [`Error::Start`] if both
/// sides have no revision in common.
pub async fn connect(
    server: &Server,
    client: Client,
    platform: &Rc<dyn Platform>,
) -> Result<Connection, Error> {
    let (config, entries) = server.parts()?;
    let now = platform.now();
    let server = Rc::new(Link::new(platform, Stdio::new(ServerMachine::new(now, config))));
    let (config, limits, handlers) = client.into_parts();
    let client = Rc::new(Link::new(platform, Stdio::new(ClientMachine::new(now, config))));
    let calls = Rc::new(Calls::new(Rc::clone(&client) as Rc<dyn ClientLink>, handlers));
    let pair = Pair {
        serving: Serving::new(&entries, Rc::clone(&server) as Rc<dyn ServerLink>),
        server,
        client,
        calls: Rc::clone(&calls),
        has_client_ended: false,
        has_server_ended: false,
    };
    platform.spawn(Box::pin(pair.drive()));
    Connection::open(calls, limits).await
}

/// Both sides of a connection in memory.
struct Pair {
    server: Rc<Link<Stdio<ServerMachine>>>,
    serving: Serving,
    client: Rc<Link<Stdio<ClientMachine>>>,
    calls: Rc<Calls>,
    /// The client has closed, and the server has received the end of its input.
    has_client_ended: bool,
    /// The server has closed, and the client has received the end of its input.
    has_server_ended: bool,
}

impl Pair {
    async fn drive(mut self) {
        let platform = Rc::clone(&self.client.platform);
        let mut timer = DeadlineTimer::new(&platform);
        poll_fn(|cx| self.poll(cx, &mut timer)).await;
    }

    fn poll(&mut self, cx: &mut Context<'_>, timer: &mut DeadlineTimer) -> Poll<()> {
        self.server.set_driver(0, cx.waker());
        self.client.set_driver(0, cx.waker());
        for _ in 0..TURNS_MAX {
            if self.take_turns(cx) {
                continue;
            }
            if self.client.machine.borrow().is_closed()
                && self.server.machine.borrow().is_closed()
                && self.serving.is_idle()
            {
                return Poll::Ready(());
            }
            let deadlines = [
                Endpoint::poll_timeout(&*self.client.machine.borrow()),
                Endpoint::poll_timeout(&*self.server.machine.borrow()),
            ];
            if !timer.poll(cx, deadlines.into_iter().flatten().min()) {
                return Poll::Pending;
            }
            let now = self.client.now();
            Endpoint::handle_timeout(&mut *self.client.machine.borrow_mut(), now);
            Endpoint::handle_timeout(&mut *self.server.machine.borrow_mut(), now);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Lets each side send, receive and handle once. Returns whether anything happened.
    fn take_turns(&mut self, cx: &Context<'_>) -> bool {
        let now = self.client.now();
        let mut is_busy = transfer(now, &self.client, &self.server);
        if self.client.machine.borrow().is_closed() && !self.has_client_ended {
            self.has_client_ended = true;
            Endpoint::handle_eof(&mut *self.server.machine.borrow_mut(), now);
            is_busy = true;
        }
        loop {
            let event = self.server.machine.borrow_mut().poll_event();
            let Some(event) = event else { break };
            self.serving.on_event(event);
            is_busy = true;
        }
        is_busy |= self.serving.poll(cx.waker());
        is_busy |= transfer(now, &self.server, &self.client);
        if self.server.machine.borrow().is_closed()
            && !self.has_server_ended
            && !self.server.machine.borrow_mut().outbox().has_remaining()
        {
            self.has_server_ended = true;
            Endpoint::handle_eof(&mut *self.client.machine.borrow_mut(), now);
            is_busy = true;
        }
        loop {
            let event = self.client.machine.borrow_mut().poll_event();
            let Some(event) = event else { break };
            self.calls.on_event(event);
            is_busy = true;
        }
        self.calls.poll(cx.waker()) | is_busy
    }
}

/// Moves the output of one side to the other, while that side reads.
fn transfer<A, B>(now: Instant, from: &Link<Stdio<A>>, to: &Link<Stdio<B>>) -> bool
where
    Stdio<A>: Endpoint,
    Stdio<B>: Endpoint,
{
    let (mut from, mut to) = (from.machine.borrow_mut(), to.machine.borrow_mut());
    let mut has_moved = false;
    let is_closed = to.is_closed();
    let outbox = from.outbox();
    // The output to a closed side is dropped.
    while outbox.has_remaining() && (to.wants_input() || is_closed) {
        let count = outbox.chunk().len();
        to.handle_input(now, outbox.chunk());
        outbox.advance(count);
        has_moved = true;
    }
    has_moved
}
