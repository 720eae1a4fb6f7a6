//! What is the same, of what is told of a request.

use super::*;

/// Whether the protocol knows a method is a matter of memory, not of its name.
#[test]
fn methods_are_the_same_exactly_if_their_names_are() {
    let rule = MethodRule::find("tools/call", true, Revision::V2025_06_18);
    let known = Method::new("tools/call", rule);
    let other = Method::new("tools/call", None);
    assert_eq!(known, other);
    assert_eq!(other, "tools/call");
    assert_ne!(known, Method::new("tools/list", None));
    assert_ne!(other, "tools/list");
}
