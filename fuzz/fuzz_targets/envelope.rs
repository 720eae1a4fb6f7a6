//! A message has the meaning that an independent strict reading finds, in both roles.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::envelope(data));
