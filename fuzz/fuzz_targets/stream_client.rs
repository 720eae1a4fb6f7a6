//! Whatever bytes, times and actions a client gets, it keeps its promises and limits, and ends.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::stream_client(data));
