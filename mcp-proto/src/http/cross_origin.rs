//! Cross-origin resource sharing (CORS): which web pages may read responses.

use alloc::borrow::Cow;
use alloc::string::String;

use super::headers::{Headers, all_values};
use super::policy::Policy;
use super::reply::Reply;
use crate::http::header::text;

/// The headers with which a browser lets a page of an allowed origin read responses.
///
/// A [`Policy`] that names an origin also lets its pages read the responses: without these headers,
/// browsers withhold them, and most requests are not even sent, because browsers first ask for
/// permission in a [preflight request]. Cookies are not shared; pages authenticate
/// with the `Authorization` header.
///
/// A driver creates a value from the head of each request, answers preflight requests with
/// [`preflight`](Self::preflight), and adds the [headers](Self::headers) to all other responses,
/// including refusals.
///
/// [preflight request]: https://fetch.spec.whatwg.org/#cors-preflight-request
///
/// ```
/// use mcp_proto::http::{CrossOrigin, Policy};
///
/// let policy = Policy::default().origin("https://app.example.com");
/// let head = [
///     ("host", "localhost"),
///     ("origin", "https://app.example.com"),
///     ("access-control-request-method", "POST"),
/// ];
/// let page = CrossOrigin::of(&policy, &head);
/// let reply = page.preflight(&policy, "OPTIONS", &head).unwrap();
/// assert_eq!(reply.status, 204);
/// assert_eq!(reply.headers[0], ("access-control-allow-origin", "https://app.example.com".into()));
/// assert!(page.preflight(&policy, "POST", &head).is_none());
///
/// let elsewhere = CrossOrigin::of(&policy, &[("origin", "https://evil.example")]);
/// let names: Vec<_> = elsewhere.headers().map(|(name, _)| name).collect();
/// assert_eq!(names, ["vary"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct CrossOrigin {
    /// The allowed origin of the request, if it has one.
    origin: Option<String>,
    /// Responses depend on the origin of the request.
    varies: bool,
}

impl CrossOrigin {
    /// Reads the origin of a request with these headers.
    // F-55: a page of an allowed origin can read the response.
    #[must_use]
    pub fn of(policy: &Policy, fields: &dyn Headers) -> Self {
        if !policy.shares() {
            return Self { origin: None, varies: false };
        }
        let varies = true;
        let Ok(Some(origin)) = fields.single("origin") else {
            return Self { origin: None, varies };
        };
        // Echoed into a header, so it must be visible ASCII.
        let origin = text(origin).filter(|origin| {
            origin.bytes().all(|byte| byte.is_ascii_graphic())
                && policy.shares_with(origin.as_bytes())
        });
        Self { origin: origin.map(Into::into), varies }
    }

    /// Answers a preflight request; returns `None` for any other request.
    ///
    /// Call this after [`check_origin`](super::check_origin), and before the client is
    /// authenticated: browsers send no credentials here. The response names the methods of the
    /// policy, the headers of the protocol, and the requested `Mcp-Param-*` headers. Browsers may
    /// keep it for two hours.
    #[must_use]
    pub fn preflight(&self, policy: &Policy, verb: &str, fields: &dyn Headers) -> Option<Reply> {
        self.origin.as_ref()?;
        if verb != "OPTIONS" || fields.value("access-control-request-method", 0).is_none() {
            return None;
        }
        let methods = if policy.offers_sessions() { "POST, GET, DELETE" } else { "POST" };
        let mut allowed = String::from(REQUEST_HEADERS);
        for name in requested_params(fields) {
            allowed.push_str(", ");
            allowed.push_str(name);
        }
        let mut reply = Reply::empty(204);
        reply.headers.extend(self.headers().filter(|(name, _)| *name != EXPOSE));
        reply.headers.push(("access-control-allow-methods", methods.into()));
        reply.headers.push(("access-control-allow-headers", allowed.into()));
        reply.headers.push(("access-control-max-age", "7200".into()));
        Some(reply)
    }

    /// Returns whether [`headers`](Self::headers) returns any: whether the policy names an origin.
    #[must_use]
    pub const fn has_headers(&self) -> bool {
        self.varies
    }

    /// Returns the headers to add to a response.
    ///
    /// To a request that is not from an allowed page, this is at most `Vary`.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, Cow<'static, str>)> + use<> {
        let headers = self.origin.clone().map(|origin| {
            [("access-control-allow-origin", origin.into()), (EXPOSE, RESPONSE_HEADERS.into())]
        });
        // Caches must not hand the response to a page of another origin.
        let vary = self.varies.then(|| ("vary", "Origin".into()));
        headers.into_iter().flatten().chain(vary)
    }

    /// Adds the headers to a response, unless it already says which origins may read it.
    pub fn apply(&self, reply: &mut Reply) {
        let name = "access-control-allow-origin";
        if !reply.headers.iter().any(|(known, _)| *known == name) {
            reply.headers.extend(self.headers());
        }
    }
}

/// Returns the names of `Mcp-Param-*` headers that a preflight request asks for.
fn requested_params(fields: &dyn Headers) -> impl Iterator<Item = &str> {
    let lists = all_values(fields, "access-control-request-headers");
    let names = lists.filter_map(text).flat_map(|list| list.split(',')).map(str::trim);
    names.filter(|name| {
        name.get(..PARAM.len()).is_some_and(|start| start.eq_ignore_ascii_case(PARAM))
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || MARKS.contains(&byte))
    })
}

