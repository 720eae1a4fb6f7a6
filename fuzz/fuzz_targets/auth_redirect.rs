//! A code is taken only from a redirect with the right state and issuer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::auth_redirect(data));
