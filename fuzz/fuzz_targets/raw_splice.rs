//! A JSON value is taken exactly if `serde_json` takes it, has the same members, and stays whole
//! when members are added.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::raw_splice(data));
