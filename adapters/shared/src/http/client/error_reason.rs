//! A server's explanation of an error status, without the credentials that it may repeat.

use std::time::Duration;

use futures_lite::future::or;
use http::header::{AUTHORIZATION, PROXY_AUTHORIZATION};
use http::{HeaderMap, HeaderValue, Uri};
use mcp_proto::client::Client as Machine;
use mcp_proto::http::client::error_text;
use mcp_proto::http::remove_secrets;

use super::remote::Remote;
use super::response::ResponseStream;
use crate::transport::link::Link;

/// The maximum length of a body with an explanation; longer ones are not reported.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// How long the body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(1);

/// The explanation of an error response, and the beginning of its body.
#[derive(Debug, Default)]
pub(super) struct Explained {
    /// Empty if there is no explanation.
    pub(super) reason: String,
    /// What was read of the body.
    pub(super) body: Vec<u8>,
    /// Whether the body was cut off.
    pub(super) is_cut: bool,
}

/// Reads the explanation from the body and the challenges of a response. A body that is too long,
/// too slow or cut off has none, because a part could end within a credential.
pub(super) async fn read(
    link: &Link<Machine>,
    fields: &HeaderMap,
    body: &mut ResponseStream,
    credentials: &Credentials<'_>,
) -> Explained {
    let mut explained = Explained::default();
    let too_late = async {
        link.sleep_until(link.clock.now() + BODY_TIMEOUT).await;
        false
    };
    let is_whole = or(read_whole(link, body, &mut explained), too_late).await;
    let body = if is_whole { &*explained.body } else { &[] };
    explained.reason = text_of(fields, body, credentials).unwrap_or_default();
    explained
}

/// Reads a body. Returns whether it is complete.
async fn read_whole(
    link: &Link<Machine>,
    body: &mut ResponseStream,
    explained: &mut Explained,
) -> bool {
    while let Some(data) = body.next().await {
        let Ok(data) = data else {
            explained.is_cut = true;
            return false;
        };
        link.trace.input(&data);
        explained.body.extend_from_slice(&data);
        if explained.body.len() > BODY_BYTES_MAX {
            return false;
        }
    }
    true
}

/// Returns the explanation in a body and in challenges.
fn text_of(fields: &HeaderMap, body: &[u8], credentials: &Credentials<'_>) -> Option<String> {
    error_text(fields, body, |text| remove_secrets(&text, &credentials.secrets()))
}

/// The credentials of a request.
pub(super) struct Credentials<'r> {
    pub(super) remote: &'r Remote,
    pub(super) target: &'r Uri,
    pub(super) authorization: Option<&'r HeaderValue>,
    pub(super) proxy_authorization: Option<&'r HeaderValue>,
    pub(super) session_id: Option<&'r str>,
}

impl Credentials<'_> {
    /// Returns the secret parts of the request.
    fn secrets(&self) -> Vec<&str> {
        let fields = self.remote.fields.iter().map(|(name, value)| (name, value));
        fields
            .chain(self.authorization.map(|value| (&AUTHORIZATION, value)))
            .chain(self.proxy_authorization.map(|value| (&PROXY_AUTHORIZATION, value)))
            .filter_map(|(name, value)| Some((name, value.to_str().ok()?)))
            .map(|(name, value)| match value.split_once(' ') {
                // The authentication scheme, such as `Bearer`, is no secret.
                Some((_, token)) if [AUTHORIZATION, PROXY_AUTHORIZATION].contains(name) => token,
                _ => value,
            })
            .chain([&self.remote.target, self.target].into_iter().filter_map(Uri::query))
            .chain(self.session_id)
            .flat_map(|secret| {
                let parts = secret.split(|it: char| it.is_whitespace() || "=;,&\"".contains(it));
                parts.filter(|part| part.len() >= PART_BYTES_MIN).chain([secret.trim()])
            })
            .collect()
    }
}

/// The minimum length of a part of a credential that is removed by itself.
const PART_BYTES_MIN: usize = 6;

#[cfg(test)]
mod tests {
    use http::header::WWW_AUTHENTICATE;

    use super::*;

    fn reason(body: &str) -> Option<String> {
        let fields = HeaderMap::new();
        with_credentials(|credentials| text_of(&fields, body.as_bytes(), credentials))
    }

