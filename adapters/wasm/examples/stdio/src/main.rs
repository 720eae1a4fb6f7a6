//! A server with two tools over stdin and stdout, for WASI preview 1.
//!
//! ```sh
//! cargo build --profile wasm-size --target wasm32-wasip1 -p mcp-wasm-stdio
//! wasmtime target/wasm32-wasip1/wasm-size/mcp-wasm-stdio.wasm
//! ```

use std::time::Duration;

use mcp_wasm::proto::{ErrorObject, Progress, Raw};
use mcp_wasm::{Cx, Error, HandlerError, Server, Tool, block_on};

fn main() -> Result<(), Error> {
    let echo_schema = schema(r#"{"text":{"type":"string"}}"#, "text")?;
    let sleep_schema = schema(r#"{"ms":{"type":"integer"}}"#, "ms")?;
    let echo = Tool::new("echo", echo).description("Returns its text").input_schema(echo_schema);
    let sleep = Tool::new("sleep", sleep_twice)
        .description("Sleeps in two steps and reports each")
        .input_schema(sleep_schema);
    block_on(Server::new("wasi", "1.0.0").add(echo).add(sleep).serve_stdio())
}

fn schema(properties: &str, required: &str) -> std::io::Result<Raw> {
    let text =
        format!(r#"{{"type":"object","properties":{properties},"required":["{required}"]}}"#);
    Raw::from_text(&text).map_err(std::io::Error::other)
}

fn echo(arguments: Raw) -> Result<String, HandlerError> {
    let text = arguments.member("text");
    let text = text.as_ref().and_then(Raw::to_text).map(|text| text.into_owned());
    text.ok_or_else(|| HandlerError::refused(ErrorObject::invalid_params("text is missing")))
}

async fn sleep_twice(arguments: Raw, cx: Cx) -> Result<&'static str, HandlerError> {
    let ms = arguments.member("ms").and_then(|ms| ms.as_str().parse().ok()).unwrap_or(0);
    for step in [1.0, 2.0] {
        cx.sleep(Duration::from_millis(ms) / 2).await;
        cx.progress(Progress::new(step).with_total(2.0))?;
    }
    Ok("slept")
}
