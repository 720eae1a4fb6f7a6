//! Finds the text of an error that is not a JSON-RPC error.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

use super::event::challenges;
use crate::http::Headers;
use crate::json::{Raw, unescape_text};
use crate::printable::printable;

/// The maximum length of the text of an error, in characters.
pub(super) const REASON_CHARS_MAX: usize = 256;

/// Returns the explanation of an unsuccessful response, [safe](crate::printable) for logs.
///
/// The text of the body is the message in a JSON object of a common form (JSON-RPC, OAuth, problem
/// details), other JSON without its escapes, HTML without its tags, or plain text. The text of the
/// challenges in `WWW-Authenticate`, with the scopes that the server requires, follows if it says
/// more. The explanation has at most 256 characters. Returns `None` if there is no text.
///
/// `remove_secrets` receives each text before it is shortened, and removes the credentials of the
/// request, which the server may repeat.
///
/// ```
/// use mcp_proto::http::client::error_text;
///
/// let challenge = r#"Bearer error="insufficient_scope", scope="read write""#;
/// let fields = [("www-authenticate", challenge)];
/// let body = br#"{"message":"forbidden for abc"}"#;
/// let remove_secrets = |text: String| text.replace("abc", "[removed]");
/// assert_eq!(
///     error_text(&fields, body, remove_secrets).unwrap(),
///     "forbidden for [removed]; insufficient_scope (scope: read write)"
/// );
///
/// let html = b"<html><h1>502 Bad Gateway</h1><hr>nginx</html>";
/// let fields = [("content-type", "text/html")];
/// assert_eq!(error_text(&fields, html, |text| text).unwrap(), "502 Bad Gateway nginx");
/// assert_eq!(error_text(&fields, b"{}", |text| text), None);
/// ```
#[must_use]
pub fn error_text(
    fields: &dyn Headers,
    body: &[u8],
    remove_secrets: impl Fn(String) -> String,
) -> Option<String> {
    match (body_text(body, &remove_secrets), challenge_text(fields, &remove_secrets)) {
        (Some(body), Some(challenge)) if challenge.contains(&body) => Some(challenge),
        (Some(body), Some(challenge)) if !body.contains(&challenge) => {
            // A page does not hide the scopes.
            let body = printable(body.as_bytes(), REASON_CHARS_MAX / 2);
            Some(printable(format!("{body}; {challenge}").as_bytes(), REASON_CHARS_MAX))
        }
        (body, challenge) => body.or(challenge),
    }
}

/// Returns the text in the body of an unsuccessful response.
pub(super) fn body_text(
    body: &[u8],
    remove_secrets: impl FnOnce(String) -> String,
) -> Option<String> {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let json = core::str::from_utf8(body).ok().and_then(|text| Raw::from_text(text).ok());
    let text = match (&json, body.trim_ascii_start().first()) {
        (Some(json), _) => json_text(json)?,
        (None, Some(b'<')) => Cow::Owned(html_text(body)),
        // Incomplete JSON.
        (None, Some(b'{' | b'[' | b'"')) => {
            Cow::Owned(unescape_text(&String::from_utf8_lossy(body)).into_owned())
        }
        (None, _) => String::from_utf8_lossy(body),
    };
    let text = shortened(&text, remove_secrets)?;
    // A compressed body, or other data that is no text.
    let unreadable = text.chars().filter(|char| *char == char::REPLACEMENT_CHARACTER).count();
    (unreadable <= text.chars().count() / 4).then_some(text)
}

/// Returns the beginning of a text, unless it is empty. A credential is recognized only as a whole,
/// so all are removed first.
fn shortened(text: &str, remove_secrets: impl FnOnce(String) -> String) -> Option<String> {
    let text = remove_secrets(printable(text.as_bytes(), usize::MAX));
    let text = printable(text.as_bytes(), REASON_CHARS_MAX);
    (!text.is_empty()).then_some(text)
}

/// Returns the message in an error of a common form, or the JSON itself without escapes.
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
        None => json.to_text().or_else(|| Some(unescape_text(json.as_str()))),
    }
}

/// Returns the text between the tags of HTML, without styles and scripts.
fn html_text(html: &[u8]) -> String {
    let html = String::from_utf8_lossy(html);
    // The offsets are those of `html`: only ASCII letters change.
    let lowercase = html.to_ascii_lowercase();
    let (mut text, mut rest) = (String::new(), &*html);
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        let lowercase = lowercase.get(html.len() - tag.len()..).unwrap_or_default();
        let end = if lowercase.starts_with("script") {
            lowercase.find("</script")
        } else if lowercase.starts_with("style") {
            lowercase.find("</style")
        } else {
            Some(0)
        };
        rest = end.and_then(|end| tag.get(end..)?.split_once('>')).map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    text
}

