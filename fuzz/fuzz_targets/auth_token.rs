//! What is taken from a token response is bounded, and no error repeats the response.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::auth_token(data));
