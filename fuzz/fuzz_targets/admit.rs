//! A request is admitted only from an allowed origin and with a head that matches its body, or
//! refused with a complete response.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_fuzz_bodies::admit(data));
