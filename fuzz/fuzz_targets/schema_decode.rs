//! A type decodes its own output to an equal value, and unknown members change nothing.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::schema_decode(data));
