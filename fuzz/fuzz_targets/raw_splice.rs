//! A JSON value is accepted exactly if `serde_json` accepts it, has equal members, and stays intact
//! when members are added to it.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::raw_splice(data));
