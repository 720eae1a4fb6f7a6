//! A server as a Worker: a function from a `Request` to a `Response`.
//!
//! `worker.mjs` beside this crate exports the function as the `fetch` handler of a Worker, and
//! `workerd.capnp` runs it in workerd. `tests/wasm/run` builds and tries both.
#![cfg(all(target_arch = "wasm32", target_os = "unknown"))]

use std::time::Duration;

use mcp_wasm::http::{Http, HttpService};
use mcp_wasm::js::respond;
use mcp_wasm::proto::Progress;
use mcp_wasm::{Cx, HandlerError, Server};
use schemars::JsonSchema;
use serde::Deserialize;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{Request, Response};

#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// The text to return.
    text: String,
}

async fn count(cx: Cx) -> Result<&'static str, HandlerError> {
    for number in 1..=3 {
        cx.sleep(Duration::from_millis(20)).await;
        cx.progress(Progress::new(number.into()).with_total(3.0))?;
    }
    Ok("three")
}

thread_local! {
    /// The service of this instance.
    static SERVICE: Option<HttpService> = {
        let server = Server::new("worker", "1.0.0")
            .tool("echo", "Returns its text", |echo: Echo| echo.text)
            .tool("count", "Counts to three", count);
        HttpService::new(&server, Http::new().any_path()).ok()
    };
}

/// Handles a request of any client.
///
/// Any instance can answer any request of a server whose revisions have no sessions:
/// `server.revisions(&[Revision::V2026_07_28])`.
///
/// # Errors
/// Fails with the exception of the host.
#[wasm_bindgen]
pub async fn handle(request: Request) -> Result<Response, JsValue> {
    let Some(service) = SERVICE.with(Clone::clone) else {
        return Err("the server is invalid".into());
    };
    respond(&service, &request).await
}
