//! Any split of a byte stream gives what its lines give one by one, and holds no more than the
//! limits allow.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::line(data));