    fn with_credentials<T>(read: impl FnOnce(&Credentials<'_>) -> T) -> T {
        let remote = Remote::new("http://localhost/mcp?key=of-the-url")
            .unwrap()
            .header("x-api-key", "of-the-field and-more")
            .unwrap();
        let authorization = HeaderValue::from_static("Bearer of-ada");
        let proxy_authorization = HeaderValue::from_static("Basic of-the-proxy");
        let credentials = Credentials {
            remote: &remote,
            target: &remote.target,
            authorization: Some(&authorization),
            proxy_authorization: Some(&proxy_authorization),
            session_id: Some("of-the-session"),
        };
        read(&credentials)
    }

    #[test]
    fn the_description_of_a_challenge_is_found() {
        for (challenge, text) in [
            (
                r#"Bearer error="invalid_token", error_description="The token is old""#,
                "The token is old",
            ),
            (
                r#"Basic realm="a", Bearer error_description="of-ada is unknown""#,
                "[removed] is unknown",
            ),
            (r#"Bearer error="invalid_token""#, "invalid_token"),
            (
                r#"Bearer error="insufficient_scope", scope="a b", error_description="of-ada""#,
                "[removed] (scope: a b)",
            ),
            ("Bearer", ""),
        ] {
            let fields = [(WWW_AUTHENTICATE, HeaderValue::from_static(challenge))];
            let fields: HeaderMap = fields.into_iter().collect();
            let found = with_credentials(|credentials| text_of(&fields, b"", credentials));
            assert_eq!(found.unwrap_or_default(), text, "{challenge}");
        }
    }

    #[test]
    fn the_message_of_an_error_is_found() {
        for body in [
            r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no token"}}"#,
            r#"{"error":"invalid_token","error_description":"no token"}"#,
            r#"{"message":"no token"}"#,
            r#"{"detail":"no token"}"#,
            r#"{"error":"no token"}"#,
            r#""no token""#,
            "no\n\u{1b} token\r\n",
        ] {
            assert_eq!(reason(body).as_deref(), Some("no token"), "{body}");
        }
        assert_eq!(reason("<html>no token</html>").as_deref(), Some("no token"));
        for body in ["", " ", "{}", "<html></html>"] {
            assert_eq!(reason(body), None, "{body}");
        }
    }

    #[test]
    fn credentials_are_removed() {
        for secret in [
            "of-ada",
            "of-the-field",
            "and-more",
            "of-the-url",
            "key=of-the-url",
            "of-the-proxy",
            "of-the-session",
        ] {
            for body in [
                format!("unknown: {secret}!"),
                format!(r#"{{"message":"\u0075nknown: {}!"}}"#, secret.replace('-', "\\u002d")),
                format!(r#"{{"message":"unknown: {secret}!"}}"#),
                // G-19: encoded, and JSON that quotes JSON.
                format!("unknown: {}!", secret.replace('-', "%2d")),
                format!(r#"{{"message":"unknown: {}!"}}"#, secret.replace('-', "\\\\u002d")),
            ] {
                assert_eq!(reason(&body).as_deref(), Some("unknown: [removed]!"), "{body}");
            }
        }
    }

    #[test]
    fn long_credentials_are_removed_before_the_text_is_shortened() {
        let token = "ab/cd".repeat(120);
        let escaped = token.replace('/', "\\/").replace('a', "\\u0061");
        let remote = Remote::new("http://localhost/mcp").unwrap();
        let authorization = HeaderValue::try_from(format!("Bearer {token}")).unwrap();
        let credentials = Credentials {
            remote: &remote,
            target: &remote.target,
            authorization: Some(&authorization),
            proxy_authorization: None,
            session_id: None,
        };
        for offset in [0, 200] {
            let start = "x".repeat(offset);
            for body in [
                format!("{start}{token}!"),
                format!(r#"{{"message":"{start}{escaped}!"}}"#),
                format!(r#"{{"detail":[{{"input":"{start}{token}!"}}]}}"#),
                format!(r#"{{"detail":[{{"input":"{start}{escaped}!"}}]}}"#),
            ] {
                let text = text_of(&HeaderMap::new(), body.as_bytes(), &credentials).unwrap();
                assert!(text.contains(&format!("{start}[removed]!")), "{text}");
            }
        }
    }
}
