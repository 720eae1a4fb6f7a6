//! Admission of HTTP requests, and the form of refusals.

use mcp_proto::http::header::{Authority, Origin};
use mcp_proto::http::{
    Admitted, Headers, ParamHeaders, Policy, Post, PostedMessage, Refusal, admit as admit_head,
};
use mcp_proto::{Era, Raw, Revision};

/// The fields of a head, as names and values.
type Head = Vec<(String, Vec<u8>)>;

/// A request is admitted only from an allowed origin and with a head that matches its body, or
/// refused with a complete response.
///
/// The first byte picks the configured revisions, the rest of the first line is the HTTP method;
/// fields follow, each on its line, up to an empty one; the rest is the body.
pub fn admit(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let spoken = match first % 3 {
        0 => &Revision::ALL[..],
        1 => &[Revision::V2026_07_28],
        _ => &Revision::LEGACY[..],
    };
    let policy = Policy::default().revisions(spoken).with_body_bytes_max(2048).serve_method("x/y");
    let (verb, mut rest) = cut(rest);
    let verb = String::from_utf8_lossy(verb);
    let mut head = Head::new();
    loop {
        let (line, after) = cut(rest);
        rest = after;
        if line.is_empty() {
            break;
        }
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let name = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
        head.push((name, parts.next().unwrap_or_default().to_vec()));
    }
    let outcome = request(&policy, &verb, &head, rest);
    // Each name in another case, and the fields in reverse order.
    let twin = |(name, value): &(String, Vec<u8>)| {
        let swap = |c: char| {
            if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
        };
        (name.chars().map(swap).collect(), value.clone())
    };
    let twin: Head = head.iter().rev().map(twin).collect();
    assert_eq!(
        request(&policy, &verb, &twin, rest),
        outcome,
        "neither case nor order of the fields matters"
    );
}

fn cut(data: &[u8]) -> (&[u8], &[u8]) {
    match data.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&data[..end], &data[end + 1..]),
        None => (data, &[]),
    }
}

fn request(
    policy: &Policy,
    verb: &str,
    head: &Head,
    body: &[u8],
) -> Result<(Admitted, Option<Post>), Refusal> {
    let outcome = admit_head(policy, verb, head).and_then(|admitted| match &admitted {
        Admitted::Post(first) => {
            let post = first.read(policy, head, body, &schema)?;
            Ok((admitted, Some(post)))
        }
        Admitted::Get(_) | Admitted::Delete(_) => Ok((admitted, None)),
    });
    match &outcome {
        Ok((admitted, post)) => came_in(policy, head, admitted, post.as_ref(), body),
        Err(refusal) => refused(refusal),
    }
    outcome
}

/// Returns a schema that mirrors two arguments, for every tool.
fn schema(_tool: &str) -> Option<Raw> {
    let schema = r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},"n":{"type":"integer","x-mcp-header":"N"}}}"#;
    Raw::from_text(schema).ok()
}

fn came_in(policy: &Policy, head: &Head, admitted: &Admitted, post: Option<&Post>, body: &[u8]) {
    let host = head.single("host").ok().flatten().and_then(Authority::parse);
    assert!(host.is_some_and(|host| host.is_loopback()), "{head:?}");
    if let Some(origin) = head.value("origin", 0) {
        assert!(Origin::parse(origin).is_some_and(|origin| origin.is_loopback()), "{head:?}");
    }
    match (admitted, post) {
        (Admitted::Get(_) | Admitted::Delete(_), _) => assert!(policy.offers_sessions()),
        (Admitted::Post(_), None) => panic!("a body goes somewhere"),
        (_, Some(Post::Modern { revision, message })) => {
            assert!(policy.supports(*revision) && revision.era() == Era::Modern);
            alone(head, *revision, message, body);
        }
        (_, Some(Post::Sessionless { revision, .. })) => {
            assert!(!policy.offers_sessions() && policy.supports(*revision));
            assert!(revision.era() == Era::Legacy);
        }
        (_, Some(Post::Initialize { .. })) => assert!(policy.offers_sessions()),
        (_, Some(Post::Session { version, .. })) => {
            assert!(version.is_none_or(|version| policy.supports(version)));
            assert!(
                head.value("mcp-session-id", 0).is_some()
                    && head.value("mcp-session-id", 1).is_none()
            );
        }
    }
}

/// Checks that head and body of a modern request agree.
fn alone(head: &Head, revision: Revision, message: &PostedMessage, body: &[u8]) {
    let said = |name| head.single(name).ok().flatten().map(|value| value.trim_ascii().to_vec());
    assert_eq!(said("mcp-protocol-version"), Some(revision.name().as_bytes().to_vec()));
    let body = Raw::from_text(std::str::from_utf8(body).unwrap_or_default());
    let Ok(body) = body else { panic!("the body is not JSON") };
    match message {
        PostedMessage::Request { method, .. } => {
            assert_eq!(said("mcp-method"), Some(method.as_bytes().to_vec()));
            let arguments = body.member("params").and_then(|params| params.member("arguments"));
            if &**method == "tools/call"
                && body.member("params").is_some_and(|params| is_named(&params))
            {
                let mirror = schema("")
                    .and_then(|schema| ParamHeaders::from_schema(&schema).ok())
                    .unwrap_or_default();
                assert_eq!(mirror.check(arguments.as_ref(), head), Ok(()));
            }
        }
        PostedMessage::Notification { .. } => {}
        PostedMessage::Response | PostedMessage::Batch { .. } => {
            panic!("{message:?} is not modern")
        }
    }
}

fn is_named(params: &Raw) -> bool {
    params.member("name").is_some_and(|name| name.to_text().is_some())
}

fn refused(refusal: &Refusal) {
    assert!((400..500).contains(&refusal.status) || refusal.status == 501, "{refusal}");
    for (_, value) in &refusal.headers {
        assert!(value.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{value:?}");
    }
    if refusal.body.is_empty() {
        return;
    }
    let body = std::str::from_utf8(&refusal.body).ok().and_then(|body| Raw::from_text(body).ok());
    let Some(body) = body else { panic!("{refusal} has a body that is not JSON") };
    // ID-05: an id is echoed exactly, also with an unpaired surrogate, which `Raw` replaces.
    assert!(!refusal.body.iter().any(|byte| b"\r\n".contains(byte)), "not on one line: {body}");
    assert!(body.member("error").is_some_and(|error| error.member("code").is_some()), "{body}");
}
