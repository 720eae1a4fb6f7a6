//! Tests of header values: vectors of the specification, hostile input, and reference models.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// Values and their encodings.
// T-46: vectors of the specification.
const VECTORS: &[(&str, &str)] = &[
    ("us-west1", "us-west1"),
    ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
    (" padded ", "=?base64?IHBhZGRlZCA=?="),
    ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
    ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
    ("", ""),
    ("get_weather", "get_weather"),
    ("file:///projects/myapp/config.json", "file:///projects/myapp/config.json"),
    ("a b\tc", "a b\tc"),
    ("\ta", "=?base64?CWE=?="),
    ("a\r", "=?base64?YQ0=?="),
    ("a\0", "=?base64?YQA=?="),
    ("\u{7f}", "=?base64?fw==?="),
    (" ", "=?base64?IA==?="),
    // Without the exact prefix and suffix, a value is literal.
    ("=?base64?literal", "=?base64?literal"),
    ("literal?=", "literal?="),
    ("=?BASE64?literal?=", "=?BASE64?literal?="),
    ("=?base64literal?=", "=?base64literal?="),
];

// HTTP-49
#[test]
fn values_are_encoded_as_the_specification_says_t_46_http_49() {
    for (value, sent) in VECTORS {
        assert_eq!(encode(value), *sent, "{value:?}");
        assert_eq!(decode(sent.as_bytes()).as_deref(), Ok(*value), "{sent:?}");
    }
}

#[test]
fn overlapping_prefix_and_suffix_are_encoded_and_decode_literally_t_46() {
    // The value starts with the prefix and ends with the suffix, so it must be encoded, but has no
    // room for an encoded part between them.
    assert_eq!(encode("=?base64?="), "=?base64?PT9iYXNlNjQ/PQ==?=");
    assert_eq!(decode(b"=?base64?PT9iYXNlNjQ/PQ==?=").as_deref(), Ok("=?base64?="));
    assert_eq!(decode(b"=?base64?=").as_deref(), Ok("=?base64?="));
    assert_eq!(decode(b"=?base64??=").as_deref(), Ok(""));
}

#[test]
fn non_canonical_base64_is_rejected_http_45_http_50() {
    for bad in [
        "SGVsbG8",
        "SGVsbG8==",
        "SGVsbG8=====",
        "SGVs!G8=",
        "SGVs bG8=",
        "SGVsbG8=\t",
        "S",
        "=",
        "====",
        "SGVsbG8=SGVs",
        // The URL-safe alphabet; trailing bits; bytes that are not UTF-8.
        "-_-_",
        "SGVsbG9=",
        "QR==",
        "/w==",
        "7aCA",
    ] {
        assert_eq!(decode(format!("=?base64?{bad}?=").as_bytes()), Err(Malformed), "{bad:?}");
    }
    assert_eq!(
        decode(b"=?base64?SGVsbG8=?=").as_deref(),
        Ok("Hello"),
        "a value of the conformance suite"
    );
}

#[test]
fn invalid_characters_are_rejected_http_45() {
    for bad in ["a\r\nX: y", "a\n", "\r", "a\0", "\u{7f}", "é", "\u{1b}[", "=?base64?SGVsbG8=?=\n"]
    {
        assert_eq!(decode(bad.as_bytes()), Err(Malformed), "{bad:?}");
        assert_eq!(text(bad.as_bytes()), None, "{bad:?}");
    }
    assert_eq!(text(b"\xFF"), None);
}

#[test]
fn surrounding_blanks_are_ignored_and_case_is_kept_http_46() {
    assert_eq!(text(b" \t tools/call\t "), Some("tools/call"));
    assert_eq!(text(b"TOOLS/LIST"), Some("TOOLS/LIST"));
    assert_eq!(text(b" a \t b "), Some("a \t b"));
    assert_eq!((text(b""), text(b" \t")), (Some(""), Some("")));
    assert_eq!(decode(b"  =?base64?IA==?= ").as_deref(), Ok(" "));
}

