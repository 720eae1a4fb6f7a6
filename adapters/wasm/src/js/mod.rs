//! JavaScript hosts, with the feature `js`: Workers, browsers, node and others.
//!
//! Only available on `wasm32-unknown-unknown`. [`JsPlatform`] has the clock, timers, tasks and
//! entropy of the host, [`connect_http`] connects a client through `fetch`, and [`respond`] serves
//! a `Request` of a Worker.

#[cfg(feature = "client")]
mod fetch;
mod platform;
mod stream;
#[cfg(feature = "server")]
mod worker;

#[cfg(feature = "client")]
pub use fetch::{JsRemote, connect_http};
pub use platform::JsPlatform;
#[cfg(feature = "server")]
pub use worker::respond;
