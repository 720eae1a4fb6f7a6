//! A server that serves for as long as its row lasts; knows nothing of HTTP.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use mcp_adapter::Server;
use mcp_adapter::proto::Raw;
use mcp_adapter::proto::schema::Tool;
use mcp_blocking::http::{Http, Stop};
use serde_json::{Value, json};

use crate::raw::PATIENCE;
use crate::runtime::Runtime;

/// A server that listens on a port of its own. Dropping it ends it, and waits until it has.
#[derive(Debug)]
pub struct Served {
    /// Where it listens.
    pub address: SocketAddr,
    /// What tells it to end.
    pub stop: Stop,
    outcome: Receiver<io::Result<()>>,
}

impl Served {
    /// Serves.
    pub fn on<R: Runtime>(server: Server, options: Http) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, (says, outcome)) = (Stop::new(), channel());
        let told = stop.clone();
        thread::spawn(move || {
            let _row_is_over = says.send(R::serve(&server, listener, options, &told));
        });
        Self { address, stop, outcome }
    }

    /// A server that echoes, with the defaults.
    #[must_use]
    pub fn echo<R: Runtime>() -> Self {
        Self::on::<R>(server(), Http::new())
    }

    /// Waits until it has ended, as it was told to.
    pub fn ends_within(&self, patience: Duration) {
        self.outcome.recv_timeout(patience).expect("it ends in time").expect("it ends well");
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

/// A server that echoes, and panics when it is asked to.
pub fn server() -> Server {
    Server::new("shop", "1.0.0")
        .logging()
        .changing()
        .tool_with(tool("echo"), |said: Value, _| {
            Ok(said["text"].as_str().unwrap_or_default().to_owned())
        })
        .tool_with(tool("panic"), |_: Value, _| -> Result<String, _> { panic!("a secret") })
        .tool_with_async(tool("panic_async"), |_: Value, _| async { panics() })
}

fn panics() -> Result<String, mcp_adapter::ToolError> {
    panic!("a secret")
}

/// A tool that takes any object.
#[must_use]
pub fn tool(name: &str) -> Tool {
    Tool::new(name, Raw::new(&json!({"type": "object"})).unwrap()).description("Part of a row")
}

/// What a result of a tool says.
#[must_use]
pub fn text(message: &Value) -> &str {
    message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {message}"))
}

/// Asks again and again until it is so.
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