// HTTP-30
#[test]
fn a_session_id_is_visible_ascii_of_bounded_length_http_30_sec_18() {
    let all: String = ('!'..='~').collect();
    assert_eq!(visible(all.as_bytes(), 94), Some(&*all));
    assert_eq!(visible(all.as_bytes(), 93), None);
    assert_eq!(visible(b" abc\t", 3), Some("abc"));
    for bad in [&b""[..], b" ", b"a b", b"a\tb", b"a\x7F", b"a\0", b"a\r\nb", b"\xC3\xA9", b"\x1F"]
    {
        assert_eq!(visible(bad, 99), None, "{bad:?}");
    }
}

#[test]
fn an_event_id_is_valid_only_if_it_round_trips_sse_16() {
    for good in ["1", "s-1/2", "a b", "é"] {
        assert!(is_event_id(good, 9), "{good:?}");
    }
    for bad in ["", " a", "a ", "\ta", "a\tb", "a\nb", "a\rb", "a\0", "\u{7f}", "0123456789"] {
        assert!(!is_event_id(bad, 9), "{bad:?}");
    }
}

#[test]
fn header_names_are_tokens_http_48() {
    for good in ["Region", "a", "X-1", "!#$%&'*+-.^_`|~09azAZ"] {
        assert!(is_token(good), "{good:?}");
    }
    for bad in [
        "",
        "My Region",
        "Region:",
        "Région",
        "a\tb",
        "a\r\n",
        "a\0",
        "a(b)",
        "a/b",
        "\"a\"",
        "a,b",
        "a=b",
    ] {
        assert!(!is_token(bad), "{bad:?}");
    }
}

#[test]
fn safe_integers_are_parsed_by_value_http_49_http_50() {
    for (number, integer) in [
        ("42", 42),
        ("42.0", 42),
        ("-7", -7),
        ("0", 0),
        ("-0", 0),
        ("0.000", 0),
        ("4.2e1", 42),
        ("420e-1", 42),
        ("4200.00E-2", 42),
        ("0e99999999999999999999", 0),
        ("1e+3", 1000),
        ("9007199254740991", (1 << 53) - 1),
        ("-9007199254740991.0", 1 - (1 << 53)),
        ("9.007199254740991e15", (1 << 53) - 1),
        ("100", 100),
        ("0.1e1", 1),
    ] {
        assert_eq!(safe_integer(number), Some(integer), "{number}");
    }
    for number in [
        "",
        "-",
        "+1",
        " 1",
        "1 ",
        "01",
        "-01",
        "1.",
        ".5",
        "1e",
        "1e+",
        "1.5",
        "1e-1",
        "0x1",
        "1_0",
        "--1",
        "1e1.0",
        "e1",
        "1.0.0",
        "9007199254740992",
        "-9007199254740992",
        "1e16",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "1e9223372036854775807",
        "1e-9223372036854775808",
        "true",
        "Infinity",
        "١",
        "1e+-1",
    ] {
        assert_eq!(safe_integer(number), None, "{number}");
    }
}

// SSE-26
#[test]
fn media_types_match_regardless_of_case_and_parameters_sse_26_t_91() {
    for value in [
        "application/json",
        "Application/JSON",
        " application/json ",
        "application/json;charset=utf-8",
        "application/json ; charset=\"utf-8\"",
        "APPLICATION/json;",
    ] {
        assert!(is_media_type(value.as_bytes(), "application/json"), "{value}");
    }
    for value in [
        "",
        ";",
        "application/jsonp",
        "text/json",
        "application/json, text/html",
        "application /json",
        "*/*",
    ] {
        assert!(!is_media_type(value.as_bytes(), "application/json"), "{value}");
    }
    assert!(is_media_type(b"text/event-stream; charset=utf-8", "text/event-stream"));
}

