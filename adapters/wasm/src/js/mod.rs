//! JavaScript hosts, with the feature `js`: Workers, browsers, node and others.
//!
//! Only available on `wasm32-unknown-unknown`. [`JsPlatform`] has the clock, timers, tasks and
//! entropy of the host, [`connect_http`] connects a client through `fetch`, and [`respond`] serves
//! a `Request` of a Worker.

mod fetch;
mod platform;
mod worker;

pub use fetch::{JsRemote, connect_http};
pub use platform::JsPlatform;
pub use worker::respond;
