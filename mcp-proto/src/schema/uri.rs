//! The syntax of URIs, as far as rules of the protocol depend on it.

/// Returns the scheme of a URI; `None` if `text` does not begin with one.
pub(crate) fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || matches!(char, '+' | '-' | '.'));
    is_scheme.then_some(scheme)
}

/// Returns whether the scheme of a URI is one of `schemes`.
pub(crate) fn has_scheme(text: &str, schemes: &[&str]) -> bool {
    scheme(text).is_some_and(|scheme| schemes.iter().any(|it| scheme.eq_ignore_ascii_case(it)))
}

/// Returns whether `text` is a URI: it has a scheme and no control characters.
///
/// Other characters that RFC 3986 excludes are allowed, because servers use them in practice.
pub(crate) fn is_uri(text: &str) -> bool {
    scheme(text).is_some() && !text.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_has_a_scheme_and_no_control_characters_sec_02() {
        for (text, expected) in [
            ("file:///a", Some("file")),
            ("a+b-c.1:x", Some("a+b-c.1")),
            ("note:", Some("note")),
            ("HTTPS://a b/\u{fc}", Some("HTTPS")),
            ("", None),
            (":x", None),
            ("../../etc/passwd", None),
            ("/etc/passwd", None),
            ("1a:x", None),
            ("a b:x", None),
        ] {
            assert_eq!((scheme(text), is_uri(text)), (expected, expected.is_some()), "{text:?}");
        }
        for control in ["file:///a\0", "file:///a\nb", "a:\u{85}"] {
            assert!(!is_uri(control), "{control:?}");
        }
    }
}
