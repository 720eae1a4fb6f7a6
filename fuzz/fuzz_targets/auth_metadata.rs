//! Metadata are used only if they are about the URL asked for and name acceptable URLs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::auth_metadata(data));
