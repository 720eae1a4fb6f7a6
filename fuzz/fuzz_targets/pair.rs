//! A client and a server keep their promises and come to rest, with stray bytes between them.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::pair(data));
