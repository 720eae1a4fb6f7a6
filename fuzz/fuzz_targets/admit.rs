//! A request is admitted only from an allowed origin and if head and body match, else refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::admit(data));
