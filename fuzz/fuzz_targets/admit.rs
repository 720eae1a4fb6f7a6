//! A request comes in from where it may, as what its head and body both say, or is refused with a
//! whole answer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::admit(data));
