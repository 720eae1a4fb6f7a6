//! Refusals carry readable challenges, and accepted tokens are for this server and now.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::guard(data));
