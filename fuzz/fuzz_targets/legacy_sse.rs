//! Whatever the network does, HTTP+SSE ends every call once, and leaves nothing open.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::legacy_sse(data));
