//! Streamable HTTP on smol and async-io (feature `http`): servers that listen, and clients.
//!
//! ```no_run
//! use std::net::TcpListener;
//!
//! use mcp_smol::http::{ConnectHttp, Http, Remote, ServeHttp, Stop};
//! use mcp_smol::{Client, Server};
//!
//! # async fn example() -> Result<(), mcp_smol::Error> {
//! let listener = TcpListener::bind("127.0.0.1:8080")?;
//! let server = Server::new("weather", "1.0.0");
//! let stop = Stop::on_signal();
//! smol::spawn(async move { server.serve_http(listener, Http::new(), &stop).await }).detach();
//!
//! let client = Client::new("demo", "1.0.0");
//! let connection = client.connect_http(Remote::new("http://127.0.0.1:8080/mcp")?).await?;
//! for tool in connection.list_tools().await? {
//!     println!("{}", tool.name);
//! }
//! connection.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # HTTP/2 and Unix sockets
//!
//! With the feature `tls`, a listening server also speaks HTTP/2 with prior knowledge (h2c),
//! which proxies that terminate TLS can use. Both versions share the port: the first bytes of a
//! connection decide. `Upgrade: h2c` is not supported. All limits and timeouts of [`Http`] apply to
//! both, and these to HTTP/2 only:
//!
//! | limit | value |
//! |---|---|
//! | requests at once on a connection | 100 (`HttpLimits::http2_streams_max`), then reset |
//! | requests in flight in total | all but one of a connection count like connections |
//! | headers of a request | 64 KiB, then status 431 |
//! | body bytes that were sent and not yet read | 64 KiB a stream, 256 KiB a connection |
//! | response bytes that wait in the connection | 64 KiB a stream, and a piece of 16 KiB |
//! | resets before a request was accepted | 20, then the connection is closed |
//! | streams that the server resets for errors of the client | 256, then the connection is closed |
//!
//! A head that is incomplete for [`HttpLimits::head_timeout`] closes the connection, because
//! nothing can follow it. A response that its client does not read for `Limits::stall_timeout` is
//! reset, and the connection goes on. An idle connection is closed with `GOAWAY`, as are all when
//! the server stops. A connection costs up to 0.9 MiB beside its requests.
//!
//! On Unix, `ServeHttp::serve_http_unix` serves the clients of a Unix socket.

mod client;
mod server;
mod socket;

pub use client::ConnectHttp;
#[cfg(unix)]
#[doc(hidden)]
pub use client::dial_unix;
#[doc(hidden)]
pub use client::{dial, resolve};
#[cfg(feature = "auth")]
pub use mcp_adapter::auth::IntrospectionVerifier;
#[cfg(feature = "tls")]
pub use mcp_adapter::http::ClientIdentity;
#[cfg(feature = "auth")]
pub use mcp_adapter::http::JwtVerifier;
pub use mcp_adapter::http::{
    AuthChallenge, BlockingClient, FixedTokens, Guard, Http, HttpFailure, HttpLimits, HttpSend,
    HttpStats, PeerAddress, Principal, Proxy, ProxyError, ReceivedBody, Refusal, Remote,
    RequestHead, SendError, SessionControl, Stop, TokenVerifier, VerifyError,
};
pub use server::ServeHttp;
#[cfg(unix)]
#[doc(hidden)]
pub use server::serve_unix;
#[doc(hidden)]
pub use server::{serve, sleep, spawn};
