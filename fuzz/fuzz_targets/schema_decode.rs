//! What a type reads it writes, what it wrote it reads again as the same, and a member that it does
//! not know changes nothing.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::schema_decode(data));
