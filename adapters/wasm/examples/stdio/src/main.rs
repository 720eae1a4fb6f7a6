//! A server with two tools over stdin and stdout, for WASI preview 1.
//!
//! ```sh
//! cargo build --profile wasm-size --target wasm32-wasip1 -p mcp-wasm-stdio
//! wasmtime target/wasm32-wasip1/wasm-size/mcp-wasm-stdio.wasm
//! ```

use std::io;
use std::time::Duration;

use mcp_wasm::proto::{ErrorObject, Progress, Raw};
use mcp_wasm::{AsyncCx, HandlerError, Server};

fn main() -> io::Result<()> {
    let echo = Raw::from_text(
        r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#,
    );
    let sleep = Raw::from_text(
        r#"{"type":"object","properties":{"ms":{"type":"integer"}},"required":["ms"]}"#,
    );
    let (Ok(echo), Ok(sleep_schema)) = (echo, sleep) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    Server::new("wasi", "1.0.0")
        .tool_raw("echo", "Returns its text", echo, |arguments, _cx| {
            let text = arguments.member("text");
            let text = text.as_ref().and_then(Raw::to_text).map(|text| text.into_owned());
            text.ok_or_else(|| {
                HandlerError::refused(ErrorObject::invalid_params("text is missing"))
            })
        })
        .tool_raw_async("sleep", "Sleeps in two steps and reports each", sleep_schema, sleep_twice)
        .serve_stdio()
}

async fn sleep_twice(arguments: Raw, cx: AsyncCx) -> Result<&'static str, HandlerError> {
    let ms = arguments.member("ms").and_then(|ms| ms.as_str().parse().ok()).unwrap_or(0);
    for step in [1.0, 2.0] {
        cx.sleep(Duration::from_millis(ms) / 2).await;
        cx.progress(Progress::new(step).with_total(2.0))?;
    }
    Ok("slept")
}
