//! Over HTTP, each request has one response on one stream, and everything is bounded.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::exchange(data));