#[test]
fn the_most_specific_range_decides_http_04_http_05_sse_26() {
    let accept = |value: &str| {
        let values = value.split('|').map(str::as_bytes);
        (accepts(values.clone(), "application/json"), accepts(values, "text/event-stream"))
    };
    for (value, wanted) in [
        ("application/json, text/event-stream", (true, true)),
        ("application/json|text/event-stream", (true, true)),
        ("APPLICATION/JSON;q=0.9,Text/Event-Stream; charset=utf-8", (true, true)),
        ("application/json", (true, false)),
        ("text/event-stream", (false, true)),
        ("*/*", (true, true)),
        ("text/*", (false, true)),
        ("*/*;q=0", (false, false)),
        ("*/*, text/*;q=0", (true, false)),
        ("text/*;q=0, text/event-stream", (false, true)),
        ("text/event-stream;q=0, */*", (true, false)),
        ("text/event-stream;q=0.000, text/event-stream;q=0.001", (false, true)),
        ("text/event-stream ; Q = 0.", (false, false)),
        ("text/event-stream;a=\"x,y;q=0\\\",*/*\"", (false, true)),
        ("application/json;level=\"1;q=0\"", (true, false)),
        ("x/y;a=\\\"b, application/json\", text/event-stream", (false, true)),
        (",, ,application/json,", (true, false)),
        ("", (false, false)),
        ("*", (false, false)),
        ("*/json", (false, false)),
        ("application*", (false, false)),
        ("text/event-stream-x, xtext/event-stream", (false, false)),
        ("application/json;a=\"unended, text/event-stream", (true, false)),
    ] {
        assert_eq!(accept(value), wanted, "{value}");
    }
    assert!(!accepts([], "application/json"));
}

#[test]
fn only_loopback_hosts_are_loopback_http_55() {
    let loopback =
        |value: &str| Authority::parse(value.as_bytes()).is_some_and(|host| host.is_loopback());
    for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "[::1]", "[0:0:0:0:0:0:0:1]"] {
        for port in ["", ":1", ":8080", ":65535"] {
            let authority = format!("{host}{port}");
            assert!(loopback(&authority), "{authority}");
            let origins = [format!("http://{authority}"), format!("HTTPS://{authority}")];
            assert!(
                origins
                    .iter()
                    .all(|origin| Origin::parse(origin.as_bytes()).unwrap().is_loopback())
            );
        }
    }
    for host in [
        "evil.example.com",
        "localhost.evil.example",
        "evil-localhost",
        "localhost.",
        "a.localhost",
        "127.0.0.1.evil.example",
        "128.0.0.1",
        "0.0.0.0",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.0.0.1.",
        "[::]",
        "[::2]",
        "[::ffff:127.0.0.1]",
        "[::ffff:8.8.8.8]",
        "192.168.0.1",
    ] {
        assert!(!loopback(host), "{host}");
        assert!(Authority::parse(host.as_bytes()).is_some(), "{host}");
    }
}

#[test]
fn invalid_hosts_are_rejected_http_55() {
    for bad in [
        "",
        ":80",
        "localhost:",
        "localhost:x",
        "localhost:+80",
        "localhost:65536",
        "localhost:80:80",
        "localhost:80/x",
        "user@localhost",
        "evil@127.0.0.1:80",
        "localhost evil",
        "localhost,evil",
        "::1",
        "[::1",
        "[::1]x",
        "[::1%lo]",
        "[127.0.0.1]",
        "[]",
        "local\rhost",
        "localhost/",
        "localhost?",
        "localhost#",
        "http://localhost",
        "lоcalhost",
        "%6c",
    ] {
        assert_eq!(Authority::parse(bad.as_bytes()), None, "{bad:?}");
        assert_eq!(Origin::parse(format!("http://{bad}").as_bytes()), None, "{bad:?}");
    }
    let long = |count| "a".repeat(count);
    assert!(Authority::parse(long(253).as_bytes()).is_some());
    assert_eq!(Authority::parse(long(254).as_bytes()), None);
}

#[test]
fn hosts_and_ports_are_split() {
    let parse = |value| Authority::parse(value).unwrap();
    assert_eq!(
        parse(b" Example.com:80 "),
        Authority { host: Host::Name("Example.com"), port: Some(80) }
    );
    assert_eq!(
        parse(b"10.0.0.1"),
        Authority { host: Host::V4(Ipv4Addr::new(10, 0, 0, 1)), port: None }
    );
    assert_eq!(parse(b"[::1]:1"), Authority { host: Host::V6(Ipv6Addr::LOCALHOST), port: Some(1) });
}

