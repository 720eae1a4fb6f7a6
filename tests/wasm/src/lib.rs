//! The rows of the adapters' suite that apply to one thread, on every platform of `mcp-wasm`.
//!
//! A row is a client against the server [`shop`](shop::shop). Rows run natively (`cargo test`),
//! under WASI (the program `wasm-rows`), and in JavaScript hosts (`tests/wasm/run`). They return
//! their failures, because a panic would end a module.

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
pub mod js;
pub mod rows;
pub mod shop;
pub mod world;
