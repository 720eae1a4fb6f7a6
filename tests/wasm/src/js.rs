//! The rows and their server, as functions of a JavaScript module.

use std::rc::Rc;

use mcp_wasm::Platform;
use mcp_wasm::http::WebService;
use mcp_wasm::js::{JsPlatform, respond};
use mcp_wasm::proto::Revision;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{Request, Response};

use crate::rows::ROWS;
use crate::shop::shop;
use crate::world::{Route, World};

thread_local! {
    static SERVICE: Option<WebService> = {
        let platform: Rc<dyn Platform> = Rc::new(JsPlatform);
        WebService::new(&shop(), &platform).ok()
    };
}

/// Serves the server of the rows.
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

/// Runs all rows against the server at `url`, or in this process, and returns a line for each.
#[wasm_bindgen]
pub async fn rows(url: Option<String>) -> String {
    let platform: Rc<dyn Platform> = Rc::new(JsPlatform);
    let routes = match url {
        Some(url) => vec![(Route::Remote(url), "remote")],
        None => vec![(Route::Memory, "memory"), (Route::Service, "http")],
    };
    let mut lines = String::new();
    for (route, name) in routes {
        for row in ROWS {
            for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
                let (platform, route) = (Rc::clone(&platform), route.clone());
                let world = World { platform, route, revision };
                let outcome = world.run((row.run)(world.clone())).await;
                let why = outcome.err().unwrap_or_default();
                lines.push_str(&format!("{name} {revision} {} {why}\n", row.name));
            }
        }
    }
    lines
}
