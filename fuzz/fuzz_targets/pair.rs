//! A client and a server that do anything in any order, with stray bytes between them, keep their
//! promises and come to rest.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::pair(data));
