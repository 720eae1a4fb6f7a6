//! Whatever clients say of sessions, a busy one stays, an idle one goes, and none says what is
//! another's.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::session(data));
