//! Streamable HTTP on smol and async-io: servers that listen, and clients.
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
#[cfg(feature = "jwt")]
pub use mcp_adapter::http::JwtVerifier;
pub use mcp_adapter::http::{
    AuthChallenge, BlockingClient, FixedTokens, Guard, Http, HttpFailure, HttpSend, HttpStats,
    PeerAddress, Principal, Proxy, ProxyError, ReceivedBody, Refusal, Remote, RequestHead,
    SendError, SessionControl, Stop, TokenVerifier, VerifyError,
};
pub use server::ServeHttp;
#[cfg(unix)]
#[doc(hidden)]
pub use server::serve_unix;
#[doc(hidden)]
pub use server::{serve, sleep, spawn};
