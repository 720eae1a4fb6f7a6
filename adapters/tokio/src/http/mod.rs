//! Streamable HTTP on tokio: servers that listen or are services of a router, and clients.
//!
//! ```no_run
//! use mcp_tokio::http::{ConnectHttp, Http, Remote, ServeHttp, Stop};
//! use mcp_tokio::{Client, Server};
//!
//! # async fn example() -> Result<(), mcp_tokio::Error> {
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//! let server = Server::new("weather", "1.0.0");
//! tokio::spawn(async move { server.serve_http(listener, Http::new(), &Stop::on_signal()).await });
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
#[cfg(feature = "auth")]
pub use mcp_adapter::auth::IntrospectionVerifier;
#[cfg(feature = "tls")]
pub use mcp_adapter::http::ClientIdentity;
#[cfg(feature = "jwt")]
pub use mcp_adapter::http::JwtVerifier;
pub use mcp_adapter::http::{
    AuthChallenge, BlockingClient, FixedTokens, Guard, Http, HttpFailure, HttpSend, HttpStats,
    PeerAddress, Principal, Proxy, ProxyError, ReceivedBody, Refusal, Remote, RequestHead,
    ResponseBody, SendError, SessionControl, Stop, TokenVerifier, VerifyError,
};
pub use server::{ServeHttp, Service};
