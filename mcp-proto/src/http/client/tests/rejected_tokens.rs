//! Tests of requests that no access token helps, although other requests are accepted.

use super::*;
use crate::revision::Era;

fn credentials(generation: u64) -> Credentials {
    Credentials::new(Generation::new(generation), format!("Bearer token-{generation}").into())
}

impl Fixture {
    fn renew(&mut self, generation: u64) {
        self.http.authorize(self.now, credentials(generation));
    }

    fn unauthorized(&mut self, send: &HttpRequest) {
        self.reply(send, 401, PLAIN, "");
    }

    /// Accepts a call with the current token.
    fn accept_another(&mut self, generation: u64) {
        let call = self.call("prompts/list");
        let send = self.post("prompts/list");
        self.reply(&send, 200, JSON, &result_of(&send, "{}"));
        let accepted = format!("accepted generation {generation}");
        assert_eq!(self.events(), [accepted, format!("{call}: {{}}")]);
    }
}

fn modern_parking() -> Fixture {
    let mut it = Fixture::with_http(config(), HttpConfig::new(1).parks());
    let probe = it.post("server/discover");
    it.reply(&probe, 200, JSON, DISCOVERED);
    it.events();
    it
}

fn parked(call: CallId, generation: u64) -> String {
    format!("parked {:?} 401 \"tools/list\" Some({generation})", Some(call))
}

#[test]
fn a_request_that_no_token_helps_fails_alone() {
    let mut it = modern_parking();
    it.renew(1);
    let call = it.call("tools/list");
    for generation in 1..=2 {
        let send = it.post("tools/list");
        it.accept_another(generation);
        it.unauthorized(&send);
        assert_eq!(it.events(), [parked(call, generation)]);
        it.renew(generation + 1);
    }
    let send = it.post("tools/list");
    it.accept_another(3);
    it.unauthorized(&send);
    let events = it.events();
    assert_eq!(events.len(), 1, "nothing asks for another token: {events:?}");
    assert!(events[0].starts_with(&format!("{call}: Unauthorized(")), "{events:?}");
    assert!(events[0].contains("three access tokens"), "{events:?}");
    it.renew(4);
    it.idle();
    it.accept_another(4);
    // Another request starts from zero.
    let call = it.call("tools/list");
    let send = it.post("tools/list");
    it.unauthorized(&send);
    assert_eq!(it.events(), [parked(call, 4)]);
}

#[test]
fn tokens_that_were_replaced_in_the_meantime_count_too() {
    let mut it = modern_parking();
    it.renew(1);
    let call = it.call("tools/list");
    for generation in 1..=2 {
        let send = it.post("tools/list");
        it.renew(generation + 1);
        it.unauthorized(&send);
    }
    let send = it.post("tools/list");
    it.renew(4);
    it.unauthorized(&send);
    it.idle();
    let events = it.events();
    assert!(events[0].starts_with(&format!("{call}: Unauthorized(")), "{events:?}");
}

#[test]
fn a_request_without_a_token_does_not_count() {
    let mut it = modern_parking();
    it.call("tools/list");
    let send = it.post("tools/list");
    it.unauthorized(&send);
    for generation in 1..=2 {
        it.renew(generation);
        let send = it.post("tools/list");
        it.unauthorized(&send);
    }
    assert!(it.events().last().unwrap().starts_with("parked"));
    it.renew(3);
    let send = it.post("tools/list");
    it.reply(&send, 200, JSON, &result_of(&send, "{}"));
}

#[test]
fn the_renewal_of_a_new_token_gives_a_call_no_more_time() {
    let mut it = modern_parking();
    it.renew(1);
    let call = it.call("tools/list");
    let send = it.post("tools/list");
    it.unauthorized(&send);
    it.pass(Duration::from_secs(500));
    it.renew(2);
    let send = it.post("tools/list");
    it.pass(Duration::from_secs(40));
    it.unauthorized(&send);
    it.events();
    it.pass(Duration::from_secs(19));
    assert_eq!(it.events(), [""; 0]);
    it.pass(Duration::from_secs(2));
    assert_eq!(it.events(), [format!("{call}: TimedOut")]);
    it.renew(3);
    it.idle();
}

#[test]
fn a_stream_that_no_token_helps_asks_for_none() {
    let config = config().expect_era(Era::Legacy);
    let mut it = Fixture::with_http(config, HttpConfig::new(1).parks());
    it.renew(1);
    let initialize = it.post("initialize");
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    let initialized = it.post("notifications/initialized");
    it.reply(&initialized, 202, PLAIN, "");
    it.events();
    for generation in 1..=2 {
        let stream = it.get();
        it.unauthorized(&stream);
        assert_eq!(it.events(), [format!("parked None 401 \"GET\" Some({generation})")]);
        it.renew(generation + 1);
    }
    for (generation, violations) in [(3, 1), (4, 1)] {
        let stream = it.get();
        it.unauthorized(&stream);
        let events = it.events();
        assert_eq!(events.len(), violations, "{events:?}");
        assert!(events[0].contains("three access tokens"), "{events:?}");
        it.renew(generation + 1);
    }
    let stream = it.get();
    it.head(&stream, 200, EVENTS);
    assert_eq!(it.events(), ["accepted generation 5"]);
}

#[test]
fn a_probe_that_no_token_helps_closes_the_client() {
    let mut it = Fixture::with_http(config(), HttpConfig::new(1).parks());
    for generation in 1..=3 {
        it.renew(generation);
        let probe = it.post("server/discover");
        it.unauthorized(&probe);
        // Renewals say nothing about the server's era.
        it.pass(Duration::from_secs(100));
    }
    let events = it.events();
    assert!(events.last().unwrap().contains("three access tokens"), "{events:?}");
    it.pass(Duration::from_secs(2));
    while it.http.poll_action().is_some() {}
    assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));
}
