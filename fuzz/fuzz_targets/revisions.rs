//! Two applications see equal events in every revision, except for documented differences.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::revisions(data));
