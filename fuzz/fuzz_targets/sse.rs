//! Any split of an event stream gives the same events, and what is written is read as it was.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::sse(data));
