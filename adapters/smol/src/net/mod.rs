//! Sockets of async-io, for HTTP.

mod client;
mod server;
mod socket;
