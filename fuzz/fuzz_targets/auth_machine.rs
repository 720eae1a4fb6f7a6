//! Every wait for credentials ends, and credentials go where they belong.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::auth_machine(data));
