//! The host of a module: its tasks, its timers and its HTTP client.
//!
//! On `wasm32-unknown-unknown`, the host is JavaScript. Elsewhere, it is the thread that runs
//! [`block_on`](crate::block_on).

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod js;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod thread;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub(crate) use js::Host;
#[cfg(all(target_family = "wasm", target_os = "unknown", feature = "http"))]
pub(crate) use js::call_global;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(crate) use thread::Host;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use thread::block_on;
