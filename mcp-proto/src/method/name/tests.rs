//! Method names compare by their text.

use super::*;

#[test]
fn methods_are_equal_if_their_names_are() {
    let known = Method::from(MethodId::CallTool);
    let other = Method::other("tools/call");
    assert_eq!(known, other);
    assert_eq!(other, "tools/call");
    assert_ne!(known, Method::other("tools/list"));
    assert_ne!(other, "tools/list");
}
