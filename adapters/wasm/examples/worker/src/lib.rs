//! A server as a Worker: a function from a `Request` to a `Response`.
//!
//! `worker.mjs` beside this crate exports the function as the `fetch` handler of a Worker, and
//! `workerd.capnp` runs it in workerd. `tests/wasm/run` builds and tries both.
#![cfg(all(target_arch = "wasm32", target_os = "unknown"))]

use std::rc::Rc;
use std::time::Duration;

use mcp_wasm::http::WebService;
use mcp_wasm::js::{JsPlatform, respond};
use mcp_wasm::proto::Progress;
use mcp_wasm::{Platform, Server};
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

thread_local! {
    /// The service of this instance.
    static SERVICE: Option<WebService> = {
        let server = Server::new("worker", "1.0.0")
            .tool("echo", "Returns its text", |echo: Echo, _cx| Ok(echo.text))
            .tool_async("count", "Counts to three", |(), cx| async move {
                for number in 1..=3 {
                    cx.sleep(Duration::from_millis(20)).await;
                    cx.progress(Progress::new(number.into()).with_total(3.0))?;
                }
                Ok("three")
            });
        let platform: Rc<dyn Platform> = Rc::new(JsPlatform);
        WebService::new(&server, &platform).ok()
    };
}

/// Handles a request of any client.
///
/// Any instance can answer any request once the policy is
/// `service.policy(|policy| policy.without_sessions())?`.
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
