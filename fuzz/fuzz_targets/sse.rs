//! Any split of an event stream yields equal events, and an encoded event is parsed unchanged.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::sse(data));
