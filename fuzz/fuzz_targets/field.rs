//! An encoded value is valid and decodes to itself, and so does the decoding of any value.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::field(data));
