//! Admission of requests to the two endpoints of HTTP+SSE, by their heads.

use alloc::boxed::Box;

use crate::http::admit::{
    EVENT_STREAM, ID_BYTES_MAX, check_body_headers, check_origin, is_accepted,
};
use crate::http::header::visible;
use crate::http::headers::Headers;
use crate::http::policy::Policy;
use crate::http::refusal::Refusal;
use crate::http::request_headers::RequestHeaders;

/// The name of the query parameter with the session id.
pub(super) const SESSION_ID: &str = "session_id";

/// Admits or rejects a request to the endpoint that opens streams.
///
/// Checks `Host` and `Origin`, as [`admit`](crate::http::admit) does, then the method, which must
/// be GET, and `Accept`.
///
/// ```
/// use mcp_proto::http::{Policy, legacy_sse};
///
/// let fields = [("host", "localhost"), ("accept", "text/event-stream")];
/// assert!(legacy_sse::admit_stream(&Policy::default(), "GET", &fields).is_ok());
/// let refusal = legacy_sse::admit_stream(&Policy::default(), "POST", &fields).unwrap_err();
/// assert_eq!(refusal.status, 405);
/// ```
///
/// # Errors
/// Returns the [`Refusal`] to send, for the first check that fails. To a POST, its status is 405,
/// which makes clients try HTTP+SSE.
// HTTP-55: `Origin` is validated on all connections. LIF-36: 405 to a POST.
pub fn admit_stream(policy: &Policy, verb: &str, fields: &dyn Headers) -> Result<(), Refusal> {
    check_origin(policy, fields)?;
    check_sessions(policy)?;
    if verb != "GET" {
        let why = "this endpoint of HTTP+SSE accepts only GET";
        return Err(Refusal::new(405, why).header("allow", "GET"));
    }
    let headers = &RequestHeaders::of(fields);
    if is_accepted(headers, EVENT_STREAM) {
        Ok(())
    } else {
        Err(Refusal::new(406, "`Accept` must include `text/event-stream`"))
    }
}

/// Admits or rejects a request to the message endpoint, and returns the id of its session.
///
/// `query` is the query of the request. Checks `Host` and `Origin`, as
/// [`admit`](crate::http::admit) does, then the method, which must be POST, the headers about the
/// body, and the session id in the query. Whether the session exists is for the driver to check.
///
/// # Errors
/// Returns the [`Refusal`] to send, for the first check that fails.
// HTTP-55: `Origin` is validated on all connections.
pub fn admit_message(
    policy: &Policy,
    verb: &str,
    fields: &dyn Headers,
    query: Option<&str>,
) -> Result<Box<str>, Refusal> {
    check_origin(policy, fields)?;
    check_sessions(policy)?;
    if verb != "POST" {
        let why = "the message endpoint of HTTP+SSE accepts only POST";
        return Err(Refusal::new(405, why).header("allow", "POST"));
    }
    check_body_headers(policy, &RequestHeaders::of(fields))?;
    let mut ids = query.unwrap_or_default().split('&').filter_map(|parameter| {
        parameter.strip_prefix(SESSION_ID).and_then(|rest| rest.strip_prefix('='))
    });
    let (Some(id), None) = (ids.next(), ids.next()) else {
        return Err(Refusal::new(400, "exactly one query parameter `session_id` is required"));
    };
    match visible(id.as_bytes(), ID_BYTES_MAX) {
        Some(id) => Ok(id.into()),
        None => Err(Refusal::unknown_session(None)),
    }
}

/// HTTP+SSE belongs to the legacy era.
fn check_sessions(policy: &Policy) -> Result<(), Refusal> {
    if policy.offers_sessions() { Ok(()) } else { Err(Refusal::new(404, "not found")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revision::Revision;

    type Fields<'a> = &'a [(&'a str, &'a str)];

    const JSON: Fields<'static> = &[("host", "localhost"), ("content-type", "application/json")];

    #[test]
    fn a_stream_is_opened_by_get_http_55_http_57() {
        let policy = &Policy::default();
        let host = ("host", "localhost");
        for (verb, fields, status) in [
            ("GET", &[host, ("accept", "text/event-stream")][..], 200),
            ("GET", &[host, ("accept", "*/*")], 200),
            ("GET", &[host], 200),
            ("GET", &[host, ("accept", "application/json")], 406),
            ("GET", &[("host", "evil.example")], 403),
            ("GET", &[], 400),
            ("GET", &[host, ("origin", "https://evil.example")], 403),
            ("GET", &[host, ("origin", "http://localhost:3000")], 200),
            ("POST", &[host], 405),
            ("POST", &[host, ("origin", "null")], 403),
            ("DELETE", &[host], 405),
        ] {
            let admitted = admit_stream(policy, verb, &fields);
            let found = admitted.map_or_else(|refusal| refusal.status, |()| 200);
            assert_eq!(found, status, "{verb} {fields:?}");
        }
        let modern = Policy::default().revisions(&[Revision::V2026_07_28]);
        assert_eq!(admit_stream(&modern, "GET", &[host]).unwrap_err().status, 404);
    }

    #[test]
    fn a_message_names_its_session_in_the_query_http_55_http_58() {
        let policy = &Policy::default();
        let long = alloc::format!("session_id={}", "x".repeat(257));
        for (verb, fields, query, found) in [
            ("POST", JSON, Some("session_id=7"), Ok("7")),
            ("POST", JSON, Some("a=b&session_id=7&c"), Ok("7")),
            ("POST", JSON, Some("session_id=7&session_id=8"), Err(400)),
            ("POST", JSON, Some("session_idx=7"), Err(400)),
            ("POST", JSON, Some("session_id="), Err(404)),
            ("POST", JSON, Some(&*long), Err(404)),
            ("POST", JSON, None, Err(400)),
            ("GET", JSON, Some("session_id=7"), Err(405)),
            ("POST", &JSON[..1], Some("session_id=7"), Err(415)),
            ("POST", &JSON[1..], Some("session_id=7"), Err(400)),
            (
                "POST",
                &[JSON[0], JSON[1], ("origin", "https://evil.example")],
                Some("session_id=7"),
                Err(403),
            ),
            ("POST", &[JSON[0], JSON[1], ("content-length", "99999999")], Some("s"), Err(413)),
        ] {
            let admitted = admit_message(policy, verb, &fields, query);
            let admitted = admitted.as_deref().map_err(|refusal| refusal.status);
            assert_eq!(admitted, found, "{verb} {fields:?} {query:?}");
        }
        let modern = Policy::default().revisions(&[Revision::V2026_07_28]);
        let refused = admit_message(&modern, "POST", &JSON, Some("session_id=7"));
        assert_eq!(refused.unwrap_err().status, 404);
    }
}
