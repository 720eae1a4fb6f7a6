//! Tests of sets of scopes and their bounds.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

fn scopes(text: &str) -> Scopes {
    Scopes::parse(text, &AuthLimits::default()).unwrap()
}

#[test]
fn characters_are_those_of_rfc_6749() {
    for (text, written) in [
        ("", Some("")),
        ("a", Some("a")),
        ("a b", Some("a b")),
        ("  a   b ", Some("a b")),
        ("b a b", Some("b a")),
        ("https://x/y?z=1,2 !#[]~", Some("https://x/y?z=1,2 !#[]~")),
        ("a\tb", None),
        ("a\nb", None),
        ("\"a\"", None),
        ("a\\b", None),
        ("\u{e9}", None),
        ("a\u{7f}", None),
    ] {
        let parsed = Scopes::parse(text, &AuthLimits::default()).map(|scopes| scopes.to_string());
        assert_eq!(parsed.as_deref().ok(), written, "{text}");
    }
    let empty = Scopes::collect(["a", ""], &AuthLimits::default());
    assert_eq!(empty, Err(InvalidScopes::Character));
}

#[test]
fn the_set_is_bounded() {
    let limits = AuthLimits {
        scopes_max: 3,
        scope_bytes_max: 4,
        scopes_bytes_max: 8,
        ..AuthLimits::default()
    };
    let parse = |text| Scopes::parse(text, &limits).map(|scopes| scopes.len());
    for (text, result) in [
        ("a b c", Ok(3)),
        ("a b c a", Ok(3)),
        ("a b c d", Err(InvalidScopes::TooMany)),
        ("abcd", Ok(1)),
        ("abcde", Err(InvalidScopes::TooMany)),
        ("abcd efg", Ok(2)),
        ("abcd efgh", Err(InvalidScopes::TooMany)),
    ] {
        assert_eq!(parse(text), result, "{text}");
    }
    assert_eq!(scopes("a b").union(&scopes("c d"), &limits), Err(InvalidScopes::TooMany));
}

// AUT-27: a scope implies no other one.
#[test]
fn sets_are_compared_by_whole_scopes() {
    let granted = scopes("files:read files");
    assert!(granted.covers(&scopes("files")) && granted.covers(&Scopes::new()));
    for other in ["files:write", "file", "Files", "files:read admin"] {
        assert!(!granted.covers(&scopes(other)), "{other}");
    }
    assert_eq!(scopes("a b c").without(&scopes("c a")), scopes("b"));
    assert_eq!(alloc::format!("{:?}", scopes("a b")), r#"{"a", "b"}"#);
    assert_eq!(Scopes::new().to_param(), None);
}

fn any_scopes() -> impl Strategy<Value = Scopes> {
    proptest::collection::vec("[a-e]", 0..6).prop_map(|list| scopes(&list.join(" ")))
}

proptest! {
    // AUT-63: a union keeps what was there, in its order.
    #[test]
    fn a_union_is_idempotent_and_keeps_the_order(one in any_scopes(), other in any_scopes()) {
        let limits = AuthLimits::default();
        let union = one.union(&other, &limits).unwrap();
        prop_assert!(union.covers(&one) && union.covers(&other));
        prop_assert_eq!(&union.union(&other, &limits).unwrap(), &union);
        prop_assert_eq!(union.len(), one.len() + other.without(&one).len());
        let kept: Vec<String> = union.iter().take(one.len()).map(String::from).collect();
        prop_assert!(one.iter().eq(kept.iter().map(String::as_str)));
        prop_assert_eq!(scopes(&union.to_string()), union);
    }
}
