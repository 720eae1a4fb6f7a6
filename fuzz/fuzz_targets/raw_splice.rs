//! A JSON value is accepted exactly if `serde_json` accepts it, and survives added members.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::raw_splice(data));
