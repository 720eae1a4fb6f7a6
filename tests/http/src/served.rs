//! A server that runs as long as its test.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use mcp_adapter::proto::Raw;
use mcp_adapter::proto::schema;
use mcp_adapter::{HandlerError, Lists, Server, Tool};
use mcp_blocking::http::{Http, Stop};
use serde_json::{Value, json};

use crate::raw::PATIENCE;
use crate::runtime::{Listener, Runtime};

/// A server on its own port. Dropping it stops it and waits for its end.
#[derive(Debug)]
pub struct Served {
    /// The server's address.
    pub address: SocketAddr,
    /// Stops the server.
    pub stop: Stop,
    outcome: Receiver<io::Result<()>>,
}

impl Served {
    /// Starts a server.
    pub fn on<R: Runtime>(server: Server, options: Http) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, (says, outcome)) = (Stop::new(), channel());
        let told = stop.clone();
        thread::spawn(move || {
            let _row_is_over =
                says.send(R::serve(&server, Listener::Tcp(listener), options, &told));
        });
        Self { address, stop, outcome }
    }

    /// Starts an echo server with default options.
    #[must_use]
    pub fn echo<R: Runtime>() -> Self {
        Self::on::<R>(server(), Http::new())
    }

    /// Waits for the server to end after it was stopped.
    pub fn ends_within(&self, patience: Duration) {
        self.outcome
            .recv_timeout(patience)
            .expect("the server ends in time")
            .expect("the server ends without error");
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.stop();
        let ended = self.outcome.recv_timeout(PATIENCE);
        let is_late = matches!(ended, Err(std::sync::mpsc::RecvTimeoutError::Timeout));
        assert!(!is_late || thread::panicking(), "the server did not end");
    }
}

/// Builds a server with an echo tool and one that panics.
pub fn server() -> Server {
    Server::new("server", "1.0.0")
        .logging()
        .lists(Lists::new().announce_changes())
        .add(Tool::define(tool("echo"), |said: Value| {
            said["text"].as_str().unwrap_or_default().to_owned()
        }))
        .add(Tool::define(tool("panic"), panics))
        .add(Tool::define(tool("panic_async"), async || panics()))
}

fn panics() -> Result<String, HandlerError> {
    panic!("a secret")
}

/// Builds a tool that accepts any object.
#[must_use]
pub fn tool(name: &str) -> schema::Tool {
    schema::Tool::new(name, Raw::new(&json!({"type": "object"})).unwrap())
        .description("Part of a row")
}

/// Returns the text of a tool result.
#[must_use]
pub fn text(message: &Value) -> &str {
    message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {message}"))
}

/// Polls a condition until it holds.
pub fn eventually<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let give_up = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < give_up, "not in time: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
