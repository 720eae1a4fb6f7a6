//! Tests of allowed hosts and origins.

use alloc::string::ToString;

use super::*;

fn allows_host(policy: &Policy, host: &str) -> bool {
    policy.allows_host(&Authority::parse(host.as_bytes()).unwrap())
}

#[test]
fn only_loopback_is_allowed_by_default_http_55() {
    let policy = Policy::default();
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1:65535", "[::1]:3000"] {
        assert!(allows_host(&policy, host), "{host}");
        assert!(policy.allows_origin(["http://", host].concat().as_bytes()), "{host}");
    }
    for host in ["evil.example.com", "localhost.evil.example", "192.168.0.1", "0.0.0.0:80", "[::2]"]
    {
        assert!(!allows_host(&policy, host), "{host}");
        assert!(!policy.allows_origin(["http://", host].concat().as_bytes()), "{host}");
    }
    for origin in
        ["", "null", "localhost", "http://localhost/", "http://localhost, http://evil.example", "é"]
    {
        assert!(!policy.allows_origin(origin.as_bytes()), "{origin}");
    }
}

#[test]
fn a_host_is_allowed_at_any_port_or_at_the_given_one_http_55() {
    let policy = Policy::default()
        .host("API.example.com")
        .host("b.example:8080")
        .host("[2001:db8::1]")
        .host("a/b");
    for host in [
        "api.example.com",
        "api.EXAMPLE.com:443",
        "b.example:8080",
        "[2001:DB8:0::1]:1",
        "localhost",
    ] {
        assert!(allows_host(&policy, host), "{host}");
    }
    for host in
        ["x.api.example.com", "api.example.com.", "b.example", "b.example:80", "a", "example.com"]
    {
        assert!(!allows_host(&policy, host), "{host}");
    }
    assert!(
        !policy.allows_origin(b"https://api.example.com"),
        "hosts and origins are separate lists"
    );
    assert!(allows_host(&Policy::default().any_host(), "evil.example.com"));
    assert!(
        !Policy::default().any_host().allows_origin(b"http://evil.example.com"),
        "the origin is still checked"
    );
}

#[test]
fn scheme_host_and_port_of_an_origin_must_match_t_90() {
    let policy = Policy::default()
        .origin("https://app.example.com")
        .origin("rubbish")
        .origin("http://a.example:81");
    for origin in ["https://app.example.com", "HTTPS://APP.example.com:443", "http://a.example:81"]
    {
        assert!(policy.allows_origin(origin.as_bytes()), "{origin}");
    }
    for origin in [
        "http://app.example.com",
        "https://app.example.com:8443",
        "https://x.app.example.com",
        "http://a.example",
        "rubbish",
        "null",
    ] {
        assert!(!policy.allows_origin(origin.as_bytes()), "{origin}");
    }
    assert!(Policy::default().origin("null").allows_origin(b"null"));
    assert!(!Policy::default().origin("null").allows_origin(b"NULL"));
    assert!(Policy::default().any_origin().allows_origin(b"null"));
}

#[test]
fn hosts_and_origins_that_match_nothing_are_invalid() {
    for host in ["example.com", "example.com:8080", "127.0.0.1", "[::1]:80", "a.example:443"] {
        assert_eq!(Policy::default().host(host).validate(), Ok(()), "{host}");
    }
    for host in [
        "",
        "*",
        "https://a.example",
        "a.example:*",
        "a.example:",
        "a.example:0",
        "a.example:65536",
        "*.a.example",
        "a.example/",
        "a b",
        "::1",
        "b\u{fc}cher.example",
    ] {
        let refused = Policy::default().host("a.example").host(host).validate().unwrap_err();
        assert_eq!(refused, InvalidPolicy::Host(host.into()));
        assert!(refused.to_string().contains("any_host"), "{refused}");
    }
    for origin in ["https://a.example", "https://a.example/", "http://[::1]:80", "null", "app://a"]
    {
        assert_eq!(Policy::default().origin(origin).validate(), Ok(()), "{origin}");
    }
    for origin in [
        "",
        "*",
        "a.example",
        "https://a.example/path",
        "https://a.example//",
        "https://a.example?x",
        "https://*.a.example",
        "https://a.example:*",
        "https://a.example:0",
        "//a.example",
        "NULL",
    ] {
        let refused = Policy::default().origin(origin).validate().unwrap_err();
        assert!(matches!(refused, InvalidPolicy::Origin(_)), "{origin}");
        assert!(refused.to_string().contains("https://app.example.com"), "{refused}");
    }
    let page = Policy::default().origin("https://a.example/");
    assert!(page.allows_origin(b"https://a.example") && page.shares_with(b"https://a.example"));
    assert!(!page.allows_origin(b"https://a.example/"), "browsers send no slash");
}

#[test]
fn a_default_port_may_be_left_out() {
    let policy = Policy::default().host("a.example:443").host("b.example:8080");
    assert!(allows_host(&policy, "a.example") && allows_host(&policy, "a.example:443"));
    assert!(!allows_host(&policy, "a.example:80") && !allows_host(&policy, "b.example"));
}

#[test]
fn a_policy_adopts_the_configuration_of_its_server() {
    let limits = Limits { message_bytes_max: 9, ..Limits::default() };
    let revisions = [Revision::V2026_07_28, Revision::V2025_06_18];
    let policy = Policy::from_config(
        &server::Config::new("s", "1").revisions(&revisions).serve_method("x/y").limits(limits),
    );
    assert_eq!(policy.body_bytes_max(), 9);
    assert!(policy.supports(Revision::V2025_06_18) && !policy.supports(Revision::V2025_03_26));
    assert!(
        policy.serves("x/y", Revision::V2026_07_28) && !policy.serves("x/z", Revision::V2026_07_28)
    );
    assert!(policy.offers_sessions() && !policy.revisions(&revisions[..1]).offers_sessions());
}