#[test]
fn an_origin_is_a_scheme_a_host_and_a_port_http_55_t_90() {
    let parse = |value: &'static str| Origin::parse(value.as_bytes());
    assert_eq!(parse("null"), Some(Origin::Opaque));
    assert!(!Origin::Opaque.is_loopback() && !Origin::Opaque.is(&Origin::Opaque));
    let Some(Origin::Known { scheme, authority }) = parse("https://Example.com:8443") else {
        panic!("an origin")
    };
    assert_eq!(
        (scheme, authority.host, authority.port),
        ("https", Host::Name("Example.com"), Some(8443))
    );
    assert!(parse("vscode-webview://abc").is_some());
    assert!(
        !parse("evil://localhost").unwrap().is_loopback(),
        "only HTTP and HTTPS origins are loopback"
    );
    for bad in [
        "",
        "NULL",
        "localhost",
        "//localhost",
        "://localhost",
        "http:/localhost",
        "http://",
        "http://localhost/",
        "http://localhost http://evil.example",
        "http://localhost, http://evil.example",
        "1http://localhost",
        "ht tp://a",
        "http://http://localhost",
        "file://",
        "http://user@localhost",
    ] {
        assert_eq!(parse(bad), None, "{bad:?}");
    }
    let equal = |one, other| parse(one).unwrap().is(&parse(other).unwrap());
    assert!(equal("http://example.com", "HTTP://EXAMPLE.com:80"));
    assert!(equal("https://[::1]", "https://[0::1]:443"));
    assert!(!equal("http://example.com", "https://example.com"));
    assert!(!equal("http://example.com", "https://example.com:80"));
    assert!(!equal("http://example.com", "http://example.com:8080"));
    assert!(!equal("http://example.com", "http://www.example.com"));
    assert!(!equal("app://a", "app://a:80"));
}

/// Formats scheme, token and parameters of each challenge.
fn formatted(value: &str) -> Result<Vec<String>, Malformed> {
    let text = |challenge: &ChallengeRef<'_>| {
        let params: Vec<_> =
            challenge.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!(
            "{}({})[{}]",
            challenge.scheme,
            challenge.token.unwrap_or_default(),
            params.join("|")
        )
    };
    Ok(challenges(value.as_bytes())?.iter().map(text).collect())
}

#[test]
fn challenges_are_schemes_with_parameters_or_a_token_aut_11() {
    for (value, wanted) in [
        ("", &[][..]),
        (" , ,", &[]),
        ("Bearer", &["Bearer()[]"]),
        ("Negotiate, NTLM", &["Negotiate()[]", "NTLM()[]"]),
        (
            "Negotiate a87421000492aa874209af8bc028==",
            &["Negotiate(a87421000492aa874209af8bc028==)[]"],
        ),
        ("Foo a, Bar b=c", &["Foo(a)[]", "Bar()[b=c]"]),
        ("Basic realm=\"simple\"", &["Basic()[realm=simple]"]),
        ("Bearer a=b,c = \"d\" ,  e=f", &["Bearer()[a=b|c=d|e=f]"]),
        ("Bearer realm=\"\", error=\"x\"", &["Bearer()[realm=|error=x]"]),
        // The example of RFC 9110.
        (
            r#"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#,
            &["Basic()[realm=simple]", "Newauth()[realm=apps|type=1|title=Login to \"apps\"]"],
        ),
        ("Bearer a=\"x, Basic y=\\\\\", Basic", &["Bearer()[a=x, Basic y=\\]", "Basic()[]"]),
        ("Bearer a=\"é\"", &["Bearer()[a=é]"]),
        // Tolerated mistakes.
        (
            "Bearer resource_metadata=https://a.example/x?y=z, b=c",
            &["Bearer()[resource_metadata=https://a.example/x?y=z|b=c]"],
        ),
        ("Bearer a=\"b\" c=\"d\"", &["Bearer()[a=b|c=d]"]),
        ("Bearer, a=b", &["Bearer()[a=b]"]),
        ("Bearer a==b, c", &["Bearer()[a==b]", "c()[]"]),
    ] {
        assert_eq!(
            formatted(value).as_deref(),
            Ok(&*wanted.iter().map(ToString::to_string).collect::<Vec<_>>()),
            "{value}"
        );
    }
}

