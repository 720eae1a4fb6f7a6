//! Tests of admission, in the order of the checks.

use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::http::testing::{List, checked, list, post_fields, with};

const MODERN: &[Revision] = &[Revision::V2026_07_28];

fn try_admit(verb: &str, fields: &List) -> Result<Admitted, u16> {
    admit(&Policy::default(), verb, fields).map_err(|refusal| {
        checked(&refusal);
        refusal.status
    })
}

fn status(verb: &str, fields: &List) -> u16 {
    try_admit(verb, fields).err().unwrap_or(200)
}

fn post(changes: &[(&str, Option<&str>)]) -> u16 {
    status("POST", &with(post_fields(), changes))
}

fn get_fields() -> List {
    list(&[("host", "[::1]:80"), ("accept", "text/event-stream"), ("mcp-session-id", "s-1")])
}

#[test]
fn a_post_from_loopback_is_admitted_http_55() {
    assert_eq!(post(&[]), 200);
    for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]", "[::1]:8080"] {
        let origin = format!("http://{host}");
        assert_eq!(post(&[("host", Some(host)), ("origin", Some(&origin))]), 200, "{host}");
    }
}

#[test]
fn rebound_host_names_are_rejected_http_55() {
    let evil = "evil.example.com";
    assert_eq!(post(&[("host", Some(evil)), ("origin", Some("http://evil.example.com"))]), 403);
    assert_eq!(post(&[("host", Some(evil))]), 403);
    assert_eq!(post(&[("host", Some("localhost.evil.example.com:8080"))]), 403);
    for host in [
        None,
        Some(""),
        Some("user@localhost"),
        Some("localhost\r\nx: y"),
        Some("localhost/"),
        Some("é"),
    ] {
        assert_eq!(post(&[("host", host)]), 400, "{host:?}");
    }
}

// HTTP-55
#[test]
fn foreign_origins_are_rejected_http_55_t_90() {
    for origin in [
        "https://evil.example",
        "null",
        "",
        "http://localhost.evil.example",
        "http://localhost\r\n",
        "*",
    ] {
        assert_eq!(post(&[("origin", Some(origin))]), 403, "{origin}");
        assert_eq!(
            status("GET", &with(get_fields(), &[("origin", Some(origin))])),
            403,
            "{origin}"
        );
        assert_eq!(
            status("DELETE", &with(get_fields(), &[("origin", Some(origin))])),
            403,
            "{origin}"
        );
        assert_eq!(
            status("PUT", &with(get_fields(), &[("origin", Some(origin))])),
            403,
            "checked before the HTTP method"
        );
    }
    let null = Policy::default().origin("null");
    assert!(admit(&null, "POST", &with(post_fields(), &[("origin", Some("null"))])).is_ok());
}

#[test]
fn repeated_singleton_headers_are_rejected() {
    for (name, value, expected) in [
        ("Host", "localhost:8080", 400),
        ("Origin", "http://localhost", 403),
        ("Content-Type", "application/json", 400),
        ("Content-Length", "5", 400),
    ] {
        let mut fields = with(post_fields(), &[(name, Some(value))]);
        assert_eq!(status("POST", &fields), 200, "{name}");
        fields.push((name.to_ascii_uppercase(), value.into()));
        assert_eq!(status("POST", &fields), expected, "{name}");
    }
    for name in ["mcp-session-id", "last-event-id", "mcp-protocol-version"] {
        let mut fields = with(get_fields(), &[(name, Some("2025-11-25"))]);
        assert_eq!(status("GET", &fields), 200, "{name}");
        fields.push((name.into(), "2025-11-25".into()));
        assert_eq!(status("GET", &fields), 400, "{name}");
    }
}

// HTTP-02: POST only. HTTP-23: 405 without streams for GET.
#[test]
fn unsupported_http_methods_are_rejected_with_allow_http_52() {
    for verb in ["PUT", "HEAD", "OPTIONS", "PATCH", "post", "Get", "", "POST ", "\u{1F600}"] {
        let refusal = admit(&Policy::default(), verb, &post_fields()).unwrap_err();
        checked(&refusal);
        assert_eq!(
            (refusal.status, &refusal.headers[0]),
            (405, &("allow", "POST, GET, DELETE".into())),
            "{verb}"
        );
    }
    let modern = Policy::default().revisions(MODERN);
    for verb in ["GET", "DELETE", "PUT"] {
        let refusal = admit(&modern, verb, &get_fields()).unwrap_err();
        checked(&refusal);
        assert_eq!(
            (refusal.status, &refusal.headers[0]),
            (405, &("allow", "POST".into())),
            "{verb}"
        );
    }
    let of_modern_client = with(get_fields(), &[("MCP-Protocol-Version", Some("2026-07-28"))]);
    assert_eq!((status("GET", &of_modern_client), status("DELETE", &of_modern_client)), (405, 405));
}

