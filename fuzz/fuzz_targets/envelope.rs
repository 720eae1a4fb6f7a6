//! A message is what a strict reading with `serde_json` says it is, for both roles: what it ends,
//! tells and answers.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::envelope(data));
