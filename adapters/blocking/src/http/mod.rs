//! Streamable HTTP without an async runtime: servers that listen, and clients.
//!
//! One thread polls all sockets. Handlers may block: they run on a thread pool unless measurements
//! show that they are quick.
//!
//! ```no_run
//! use std::net::TcpListener;
//!
//! use mcp_blocking::http::{ConnectHttp, Http, Remote, ServeHttp, Stop};
//! use mcp_blocking::{Client, Server};
//!
//! # fn main() -> Result<(), mcp_blocking::Error> {
//! let listener = TcpListener::bind("127.0.0.1:8080")?;
//! let server = Server::new("weather", "1.0.0");
//! std::thread::spawn(move || server.serve_http(listener, Http::new(), &Stop::on_signal()));
//!
//! let client = Client::new("demo", "1.0.0");
//! let connection = client.connect_http(Remote::new("http://127.0.0.1:8080/mcp")?)?;
//! for tool in connection.list_tools()? {
//!     println!("{}", tool.name);
//! }
//! connection.close()?;
//! # Ok(())
//! # }
//! ```

mod client;
mod server;

use std::io;

use mcp_adapter::{BoxFuture, Spawn};

pub use client::ConnectHttp;
#[cfg(feature = "auth")]
pub use mcp_adapter::auth::IntrospectionVerifier;
#[cfg(feature = "tls")]
pub use mcp_adapter::http::ClientIdentity;
#[cfg(feature = "jwt")]
pub use mcp_adapter::http::JwtVerifier;
pub use mcp_adapter::http::{
    AuthChallenge, BlockingClient, FixedTokens, Guard, Http, HttpFailure, HttpSend, HttpStats,
    PeerAddress, Principal, Proxy, ProxyError, ReceivedBody, Refusal, Remote, RequestHead,
    SendError, SessionControl, Stop, TokenVerifier, VerifyError,
};
pub use server::ServeHttp;

/// Runs IO on one shared thread and handlers on a thread pool.
struct EventLoop;

impl Spawn for EventLoop {
    fn spawn(&self, future: BoxFuture<'static, ()>) -> io::Result<()> {
        mcp_smol::http::spawn(future)
    }

    fn is_plain(&self) -> bool {
        true
    }
}
