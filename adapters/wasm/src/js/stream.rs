//! Streams of bytes of a JavaScript host.

use js_sys::futures::JsFuture;
use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::JsValue;
use web_sys::ReadableStreamDefaultReader;

/// Reads the next chunk of a stream of bytes; `None` at its end.
///
/// # Errors
/// Fails with the exception of the stream.
pub(super) async fn read(reader: &ReadableStreamDefaultReader) -> Result<Option<Vec<u8>>, JsValue> {
    let result = JsFuture::from(reader.read()).await?;
    if Reflect::get(&result, &"done".into())?.is_truthy() {
        return Ok(None);
    }
    let chunk: Uint8Array = Reflect::get(&result, &"value".into())?.dyn_into()?;
    Ok(Some(chunk.to_vec()))
}
