//! Spellings of a URI that differ in percent-encoding.

use alloc::borrow::Cow;

use super::*;

/// Percent-encodes the characters of `uri` whose position `picked` contains, if that keeps the URI
/// equivalent.
fn respelled(uri: &str, picked: &[usize]) -> String {
    let mut out = String::new();
    for (at, char) in uri.chars().enumerate() {
        if picked.contains(&at) && char != '%' && !chars::is_reserved(char) {
            for byte in char.to_string().bytes() {
                out.push_str(&format!("%{byte:02x}"));
            }
        } else {
            out.push(char);
        }
    }
    out
}

#[test]
fn equivalent_spellings_match_alike() {
    for (pattern, plain, encoded) in [
        ("note://{name}", "note://guarded", "note://%67uarded"),
        ("note://{name}", "note://a-b.c_d~e", "note://a%2Db%2ec%5F%64%7E%65"),
        ("note://{name}", "note://a%2Fb", "note://a%2fb"),
        ("note://{name}", "note://é", "note://%C3%a9"),
        ("files:///private/{+path}", "files:///private/x", "files:///%70rivate/%78"),
        ("files:///%70rivate/{+path}", "files:///private/x", "files:///priv%61te/x"),
        ("a%20b/{x}", "a b/1", "a%20b/1"),
        ("{a}:{+b}", "x:y z:w", "x:y%20z:w"),
        ("www{.dom*}", "www.example.com", "www.example%2Ecom"),
        ("x{.a,b}", "x.tar.gz", "x%2Etar%2egz"),
        ("m{;list*}", "m;list=1;list=2", "m;l%69st=1;list=%32"),
        ("m{;%6C*}", "m;l=1;l=2", "m;%6c=1;l=2"),
        ("s{?q,page}", "s?q=a%26b&page=2", "s?%71=a%26b&p%61ge=2"),
    ] {
        let expected = matched(pattern, plain);
        assert!(expected.is_some(), "{pattern} {plain}");
        assert_eq!(matched(pattern, encoded), expected, "{pattern} {encoded}");
    }
}

#[test]
fn encoded_reserved_characters_differ_from_plain_ones() {
    assert_eq!(matched("a/{x}", "a%2F1"), None);
    assert_eq!(matched("s?q={x}", "s?q%3D1"), None);
    assert_eq!(matched("a/{x}", "a/1%2F2").as_deref(), Some("x=1/2"));
    assert_eq!(matched("a/{x}", "a/%2541").as_deref(), Some("x=%41"));
}

#[test]
fn the_normalized_uri_has_one_spelling() {
    for (uri, expected) in [
        ("note://guarded", "note://guarded"),
        ("note://%67u%61rded", "note://guarded"),
        ("note://a%2fb%3A%25", "note://a%2Fb%3A%25"),
        ("note://%2541", "note://%2541"),
        ("note://%c3%A9%20", "note://é "),
        // Invalid: unchanged.
        ("note://%", "note://%"),
        ("note://%%34%31", "note://%%34%31"),
        ("note://%67%FF", "note://%67%FF"),
    ] {
        assert_eq!(normalize(uri), expected);
        assert_eq!(normalize(expected), expected, "{uri}");
    }
    assert!(matches!(normalize("note://guarded"), Cow::Borrowed(_)));
}

proptest! {
    #[test]
    fn spellings_of_an_expansion_match_alike(
        generated in generated("[a-yé ~/?#&=;:@!'<|_-]{0,4}"),
        picked in proptest::collection::vec(0_usize..48, 0..24),
    ) {
        let (text, values) = build(generated, "z");
        let pattern = template(&text);
        let uri = pattern.expand(&values);
        // The digits of a triple stay as they are.
        let is_percent = |at: usize| uri.as_bytes().get(at) == Some(&b'%');
        let is_digit = |at: &usize| (at.saturating_sub(2)..*at).any(is_percent);
        let picked: Vec<_> = picked.into_iter().filter(|at| !is_digit(at)).collect();
        let other = respelled(&uri, &picked);
        prop_assert_eq!(pattern.match_uri(&other), Some(values), "{} {}", text, other);
        prop_assert_eq!(normalize(&other), normalize(&uri));
    }
}
