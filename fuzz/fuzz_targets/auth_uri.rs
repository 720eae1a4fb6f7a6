//! A URL keeps its bytes and is read as by another parser, and covers only its own origin.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::auth_uri(data));
