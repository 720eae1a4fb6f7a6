//! Writing of the `WWW-Authenticate` challenges of the `Bearer` scheme.
//!
//! <https://www.rfc-editor.org/rfc/rfc6750#section-3>

use alloc::boxed::Box;
use alloc::string::String;

/// A challenge of the scheme `Bearer`.
pub(super) struct BearerChallenge<'a> {
    /// The error code and its description; `None` if the request had no credentials.
    // AUT-72: a request without credentials has made no error.
    pub(super) error: Option<(&'a str, &'a str)>,
    /// The scopes that the client should ask for.
    pub(super) scopes: &'a [Box<str>],
    /// The URL of the metadata of the protected resource.
    pub(super) metadata_url: &'a str,
}

impl BearerChallenge<'_> {
    /// Returns the value of the header.
    pub(super) fn to_value(&self) -> String {
        let mut value = String::from("Bearer ");
        if let Some((error, description)) = self.error {
            push_param(&mut value, "error", [error]);
            push_param(&mut value, "error_description", [description]);
        }
        if !self.scopes.is_empty() {
            push_param(&mut value, "scope", self.scopes.iter().map(|scope| &**scope));
        }
        push_param(&mut value, "resource_metadata", [self.metadata_url]);
        value
    }
}

/// Adds a parameter whose value is `words` with blanks between them.
///
/// `"` and `\` are escaped, and everything but printable ASCII is left out.
fn push_param<'a>(value: &mut String, name: &str, words: impl IntoIterator<Item = &'a str>) {
    if !value.ends_with(' ') {
        value.push_str(", ");
    }
    value.push_str(name);
    value.push_str("=\"");
    for (number, word) in words.into_iter().enumerate() {
        if number > 0 {
            value.push(' ');
        }
        for char in word.chars().filter(|char| matches!(char, ' '..='~')) {
            if matches!(char, '"' | '\\') {
                value.push('\\');
            }
            value.push(char);
        }
    }
    value.push('"');
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::http::header::challenges;

    fn printable(text: &str) -> String {
        text.chars().filter(|char| matches!(char, ' '..='~')).collect()
    }

    #[test]
    fn values_are_quoted() {
        let challenge = BearerChallenge {
            error: Some(("invalid_token", "a \"b\" \\ c\r\nX: y")),
            scopes: &["a".into(), "b".into()],
            metadata_url: "https://h/m",
        };
        assert_eq!(
            challenge.to_value(),
            "Bearer error=\"invalid_token\", error_description=\"a \\\"b\\\" \\\\ cX: y\", \
             scope=\"a b\", resource_metadata=\"https://h/m\""
        );
        let challenge = BearerChallenge { error: None, scopes: &[], ..challenge };
        assert_eq!(challenge.to_value(), "Bearer resource_metadata=\"https://h/m\"");
    }

    proptest! {
        #[test]
        fn the_parser_of_clients_reads_what_is_written(
            error: Option<(String, String)>,
            scopes: Vec<String>,
            metadata_url: String,
        ) {
            let error = error.as_ref().map(|(code, description)| (&**code, &**description));
            let scopes: Vec<Box<str>> = scopes.into_iter().map(Into::into).collect();
            let challenge = BearerChallenge { error, scopes: &scopes, metadata_url: &metadata_url };
            let value = challenge.to_value();
            let read = challenges(value.as_bytes()).unwrap();
            prop_assert_eq!((read.len(), read[0].scheme), (1, "Bearer"));
            let param = |name| read[0].param(name).map(ToString::to_string);
            prop_assert_eq!(param("error"), error.map(|(code, _)| printable(code)));
            prop_assert_eq!(param("error_description"), error.map(|(_, why)| printable(why)));
            let listed = (!scopes.is_empty()).then(|| printable(&scopes.join(" ")));
            prop_assert_eq!(param("scope"), listed);
            prop_assert_eq!(param("resource_metadata"), Some(printable(&metadata_url)));
        }
    }
}
