//! Tests of requests with tokens that are bound to a key.

use super::*;

const NONCE: Head<'static> =
    &[("www-authenticate", r#"DPoP error="use_dpop_nonce", algs="ES256""#), ("DPoP-Nonce", "n1")];

/// Creates a client with bound credentials, before its probe.
fn bound(http: HttpConfig) -> Fixture {
    let mut it = Fixture::with_http(config(), http);
    it.authorize_bound(1);
    it
}

impl Fixture {
    fn authorize_bound(&mut self, generation: u64) {
        let text = format!("DPoP token-{generation}");
        let credentials = Credentials::new(Generation::new(generation), text.into());
        self.http.authorize(self.now, credentials);
    }

    /// Rejects a request for its nonce; returns the repetition.
    fn demand(&mut self, send: &HttpRequest, nonce: &str) -> HttpRequest {
        let head = [NONCE[0], ("dpop-nonce", nonce)];
        self.reply(send, 401, &head, "");
        let again = self.send();
        assert_ne!(again.exchange, send.exchange);
        assert_eq!((again.method, &again.body), (send.method, &send.body));
        assert_eq!(nonce_of(&again), Some(nonce));
        assert!(again.needs_proof());
        again
    }
}

fn nonce_of(send: &HttpRequest) -> Option<&str> {
    send.dpop_nonce.as_ref().map(crate::Secret::expose)
}

// AUT-82: the probe, every POST, the GET and the DELETE.
#[test]
fn every_request_is_repeated_with_the_nonce_that_the_server_demands_aut_82() {
    for http in [HttpConfig::new(1), HttpConfig::new(1).parks()] {
        let mut it = bound(http);
        let probe = it.post("server/discover");
        assert!(probe.needs_proof() && probe.dpop_nonce.is_none());
        let probe = it.demand(&probe, "n1");
        it.reply(&probe, 400, PLAIN, "");
        let initialize = it.post("initialize");
        assert_eq!(nonce_of(&initialize), Some("n1"));
        let initialize = it.demand(&initialize, "n2");
        it.welcome(&initialize, Revision::V2025_11_25, SESSION);
        let initialized = it.post("notifications/initialized");
        let initialized = it.demand(&initialized, "n3");
        // Nothing overtakes the notification.
        it.idle();
        it.reply(&initialized, 202, PLAIN, "");
        let stream = it.get();
        let stream = it.demand(&stream, "n4");
        assert_eq!(stream.header("mcp-session-id"), Some("s-1"));
        it.reply(&stream, 405, PLAIN, "");
        it.events();

        let call = it.call("tools/list");
        let send = it.post("tools/list");
        let again = it.demand(&send, "n5");
        it.reply(&again, 200, JSON, &result_of(&again, "{}"));
        assert_eq!(it.events(), [format!("{call}: {{}}")]);

        it.http.close(it.now);
        let delete = it.send();
        let again = it.demand(&delete, "n6");
        assert_eq!(again.method, HttpMethod::Delete);
        assert_eq!(again.header("mcp-session-id"), Some("s-1"));
        it.reply(&again, 200, PLAIN, "");
        it.idle();
    }
}

#[test]
fn a_success_provides_the_nonce_of_the_next_request() {
    let mut it = bound(HttpConfig::new(1));
    let probe = it.post("server/discover");
    let head = [JSON[0], ("DPoP-Nonce", "next")];
    it.reply(&probe, 200, &head, DISCOVERED);
    it.call("tools/list");
    assert_eq!(nonce_of(&it.post("tools/list")), Some("next"));
}

#[test]
fn a_server_that_accepts_no_nonce_ends_the_repetitions() {
    let mut it = bound(HttpConfig::new(1).parks());
    let probe = it.post("server/discover");
    it.reply(&probe, 200, JSON, DISCOVERED);
    it.events();
    it.call("tools/list");
    let mut send = it.post("tools/list");
    for _ in 0..3 {
        send = it.demand(&send, "again");
    }
    it.reply(&send, 401, NONCE, "");
    it.idle();
    let events = it.events();
    assert!(events[0].starts_with("parked"), "{events:?}");
    // With other credentials, the count begins from zero.
    it.authorize_bound(2);
    let send = it.post("tools/list");
    it.demand(&send, "n9");
}

#[test]
fn other_rejections_and_unusable_nonces_repeat_nothing() {
    let expired: Head<'_> =
        &[("www-authenticate", r#"DPoP error="invalid_token""#), ("dpop-nonce", "n1")];
    let bearer: Head<'_> =
        &[("www-authenticate", r#"Bearer error="use_dpop_nonce""#), ("dpop-nonce", "n1")];
    let long = "n".repeat(1025);
    let long = [NONCE[0], ("dpop-nonce", &*long)];
    let invisible = [NONCE[0], ("dpop-nonce", "a b")];
    for head in [expired, bearer, &NONCE[..1], &long, &invisible] {
        let mut it = bound(HttpConfig::new(1));
        let probe = it.post("server/discover");
        it.reply(&probe, 200, JSON, DISCOVERED);
        it.events();
        it.call("tools/list");
        let send = it.post("tools/list");
        it.reply(&send, 401, head, "");
        it.idle();
        assert!(it.events()[0].starts_with("challenged"));
    }
}

#[test]
fn bearer_requests_ignore_nonces() {
    let mut it = Fixture::modern();
    let credentials = Credentials::new(Generation::new(1), "Bearer token-1".into());
    it.http.authorize(it.now, credentials);
    it.call("tools/list");
    let send = it.post("tools/list");
    it.reply(&send, 401, NONCE, "");
    it.idle();
    it.call("tools/list");
    let send = it.post("tools/list");
    assert!(!send.needs_proof() && send.dpop_nonce.is_none());
}

// AUT-34
#[test]
fn no_nonce_is_shown_aut_34() {
    let mut it = bound(HttpConfig::new(1).parks());
    let probe = it.post("server/discover");
    let again = it.demand(&probe, "planted-nonce");
    let shown = format!("{:?}{:#?}{again:?}{again:#?}", it.http, it.http);
    assert!(!shown.contains("planted") && shown.contains("Secret(13 bytes)"), "{shown}");
}