#[test]
fn malformed_challenges_are_rejected_aut_11() {
    for bad in [
        "=",
        "a=b",
        "\"x\"",
        "Bearer a=\"b",
        "Bearer a=\"b\\",
        "Bearer a=\"\r\n\"",
        "Bearer a=\"\0\"",
        "Bearer a=b Basic",
        "Bearer a b=c",
        "Bearer a=b, a=c",
        "Bearer a=b, A=c",
        "Bearer a=, b=c",
        "Bearer a=b, c=",
        "Bearer a=b, c=, d=e",
        "Bearer =b",
        "Bearer a=b, =c",
        "Bearer a=b\"c\"",
        "Be(arer",
        "Bearer\na=b",
        "Bearer a=é",
        "é",
        "Bearer abc=, d=e",
        "Bearer;a=b",
        "Bearer a=\"\\\n\"",
    ] {
        assert_eq!(formatted(bad), Err(Malformed), "{bad:?}");
    }
    assert_eq!(challenges(b"Bearer a=\"\xFF\""), Err(Malformed));
}

#[test]
fn parameter_names_are_case_insensitive_aut_11() {
    let challenges = challenges(b"bearer Error=\"insufficient_scope\", SCOPE=\"a b\"").unwrap();
    assert!(challenges[0].scheme.eq_ignore_ascii_case("Bearer"));
    assert_eq!(
        (challenges[0].param("error"), challenges[0].param("scope")),
        (Some("insufficient_scope"), Some("a b"))
    );
    assert_eq!(challenges[0].param("realm"), None);
    assert!(
        matches!(challenges[0].params[0].1, Cow::Borrowed(_)),
        "without escapes nothing is copied"
    );
}

#[test]
fn challenges_and_parameters_are_limited_sec_18() {
    let schemes = |count| "Bearer,".repeat(count);
    assert_eq!(challenges(schemes(CHALLENGES_MAX).as_bytes()).unwrap().len(), CHALLENGES_MAX);
    assert_eq!(challenges(schemes(CHALLENGES_MAX + 1).as_bytes()), Err(Malformed));
    let params =
        |count| format!("Bearer {}", (0..count).map(|at| format!("a{at}=b,")).collect::<String>());
    assert_eq!(challenges(params(PARAMS_MAX).as_bytes()).unwrap()[0].params.len(), PARAMS_MAX);
    assert_eq!(challenges(params(PARAMS_MAX + 1).as_bytes()), Err(Malformed));
    // Each of these would take hours if it were not linear.
    let long = 1 << 20;
    let quoted = format!("Bearer a=\"{}\"", "\\x".repeat(long));
    assert_eq!(challenges(quoted.as_bytes()).unwrap()[0].param("a").unwrap().len(), long);
    assert_eq!(challenges(", ".repeat(long).as_bytes()).unwrap(), []);
    assert!(accepts([", ;\"a\"".repeat(long).as_bytes(), b"a/b"], "a/b"));
    assert_eq!(safe_integer(&"9".repeat(long)), None);
    assert_eq!(safe_integer(&format!("1{}e-{long}", "0".repeat(long))), Some(1));
}

/// Encodes Base64 bit by bit, as described in RFC 4648: the reference model.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<u8> =
        bytes.iter().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1)).collect();
    let mut text: String = bits
        .chunks(6)
        .map(|six| {
            (0..6).fold(0, |sum, at| sum * 2 + usize::from(six.get(at).copied().unwrap_or(0)))
        })
        .map(|six| char::from(ALPHABET[six]))
        .collect();
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

