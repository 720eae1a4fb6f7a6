//! The estimated memory of a long `clientInfo`.

use super::*;

#[test]
fn only_a_long_client_info_is_charged_beyond_its_text_sec_19() {
    let cost = |bytes: usize| {
        let info = alloc::format!("\"{}\"", "x".repeat(bytes - 2));
        let version = "v".repeat(META_BYTES_FREE);
        let meta = alloc::format!(r#"{{"version":"{version}","{}":{info}}}"#, key::CLIENT_INFO);
        identity_cost(meta.as_bytes(), 1000)
    };
    assert_eq!(cost(IDENTITY_BYTES_FREE), 0);
    assert_eq!(cost(IDENTITY_BYTES_FREE + 1), (IDENTITY_BYTES_FREE + 1) * IDENTITY_FACTOR);
    assert_eq!((cost(1000), cost(1001)), (1000 * IDENTITY_FACTOR, 0), "it is not decoded");
}
