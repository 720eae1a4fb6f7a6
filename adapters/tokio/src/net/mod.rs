//! Sockets of tokio, for HTTP.

mod client;
mod server;
