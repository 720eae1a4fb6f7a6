//! What is the same, of what is told of a request, and what it takes to hold.

use super::*;

/// Whether the protocol knows a method is a matter of memory, not of its name.
#[test]
fn methods_are_the_same_exactly_if_their_names_are() {
    let known = Method::from(MethodId::CallTool);
    let other = Method::other("tools/call");
    assert_eq!(known, other);
    assert_eq!(other, "tools/call");
    assert_ne!(known, Method::other("tools/list"));
    assert_ne!(other, "tools/list");
}

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
