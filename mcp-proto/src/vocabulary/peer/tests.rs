//! What a long `clientInfo` costs beyond its text.

use super::*;

#[test]
fn an_identity_costs_more_than_its_text_only_if_it_is_long_sec_19() {
    let cost = |bytes: usize| {
        let info = alloc::format!("\"{}\"", "x".repeat(bytes - 2));
        let meta = alloc::format!(r#"{{"{}":{info}}}"#, key::CLIENT_INFO);
        identity_cost(&Raw::from_text(&meta).unwrap())
    };
    assert_eq!(cost(IDENTITY_BYTES_FREE), 0);
    assert_eq!(cost(IDENTITY_BYTES_FREE + 1), (IDENTITY_BYTES_FREE + 1) * IDENTITY_FACTOR);
}