#[test]
fn a_body_must_be_json_t_91() {
    for kind in [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/json;charset=\"utf-8\"",
    ] {
        assert_eq!(post(&[("content-type", Some(kind))]), 200, "{kind}");
    }
    // The last three are the types that a cross-site form can send without a preflight.
    for kind in [
        None,
        Some(""),
        Some("application/jsonp"),
        Some("text/plain"),
        Some("multipart/form-data"),
        Some("application/x-www-form-urlencoded"),
    ] {
        assert_eq!(post(&[("content-type", kind)]), 415, "{kind:?}");
    }
    for (coding, expected) in
        [("gzip", 415), ("identity", 200), ("Identity", 200), ("", 200), ("identity, br", 415)]
    {
        assert_eq!(post(&[("content-encoding", Some(coding))]), expected, "{coding}");
    }
    for (coding, expected) in
        [("chunked", 200), ("Chunked", 200), ("gzip, chunked", 501), ("gzip", 501), ("", 501)]
    {
        assert_eq!(post(&[("transfer-encoding", Some(coding))]), expected, "{coding}");
    }
}

// HTTP-04, HTTP-05
#[test]
fn a_client_accepts_json_and_perhaps_event_streams_http_04_http_05() {
    let head = |accept| {
        let fields = with(post_fields(), &[("accept", accept)]);
        match admit(&Policy::default(), "POST", &fields) {
            Ok(Admitted::Post(head)) => Ok(head.accepts_events()),
            Ok(other) => panic!("{other:?}"),
            Err(refusal) => Err((refusal.status, String::from(refusal.reason()))),
        }
    };
    for (accept, has_events) in [
        // RFC 9110, section 12.5.1: without the header, anything is accepted.
        (None, true),
        (Some("*/*"), true),
        (Some("application/*, text/event-stream;q=0.1"), true),
        (Some("Text/Event-Stream,APPLICATION/JSON"), true),
        (Some("application/json"), false),
        (Some("application/*"), false),
        (Some("application/json, text/plain;q=0.5"), false),
        (Some("application/json, text/event-stream;q=0"), false),
        (Some("*/*, text/*;q=0.0"), false),
    ] {
        assert_eq!(head(accept), Ok(has_events), "{accept:?}");
    }
    for accept in
        ["", "text/event-stream", "*/*;q=0", "application/json;q=0, */*", "text/html", "json"]
    {
        let (status, why) = head(Some(accept)).unwrap_err();
        assert_eq!(status, 406, "{accept}");
        assert!(why.contains("`application/json`"), "{accept}: {why}");
    }
    let mut two = with(post_fields(), &[("accept", Some("application/json"))]);
    two.push(("Accept".into(), "text/event-stream".into()));
    assert_eq!(status("POST", &two), 200);
    for (accept, expected) in [
        (Some("text/*"), 200),
        (None, 200),
        (Some("*/*"), 200),
        (Some("application/json"), 406),
        (Some("text/event-stream;q=0"), 406),
    ] {
        assert_eq!(
            status("GET", &with(get_fields(), &[("accept", accept)])),
            expected,
            "{accept:?}"
        );
    }
}

#[test]
fn a_content_length_above_the_limit_is_rejected_sec_18() {
    let policy = Policy::default().with_body_bytes_max(10);
    let length = |value: &str| {
        admit(&policy, "POST", &with(post_fields(), &[("content-length", Some(value))]))
            .map_or_else(|refusal| refusal.status, |_| 200)
    };
    for (value, expected) in [
        ("0", 200),
        ("10", 200),
        (" 10\t", 200),
        ("0000000000000000000000000000010", 200),
        ("11", 413),
        ("18446744073709551616", 413),
        ("99999999999999999999999999999999", 413),
        ("", 400),
        ("-1", 400),
        ("+1", 400),
        ("1, 1", 400),
        ("0x1", 400),
        ("1.0", 400),
        ("١", 400),
    ] {
        assert_eq!(length(value), expected, "{value}");
    }
    let kind = with(post_fields(), &[("content-length", Some("11")), ("content-type", None)]);
    assert_eq!(admit(&policy, "POST", &kind).unwrap_err().status, 413, "checked before the type");
}

// HTTP-01: GET and DELETE at the endpoint of POST. HTTP-32: they need a session.
#[test]
fn get_and_delete_require_a_session_id_http_32_http_33() {
    let got = |last: Option<&str>| {
        Ok(Admitted::Get(GetRequest { session: "s-1".into(), last_event_id: last.map(Into::into) }))
    };
    assert_eq!(try_admit("GET", &get_fields()), got(None));
    assert_eq!(
        try_admit("GET", &with(get_fields(), &[("Last-Event-ID", Some(" é 1\t"))])),
        got(Some("é 1"))
    );
    assert_eq!(try_admit("DELETE", &get_fields()), Ok(Admitted::Delete("s-1".into())));
    let long = "x".repeat(257);
    for verb in ["GET", "DELETE"] {
        for (id, expected) in [
            (None, 400),
            (Some(""), 400),
            (Some(" \t"), 400),
            // An id that this server cannot have issued is treated as expired.
            (Some("a b"), 404),
            (Some("é"), 404),
            (Some("a\r\nb"), 404),
            (Some(&*long), 404),
            (Some(&long[1..]), 200),
        ] {
            assert_eq!(
                status(verb, &with(get_fields(), &[("mcp-session-id", id)])),
                expected,
                "{verb} {id:?}"
            );
        }
    }
    for id in ["", "a\nb", "\0", &long] {
        assert_eq!(status("GET", &with(get_fields(), &[("last-event-id", Some(id))])), 400, "{id}");
    }
}