/// Returns the reason of status 401 or 403 in the challenge of the server.
pub(super) fn challenge_text(
    fields: &dyn Headers,
    remove_secrets: impl FnOnce(String) -> String,
) -> Option<String> {
    let challenges = challenges(fields);
    let param = |name: &str| challenges.iter().find_map(|challenge| challenge.param(name));
    let text = match (param("error"), param("error_description"), param("scope")) {
        (None, None, _) => return None,
        (_, Some(description), None) => String::from(description),
        (error, description, scope) => {
            let why = description.or(error).unwrap_or_default();
            scope.map_or_else(|| why.into(), |scope| format!("{why} (scope: {scope})"))
        }
    };
    shortened(&text, remove_secrets)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn error_text(body: &[u8]) -> Option<String> {
        body_text(body, |text| text)
    }

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
        let text = |value: &str| challenge_text(&[("www-authenticate", value)], |text| text);
        assert_eq!(text("Bearer"), None);
        assert_eq!(text(r#"Bearer resource_metadata="https://a.example", scope="a""#), None);
        assert_eq!(text(r#"Bearer error="invalid_token""#).as_deref(), Some("invalid_token"));
        let scope = r#"Bearer error="insufficient_scope", scope="a b", error_description="more""#;
        assert_eq!(text(scope).as_deref(), Some("more (scope: a b)"));
    }

    #[test]
    fn body_and_challenge_are_joined_aut_11() {
        let text = |challenge: &str, body: &str| {
            let fields = [("www-authenticate", challenge)];
            super::error_text(&fields, body.as_bytes(), |text| text).unwrap_or_default()
        };
        let scope = r#"Bearer error="insufficient_scope", scope="a b", error_description="more""#;
        assert_eq!(text(scope, ""), "more (scope: a b)");
        assert_eq!(text(scope, "more"), "more (scope: a b)");
        let body = r#"{"error":"insufficient_scope"}"#;
        assert_eq!(text(scope, body), "insufficient_scope; more (scope: a b)");
        assert_eq!(text(r#"Bearer error="no""#, "no token"), "no token");
        assert_eq!(text("Bearer", "no token"), "no token");
        assert_eq!(text("Bearer", ""), "");
        let long = text(scope, &"page ".repeat(99));
        assert!(long.ends_with("…; more (scope: a b)"), "{long}");
    }

    #[test]
    fn credentials_are_removed_before_a_text_is_shortened() {
        let token = "ab/cd".repeat(120);
        let escaped = token.replace('/', "\\/").replace('a', "\\u0061");
        let remove = |text: String| text.replace(&token, "[removed]");
        for offset in [0, 200] {
            let start = "x".repeat(offset);
            let explained = alloc::format!("{start}[removed]!");
            for body in [
                alloc::format!("{start}{token}!"),
                alloc::format!("<p>{start}{token}!</p>"),
                alloc::format!(r#"{{"message":"{start}{escaped}!"}}"#),
            ] {
                assert_eq!(body_text(body.as_bytes(), remove).unwrap(), explained, "{body}");
            }
            for body in [
                alloc::format!(r#"{{"detail":[{{"input":"{start}{token}!"}}]}}"#),
                alloc::format!(r#"{{"detail":[{{"input":"{start}{escaped}!"}}]}}"#),
                alloc::format!(r#"{{"detail":[{{"input":"{start}{escaped}!""#),
                alloc::format!("\u{feff}[\"{start}{escaped}!\"]"),
            ] {
                let text = body_text(body.as_bytes(), remove).unwrap();
                assert!(text.contains(&explained), "{text}");
            }
            let challenge =
                alloc::format!(r#"Bearer error="e", error_description="{start}{token}!""#);
            let fields = [("www-authenticate", challenge)];
            assert_eq!(challenge_text(&fields, remove).unwrap(), explained);
        }
    }

    #[test]
    fn html_is_read_in_linear_time() {
        let styles = "<STYLE</style>".repeat(64 * 1024 / 14);
        let scripts = "<script>".repeat(8 * 1024);
        let open = "<".repeat(64 * 1024);
        for html in [&styles, &scripts, &open] {
            let html = alloc::format!("<b>502{html}");
            assert_eq!(error_text(html.as_bytes()).unwrap(), "502");
        }
        let html: Vec<u8> = [b"<style>x</style>".repeat(4096), b"end".to_vec()].concat();
        assert_eq!(error_text(&html).unwrap(), "end");
    }
}
