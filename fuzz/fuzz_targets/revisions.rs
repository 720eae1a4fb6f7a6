//! What two applications see of one script is the same in every revision, but for what is
//! documented.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::revisions(data));
