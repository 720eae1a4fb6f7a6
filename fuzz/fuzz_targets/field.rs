//! What is encoded can be sent and decodes to itself, and what any value of a field decodes to does
//! so again.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::field(data));