/// Fragments that make syntactically significant values likely.
const SCRAPS: &[&str] = &[
    "=?base64?",
    "?=",
    "=?",
    "?",
    "=",
    "SGVs",
    "bG8=",
    "IA==",
    "a",
    "B",
    "0",
    "9",
    " ",
    "\t",
    ",",
    ";",
    "\"",
    "\\",
    "/",
    ":",
    "://",
    ".",
    "-",
    "e",
    "q=0",
    "q=1",
    "*/*",
    "text/*",
    "application/json",
    "Bearer",
    "Basic ",
    "realm=\"x\"",
    "http",
    "localhost",
    "127.0.0.1",
    "[::1]",
    "null",
    "\r\n",
    "\0",
    "é",
    "\u{7f}",
];

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::collection::vec(select(SCRAPS), 0..12).prop_map(|scraps| scraps.concat()),
        any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn encoded_values_are_plain_and_round_trip_http_49(value in value()) {
        let sent = encode(&value);
        let plain = value.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte))
            && value.trim_matches([' ', '\t']) == value
            && !(value.starts_with("=?base64?") && value.ends_with("?="));
        let encoded = || format!("=?base64?{}?=", base64(value.as_bytes()));
        let wanted = if plain { value.clone() } else { encoded() };
        prop_assert_eq!(&sent, &wanted);
        prop_assert_eq!(text(sent.as_bytes()), Some(&*sent));
        let padded = format!(" {sent}\t");
        prop_assert_eq!(decode(padded.as_bytes()), Ok(Cow::from(&value)));
    }

    #[test]
    fn decoded_values_are_literal_or_canonically_encoded_http_45(value in value()) {
        let Ok(decoded) = decode(value.as_bytes()) else { return Ok(()) };
        let trimmed = value.trim_matches([' ', '\t']);
        let encoded = format!("=?base64?{}?=", base64(decoded.as_bytes()));
        prop_assert!(decoded == trimmed || encoded == trimmed);
    }

    #[test]
    fn no_input_panics(
        value in prop_oneof![
            value().prop_map(String::into_bytes),
            proptest::collection::vec(any::<u8>(), 0..40),
        ],
    ) {
        let held = challenges(&value).map(|challenges| {
            let params = challenges.iter().flat_map(|challenge| &challenge.params);
            params.map(|(name, value)| name.len() + value.len()).sum::<usize>()
        });
        prop_assert!(held.unwrap_or(0) <= value.len());
        let host = Authority::parse(&value);
        let origin = Origin::parse(&value);
        prop_assert!(host.is_none() || origin.is_none() || origin == Some(Origin::Opaque));
        let _ = (decode(&value), text(&value), visible(&value, 9), is_media_type(&value, "a/b"));
        let accepts_json = |values: &[&[u8]]| accepts(values.iter().copied(), "application/json");
        prop_assert_eq!(accepts_json(&[&value]), accepts_json(&[&value, b""]));
        if let Ok(text) = core::str::from_utf8(&value) {
            let _ = (is_token(text), safe_integer(text), is_event_id(text, 9));
        }
    }

    #[test]
    fn safe_integers_match_exact_arithmetic_http_50(
        whole in 0_u64..1 << 54,
        fraction in 0_usize..3,
        shift in -4_i32..5,
        negative in any::<bool>(),
    ) {
        let sign = if negative { "-" } else { "" };
        let point = if fraction == 0 { "" } else { "." };
        let number = format!("{sign}{whole}{point}{}e{shift}", "0".repeat(fraction));
        let power = 10_u64.pow(shift.unsigned_abs());
        let exact = if shift >= 0 {
            whole.checked_mul(power)
        } else {
            (whole % power == 0).then_some(whole / power)
        };
        let signed = |exact| if negative { -(exact as i64) } else { exact as i64 };
        let wanted = exact.filter(|exact| *exact < 1 << 53).map(signed);
        prop_assert_eq!(safe_integer(&number), wanted, "{}", number);
    }

    #[test]
    fn written_challenges_round_trip_aut_11(
        written in proptest::collection::vec(
            ("[A-Za-z][A-Za-z0-9-]{0,6}", proptest::collection::vec("[ -~é\t]{0,9}", 0..5)), 0..5,
        ),
    ) {
        let quote = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"");
        let write = |(scheme, values): &(String, Vec<String>)| {
            let params = values.iter().enumerate();
            let params: Vec<_> =
                params.map(|(at, value)| format!("p{at}=\"{}\"", quote(value))).collect();
            format!("{scheme} {}", params.join(", "))
        };
        let value = written.iter().map(write).collect::<Vec<_>>().join(", ");
        let read = challenges(value.as_bytes()).unwrap();
        prop_assert_eq!(read.len(), written.len());
        for (read, (scheme, values)) in read.iter().zip(&written) {
            prop_assert_eq!(read.scheme, scheme);
            let values: Vec<_> = values.iter().map(|value| &**value).collect();
            let read_values: Vec<_> = read.params.iter().map(|(_, value)| &**value).collect();
            prop_assert_eq!(read_values, values);
        }
    }
}
