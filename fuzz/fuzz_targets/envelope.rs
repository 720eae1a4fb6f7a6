//! A message has the meaning that a strict reading with `serde_json` finds, in both roles: what it
//! completes, raises and answers.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::envelope(data));
