//! Finds the text of an error that is not a JSON-RPC error.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use super::event::challenges;
use crate::http::Headers;
use crate::json::Raw;
use crate::printable::printable;

/// The maximum length of the text of an error, in characters.
pub(super) const REASON_CHARS_MAX: usize = 256;

/// Returns the text in the body of an unsuccessful response, [safe](crate::printable) for logs.
///
/// The text is the message in a JSON object of a common form (JSON-RPC, OAuth, problem details),
/// other JSON as it is, HTML without its tags, or plain text. It has at most 256 characters.
/// Returns `None` if the body has no text.
///
/// ```
/// use mcp_proto::http::client::error_text;
///
/// let text = |body: &str| error_text(body.as_bytes()).unwrap();
/// assert_eq!(text(r#"{"error":"no such server"}"#), "no such server");
/// assert_eq!(text("<html><h1>502 Bad Gateway</h1><hr>nginx</html>"), "502 Bad Gateway nginx");
/// assert_eq!(error_text(b"{}"), None);
/// ```
#[must_use]
pub fn error_text(body: &[u8]) -> Option<String> {
    let json = core::str::from_utf8(body).ok().and_then(|text| Raw::from_text(text).ok());
    let text = match &json {
        Some(json) => json_text(json)?,
        None if body.trim_ascii_start().starts_with(b"<") => Cow::Owned(html_text(body)),
        None => String::from_utf8_lossy(body),
    };
    let text = printable(text.as_bytes(), REASON_CHARS_MAX);
    // A compressed body, or other data that is no text.
    let unreadable = text.chars().filter(|char| *char == char::REPLACEMENT_CHARACTER).count();
    (!text.is_empty() && unreadable <= text.chars().count() / 4).then_some(text)
}

/// Returns the message in an error of a common form, or the JSON itself.
fn json_text(json: &Raw) -> Option<Cow<'_, str>> {
    let error = json.member("error");
    let inner = error.as_ref().and_then(|error| error.member("message"));
    let names = ["error_description", "message", "detail", "title"];
    let message = inner
        .into_iter()
        .chain(names.into_iter().filter_map(|name| json.member(name)))
        .chain(error)
        .find_map(|member| member.to_text().map(Cow::into_owned));
    match message {
        Some(text) => Some(text.into()),
        None if matches!(json.as_bytes(), b"{}" | b"[]" | b"null") => None,
        // A result under an error status is not its explanation.
        None if json.member("result").is_some() => None,
        None => json.to_text().or_else(|| Some(json.as_str().into())),
    }
}

/// Returns the text between the tags of HTML, without styles and scripts.
fn html_text(html: &[u8]) -> String {
    let html = String::from_utf8_lossy(html);
    let (mut text, mut rest) = (String::new(), &*html);
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        let is_tag = |name: &str| {
            tag.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        };
        let end = ["script", "style"].into_iter().find(|name| is_tag(name));
        let end = match end {
            Some(name) => tag.to_ascii_lowercase().find(&format!("</{name}")).map(|at| at + 2),
            None => Some(0),
        };
        rest = end.and_then(|end| tag.get(end..)?.split_once('>')).map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    text
}

/// Returns the reason of status 401 or 403 in the challenge of the server.
pub(super) fn challenge_text(fields: &dyn Headers) -> Option<Box<str>> {
    let challenges = challenges(fields);
    let param = |name: &str| challenges.iter().find_map(|challenge| challenge.param(name));
    let text = match (param("error"), param("error_description"), param("scope")) {
        (None, None, _) => return None,
        (_, Some(description), None) => description.into(),
        (error, description, scope) => {
            let why = description.or(error).unwrap_or_default();
            scope.map_or_else(|| why.into(), |scope| format!("{why} (scope: {scope})"))
        }
    };
    Some(printable(text.as_bytes(), REASON_CHARS_MAX).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    // HTTP-61
    #[test]
    fn the_text_of_any_error_body_is_found() {
        for body in [
            r#"{"jsonrpc":"2.0","error":{"code":"E1","message":"no token"}}"#,
            r#"{"error":"invalid_token","error_description":"no token"}"#,
            r#"{"message":"no token"}"#,
            r#"{"status":500,"detail":"no token"}"#,
            r#"{"error":"no token"}"#,
            r#""no token""#,
            "no\n\u{1b}[31m token\u{202e}\r\n",
            "<!doctype html><title>no</title><STYLE>p > a { x }</STYLE>\n<p class=\"a\">token",
        ] {
            assert_eq!(error_text(body.as_bytes()).as_deref(), Some("no token"), "{body}");
        }
        for (body, text) in [
            (r#"{"code": 1}"#, r#"{"code": 1}"#),
            (r#"{"detail":[{"msg":"missing"}]}"#, r#"{"detail":[{"msg":"missing"}]}"#),
            (r#"{"error":{"code":-32600}}"#, r#"{"error":{"code":-32600}}"#),
            ("[1]", "[1]"),
        ] {
            assert_eq!(error_text(body.as_bytes()).as_deref(), Some(text));
        }
        for body in
            ["", " \r\n", "{}", "[]", "null", r#"{"result":{}}"#, "<p></p>", "<script>x", "<"]
        {
            assert_eq!(error_text(body.as_bytes()), None, "{body}");
        }
        assert_eq!(error_text(&[b'x'; 9999]).unwrap().chars().count(), REASON_CHARS_MAX + 1);
        assert_eq!(error_text(b"bad \xff byte").unwrap(), "bad \u{fffd} byte");
        let compressed =
            b"\x1f\x8b\x08\x00\x8d\xfe\x29\x65\x02\xff\xcb\x48\xcd\xc9\xc9\x07\x00\x86\xa6";
        assert_eq!(error_text(compressed), None);
    }

    #[test]
    fn the_reason_in_a_challenge_is_found_aut_11() {
        let text = |value: &str| challenge_text(&[("www-authenticate", value)]);
        assert_eq!(text("Bearer"), None);
        assert_eq!(text(r#"Bearer resource_metadata="https://a.example", scope="a""#), None);
        assert_eq!(text(r#"Bearer error="invalid_token""#).as_deref(), Some("invalid_token"));
        let scope = r#"Bearer error="insufficient_scope", scope="a b", error_description="more""#;
        assert_eq!(text(scope).as_deref(), Some("more (scope: a b)"));
    }
}
