//! What a challenge asks for is in it, and no other challenge changes that.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::auth_challenge(data));
