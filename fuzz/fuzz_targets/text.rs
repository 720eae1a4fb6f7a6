//! What is read from a document is written as text that reads as an equal value.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::text(data));
