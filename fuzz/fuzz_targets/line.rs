//! Any split of a byte stream has the effect of its lines one by one, and limits hold.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::line(data));
