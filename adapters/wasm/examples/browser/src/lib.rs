//! A client in a web page: it lists tools, calls one, shows progress, and cancels a call.
//!
//! `index.html` beside this crate is the page. Open it as `index.html?server=URL`; the server must
//! let the origin of the page read its responses. `tests/wasm/run` builds and tries it.
#![cfg(all(target_arch = "wasm32", target_os = "unknown"))]

use std::time::Duration;

use js_sys::Function;
use mcp_wasm::js::{JsPlatform, JsRemote, connect_http};
use mcp_wasm::{Client, Error, Platform};
use serde_json::json;
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

/// Talks to the server at `url` and calls `show` with the kind and the text of each step.
///
/// # Errors
/// Fails if the server cannot be reached or a call fails.
#[wasm_bindgen]
pub async fn run(url: String, show: Function) -> Result<(), JsError> {
    let show = |kind: &str, text: &str| {
        let _shown = show.call2(&JsValue::NULL, &kind.into(), &text.into());
    };
    demo(&url, show).await.map_err(|error| JsError::new(&error.to_string()))
}

async fn demo(url: &str, show: impl Fn(&str, &str)) -> Result<(), Error> {
    let connection = connect_http(Client::new("page", "1.0.0"), JsRemote::new(url)).await?;
    if let Some(peer) = connection.peer() {
        show(
            "server",
            &format!("{} {}, revision {}", peer.info.name, peer.info.version, peer.revision),
        );
    }
    let tools = connection.list_tools().await?;
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    show("tools", &format!("{}: {}", names.len(), names.join(", ")));

    let echo = connection.call_tool("echo", &json!({"text": "Hello from WebAssembly"})).await?;
    show("echo", echo.content.first().and_then(|block| block.as_text()).unwrap_or("?"));

    let steps = json!({"ms": 400, "steps": 4});
    let slept = connection
        .call_tool("sleep", &steps)
        .progress(|it| {
            show("progress", &format!("{} of {}", it.progress, it.total.unwrap_or_default()));
        })
        .await?;
    show("sleep", slept.content.first().and_then(|block| block.as_text()).unwrap_or("?"));

    let endless = json!({"ms": 60_000, "steps": 600});
    let pending = connection.call_tool("sleep", &endless).start().await?;
    JsPlatform.sleep(Duration::from_millis(100)).await;
    pending.cancel("the page has seen enough");
    show("cancelled", "a call of 60 s");
    connection.close().await;
    show("closed", "the connection");
    Ok(())
}