// HTTP-38
#[test]
fn an_unsupported_version_is_rejected_http_38() {
    let policy = Policy::default().revisions(&[Revision::V2025_11_25]);
    for verb in ["GET", "DELETE"] {
        for (version, expected) in [
            (None, 200),
            (Some("2025-11-25"), 200),
            (Some(" 2025-11-25 "), 200),
            (Some("2025-06-18"), 400),
            (Some("1999-01-01"), 400),
            (Some(""), 400),
            (Some("a b"), 400),
            (Some("2025-11-25,2025-11-25"), 400),
        ] {
            let fields = with(get_fields(), &[("mcp-protocol-version", version)]);
            let found =
                admit(&policy, verb, &fields).map_or_else(|refusal| refusal.status, |_| 200);
            assert_eq!(found, expected, "{verb} {version:?}");
        }
    }
}

#[test]
fn version_and_session_of_a_post_are_checked_with_its_body_http_52() {
    let head = |changes: &[_]| match try_admit("POST", &with(post_fields(), changes)) {
        Ok(Admitted::Post(head)) => head,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        head(&[]),
        PostHead {
            version: VersionHeader::Absent,
            session: SessionHeader::Absent,
            accepts_events: true
        }
    );
    let both =
        head(&[("mcp-protocol-version", Some("2027-01-01")), ("mcp-session-id", Some("a b"))]);
    assert_eq!(
        both,
        PostHead {
            version: VersionHeader::Unknown("2027-01-01".into()),
            session: SessionHeader::Foreign,
            accepts_events: true
        }
    );
    assert_eq!(
        head(&[("mcp-protocol-version", Some(&"2".repeat(65)))]).version,
        VersionHeader::Malformed
    );
}

fn any_value() -> impl Strategy<Value = Vec<u8>> {
    let known = select(
        &[
            "localhost",
            "http://localhost",
            "null",
            "application/json",
            "text/event-stream",
            "*/*",
            "2026-07-28",
            "2025-11-25",
            "7",
            "s",
        ][..],
    );
    prop_oneof![
        4 => known.prop_map(|known| known.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..12),
    ]
}

proptest! {
    #[test]
    fn any_head_is_admitted_or_rejected_with_a_complete_response(
        verb in prop_oneof![select(vec!["POST", "GET", "DELETE"]).prop_map(String::from), ".{0,5}"],
        fields in proptest::collection::vec((select(vec![
            "Host", "Origin", "Content-Type", "Content-Length", "Content-Encoding", "Accept",
            "Mcp-Session-Id", "MCP-Protocol-Version", "Last-Event-ID",
        ]), any_value()), 0..12),
        modern in any::<bool>(),
    ) {
        let policy = if modern { Policy::default().revisions(MODERN) } else { Policy::default() };
        let admitted = admit(&policy, &verb, &fields);
        let screened = check_origin(&policy, &fields);
        let screened = screened.and_then(|()| admit_screened(&policy, &verb, &fields));
        prop_assert_eq!(&screened, &admitted);
        match admitted {
            Err(refusal) => {
                checked(&refusal);
            }
            Ok(admitted) => {
                prop_assert!(fields.single("host").is_ok_and(|host| host.is_some()));
                let name = match admitted {
                    Admitted::Post(_) => "POST",
                    Admitted::Get(_) => "GET",
                    Admitted::Delete(_) => "DELETE",
                };
                prop_assert_eq!(name, verb);
                prop_assert!(!modern || name == "POST");
            }
        }
    }
}

#[test]
fn debug_output_contains_no_session_id() {
    let planted = [("mcp-session-id", Some("planted-1"))];
    for (verb, fields) in [
        ("POST", with(post_fields(), &planted)),
        ("GET", with(get_fields(), &planted)),
        ("DELETE", with(get_fields(), &planted)),
    ] {
        let admitted = try_admit(verb, &fields).unwrap();
        let shown = format!("{admitted:?}{admitted:#?}");
        assert!(!shown.contains("planted"), "{shown}");
        if let Admitted::Post(head) = admitted {
            let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
            let post = head.read(&Policy::default(), &fields, body, &|_| None).unwrap();
            let shown = format!("{post:?}{post:#?}");
            assert!(!shown.contains("planted"), "{shown}");
        }
    }
}
