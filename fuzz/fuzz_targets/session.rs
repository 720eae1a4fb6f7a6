//! Busy sessions stay, idle ones expire, and none reveals another's messages.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::session(data));