/// The characters of a header name beside letters and digits.
const MARKS: &[u8] = b"!#$%&'*+-.^_`|~";

const PARAM: &str = "mcp-param-";

const EXPOSE: &str = "access-control-expose-headers";

/// The headers that pages may send. `Accept` and `Content-Type` need permission for some values.
const REQUEST_HEADERS: &str = "Accept, Authorization, Content-Type, Last-Event-ID, Mcp-Method, \
                               Mcp-Name, MCP-Protocol-Version, Mcp-Session-Id";

/// The headers that pages may read, besides those that all pages may read.
const RESPONSE_HEADERS: &str =
    "Mcp-Session-Id, MCP-Protocol-Version, Retry-After, WWW-Authenticate";

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use crate::revision::Revision;

    type List = Vec<(&'static str, &'static str)>;

    fn preflight_of(origin: &'static str) -> List {
        vec![("host", "localhost"), ("origin", origin), ("access-control-request-method", "POST")]
    }

    fn header<'a>(reply: &'a Reply, name: &str) -> Option<&'a str> {
        let mut values = reply.headers.iter().filter(|(known, _)| *known == name);
        let value = values.next().map(|(_, value)| &**value);
        assert!(values.next().is_none(), "{name} is repeated");
        value
    }

    fn answer(policy: &Policy, fields: &List) -> Option<Reply> {
        CrossOrigin::of(policy, fields).preflight(policy, "OPTIONS", fields)
    }

    #[test]
    fn a_preflight_request_of_an_allowed_origin_is_granted() {
        let local = "http://localhost:3000";
        let policy =
            Policy::default().origin("https://app.example.com").origin("null").origin(local);
        for origin in ["https://app.example.com", "null", local] {
            let reply = answer(&policy, &preflight_of(origin)).unwrap();
            assert_eq!(reply.status, 204);
            assert_eq!(header(&reply, "access-control-allow-origin"), Some(origin));
            assert_eq!(header(&reply, "vary"), Some("Origin"));
            let methods = header(&reply, "access-control-allow-methods");
            assert_eq!(methods, Some("POST, GET, DELETE"));
            assert_eq!(header(&reply, "access-control-allow-headers"), Some(REQUEST_HEADERS));
            assert_eq!(header(&reply, "access-control-max-age"), Some("7200"));
            assert_eq!(header(&reply, EXPOSE), None);
        }
        let modern = policy.revisions(&[Revision::V2026_07_28]);
        let reply = answer(&modern, &preflight_of("null")).unwrap();
        assert_eq!(header(&reply, "access-control-allow-methods"), Some("POST"));
    }

    #[test]
    fn only_parameters_may_be_added_to_the_headers() {
        let mut fields = preflight_of("http://localhost");
        fields.push(("access-control-request-headers", "content-type,mcp-param-city, x-evil"));
        fields.push(("Access-Control-Request-Headers", "Mcp-Param-Unit,mcp-param-a b,Mcp-Par"));
        fields.push(("access-control-request-headers", "mcp-param-a\r\nx: y"));
        fields.push(("access-control-request-headers", "mcp-param-é"));
        let policy = Policy::default().origin("http://localhost");
        let reply = answer(&policy, &fields).unwrap();
        let expected = alloc::format!("{REQUEST_HEADERS}, mcp-param-city, Mcp-Param-Unit");
        assert_eq!(header(&reply, "access-control-allow-headers"), Some(&*expected));
    }

    #[test]
    fn nothing_is_granted_to_other_requests() {
        let policy = Policy::default().origin("http://localhost");
        let mut twice = preflight_of("http://localhost");
        twice.push(("origin", "http://localhost"));
        let all = preflight_of("http://localhost");
        for fields in [
            preflight_of("https://evil.example"),
            // Accepted, but not configured.
            preflight_of("http://localhost:3000"),
            preflight_of("null"),
            preflight_of("http://localhost\r\nx: y"),
            twice,
            all[..1].to_vec(),
            all[2..].to_vec(),
        ] {
            assert_eq!(answer(&policy, &fields), None, "{fields:?}");
            let mut reply = Reply::empty(204);
            CrossOrigin::of(&policy, &fields).apply(&mut reply);
            let names: Vec<_> = reply.headers.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, ["vary"], "{fields:?}");
        }
        assert_eq!(answer(&policy, &all[..2].to_vec()), None, "an ordinary OPTIONS request");
        let post = CrossOrigin::of(&policy, &all).preflight(&policy, "POST", &all);
        assert_eq!(post, None);
    }

    #[test]
    fn malformed_origins_are_not_echoed_although_any_origin_is_allowed() {
        let policy = Policy::default().any_origin();
        for (origin, is_echoed) in [("https://any.example", true), ("a b", false), ("é", false)] {
            let headers = CrossOrigin::of(&policy, &[("origin", origin)]).headers().count();
            assert_eq!(headers, if is_echoed { 3 } else { 1 }, "{origin}");
        }
    }

    #[test]
    fn a_response_is_readable_once() {
        let page = CrossOrigin::of(
            &Policy::default().origin("http://localhost"),
            &[("origin", "http://localhost")],
        );
        let mut reply = Reply::empty(401);
        page.apply(&mut reply);
        page.apply(&mut reply);
        assert_eq!(header(&reply, "access-control-allow-origin"), Some("http://localhost"));
        assert_eq!(header(&reply, EXPOSE), Some(RESPONSE_HEADERS));
    }
}
