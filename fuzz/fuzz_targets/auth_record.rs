//! A stored record reads as it was written, or is refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::auth_record(data));
