//! The table of inputs: what becomes of challenges, redirects and commands in each state.

use alloc::format;
use alloc::string::ToString;

use serde_json::json;

use super::world::{AS, Driver, SERVER, World, user};
use crate::auth::*;
use crate::http::client::Generation;

fn ready(world: &mut World) -> Driver {
    let mut driver = Driver::new(0, world, user());
    driver.sign_in(world);
    assert_eq!(driver.ends(), [Ok(())]);
    driver
}

/// A driver whose user has not decided yet.
fn asking(world: &mut World) -> Driver {
    let mut driver = Driver::new(0, world, user());
    driver.decides = false;
    driver.sign_in(world);
    assert_eq!(driver.shown.len(), 1);
    driver
}

// many requests with one token cause one renewal.
#[test]
fn a_401_for_an_older_generation_is_sent_again() {
    let mut world = World::new();
    let mut driver = ready(&mut world);
    for old in [None, Some(Generation::new(0))] {
        assert_eq!(driver.reject_with(&world, old, 401, &[]), Verdict::Retry);
    }
    assert_eq!(driver.take(), None);
}

#[test]
fn many_refused_requests_cause_one_flow() {
    let mut world = World::new();
    let mut driver = ready(&mut world);
    driver.accept();
    let generation = Some(driver.generation());
    for _ in 0..100 {
        assert_eq!(driver.reject_with(&world, generation, 401, &[]), Verdict::Wait);
    }
    driver.run(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);
    assert_eq!(driver.reject_with(&world, generation, 401, &[]), Verdict::Retry);
    assert_eq!(world.auth_server().count("token refresh_token"), 1);
}

#[test]
fn a_fresh_token_that_is_rejected_ends_in_a_denial() {
    let mut world = World::new();
    let mut driver = ready(&mut world);
    assert_eq!(driver.reject(&world, 401, &[]), Verdict::Denied(Denial::Rejected));
    assert_eq!(driver.auth.credentials(), None);
    assert_eq!(driver.reject(&world, 401, &[]), Verdict::Denied(Denial::Rejected));
    driver.collect();
    assert_eq!(driver.ends(), []);
}

// A stored token may be old: it is renewed, not denied.
#[test]
fn a_stored_token_that_is_rejected_is_refreshed() {
    let mut world = World::new();
    ready(&mut world);
    let mut driver = ready(&mut world);
    assert_eq!(driver.reject(&world, 401, &[]), Verdict::Wait);
    driver.run(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);
    assert_eq!(world.auth_server().count("token refresh_token"), 1);
}

#[test]
fn scopes_join_a_flow_until_the_user_is_asked() {
    let mut world = World::new();
    let mut driver = Driver::new(0, &world, user());
    driver.reject(&world, 401, &[("scope", "a")]);
    assert_eq!(driver.reject(&world, 401, &[("scope", "b a")]), Verdict::Wait);
    driver.run(&mut world);
    assert_eq!(world.auth_server().scopes, [Some("a b".to_string())]);
    assert_eq!(driver.ends(), [Ok(())]);

    let mut driver = asking(&mut World::new());
    let waits = driver.reject(&world, 401, &[("scope", "c")]);
    assert_eq!(waits, Verdict::Wait);
}

// AUT-64, A-10, D-A19
#[test]
fn a_403_without_scopes_is_no_matter_of_authorization() {
    let mut world = World::new();
    let mut driver = ready(&mut world);
    for params in [&[][..], &[("scope", "a")], &[("error", "invalid_token")]] {
        let verdict = driver.reject(&world, 403, params);
        assert_eq!(verdict, Verdict::Denied(Denial::Forbidden));
    }
    assert!(driver.auth.credentials().is_some());
}

#[test]
fn a_403_is_sent_again_if_a_newer_grant_covers_it() {
    let mut world = World::new();
    let mut driver = Driver::new(0, &world, user());
    driver.reject(&world, 401, &[("scope", "a b")]);
    driver.run(&mut world);
    let more = |scope| [("error", "insufficient_scope"), ("scope", scope)];
    assert_eq!(driver.reject_with(&world, None, 403, &more("b")), Verdict::Retry);
    assert_eq!(driver.reject_with(&world, None, 403, &more("c")), Verdict::Wait);
}

// AUT-26: different scopes each time end as well, and after a while, all begins again.
#[test]
fn scopes_that_change_each_time_end_in_a_loop() {
    let mut world = World::new();
    let mut driver = ready(&mut world);
    let step_up = |driver: &mut Driver, world: &mut World, n: u32| {
        driver.accept();
        let scope = format!("s{n}");
        let verdict =
            driver.reject(world, 403, &[("error", "insufficient_scope"), ("scope", &scope)]);
        driver.run(world);
        verdict
    };
    for n in 0..3 {
        assert_eq!(step_up(&mut driver, &mut world, n), Verdict::Wait);
    }
    assert_eq!(step_up(&mut driver, &mut world, 3), Verdict::Denied(Denial::Loop));
    world.pass(600);
    assert_eq!(step_up(&mut driver, &mut world, 3), Verdict::Wait);
}

// A step-up that fails leaves the grant for other operations.
#[test]
fn a_refused_step_up_keeps_the_grant() {
    let mut world = World::new();
    let mut driver = ready(&mut world);
    let token = driver.token();
    world.auth_server().refuses_user = true;
    let more = [("error", "insufficient_scope"), ("scope", "x")];
    assert_eq!(driver.reject(&world, 403, &more), Verdict::Wait);
    driver.run(&mut world);
    assert!(matches!(driver.denial(), Denial::Refused { .. }));
    assert_eq!(driver.token(), token);
}

#[test]
fn begin_authorizes_once() {
    let mut world = World::new();
    let mut driver = Driver::new(0, &world, user());
    driver.auth.begin(world.time);
    driver.auth.begin(world.time);
    driver.run(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);
    driver.auth.begin(world.time);
    driver.run(&mut world);
    assert_eq!(driver.ends(), []);
}

#[test]
fn restore_without_a_record_does_nothing() {
    let mut world = World::new();
    let mut driver = Driver::new(0, &world, user());
    driver.auth.restore(world.time);
    driver.run(&mut world);
    assert_eq!(driver.ends(), []);
    assert!(world.urls.is_empty());
    // A request that is rejected while the record is read waits for a flow.
    driver.auth.restore(world.time);
    driver.sign_in(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);
}

// AUT-16
#[test]
fn foreign_redirects_end_nothing_however_many_there_are() {
    let mut world = World::new();
    let mut driver = asking(&mut world);
    let long = alloc::format!("code={}&state=other", "x".repeat(100_000));
    let foreign = ["code=PLANTED&state=other", "", "error=access_denied", "a&a&state", "%", &long];
    for query in foreign.iter().cycle().take(1000) {
        let page = driver.auth.handle_redirect(world.time, query);
        assert_eq!(page, RedirectPage::NotFound);
    }
    driver.run(&mut world);
    assert_eq!(driver.ends(), []);
    let query = world.authorize(AS, &driver.shown[0].clone());
    assert_eq!(driver.auth.handle_redirect(world.time, &query), RedirectPage::Success);
    driver.run(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);
}

#[test]
fn a_redirect_is_used_once() {
    let mut world = World::new();
    let mut driver = asking(&mut world);
    let query = world.authorize(AS, &driver.shown[0].clone());
    assert_eq!(driver.auth.handle_redirect(world.time, &query), RedirectPage::Success);
    assert_eq!(driver.auth.handle_redirect(world.time, &query), RedirectPage::NotFound);
    driver.run(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);
    assert_eq!(driver.auth.handle_redirect(world.time, &query), RedirectPage::NotFound);
    assert_eq!(world.auth_server().count("token authorization_code"), 1);
}

#[test]
fn each_flow_draws_afresh() {
    let mut world = World::new();
    let mut driver = asking(&mut world);
    while driver.wait(&mut world) {}
    assert_eq!(driver.denial(), Denial::TimedOut);
    world.pass(61);
    driver.sign_in(&mut world);
    let state = |url: &str| url.split("state=").nth(1).unwrap().to_string();
    let challenge = |url: &str| url.split("code_challenge=").nth(1).unwrap()[..43].to_string();
    let (first, second) = (&driver.shown[0], &driver.shown[1]);
    assert_ne!(state(first), state(second));
    assert_ne!(challenge(first), challenge(second));
}

#[test]
fn closing_denies_what_waits_and_is_final() {
    let mut world = World::new();
    let mut driver = asking(&mut world);
    driver.auth.close(world.time);
    driver.run(&mut world);
    assert_eq!(driver.denial(), Denial::Closed);
    assert!(driver.auth.is_closed() && !driver.listening);
    assert_eq!(driver.reject(&world, 401, &[]), Verdict::Denied(Denial::Closed));
    driver.auth.begin(world.time);
    driver.auth.restore(world.time);
    driver.auth.forget(world.time, Forget::All);
    driver.auth.close(world.time);
    driver.run(&mut world);
    assert_eq!((driver.ends().len(), driver.auth.poll_timeout()), (0, None));
}

#[test]
fn forgetting_denies_what_waits() {
    let mut world = World::new();
    let mut driver = asking(&mut world);
    driver.auth.forget(world.time, Forget::All);
    driver.run(&mut world);
    assert_eq!(driver.denial(), Denial::Cancelled);
    assert!(!driver.listening && world.store.is_empty());
    driver.decides = true;
    driver.sign_in(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);
}

// T-61: a monotonic clock that goes backwards stops; a jump of the wall clock only moves expiry.
#[test]
fn time_is_forgiving() {
    let mut world = World::new();
    let mut driver = ready(&mut world);
    let due = driver.auth.poll_timeout().unwrap();
    let back = Time { now: crate::time::Instant::ZERO, unix: 0 };
    driver.auth.handle_timeout(back);
    assert!(driver.auth.poll_timeout().unwrap() > due);
    assert_eq!(driver.take(), None);
    // The computer slept: the monotonic clock stood still.
    world.time.unix += 4000;
    driver.auth.handle_timeout(world.time);
    driver.run(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);
    driver.auth.handle_timeout(Time { unix: u64::MAX, ..world.time });
    driver.auth.handle_timeout(world.time);
}

// AUT-29, AUT-53, AUT-66, AUT-67
#[test]
fn urls_lead_no_deeper_than_the_server() {
    for issuer in ["http://as.example", "https://127.0.0.1", "https://10.0.0.1"] {
        let mut world = World::new();
        world.publish(&json!({"resource": SERVER, "authorization_servers": [issuer]}));
        let mut driver = Driver::new(0, &world, user());
        driver.sign_in(&mut world);
        assert!(matches!(driver.denial(), Denial::Blocked(_)), "{issuer}");
        assert!(world.urls.iter().all(|url| url.starts_with("https://mcp.example/")));
    }
    let mut world = World::new();
    world.auth_server().metadata["authorization_endpoint"] = "javascript:alert(1)".into();
    let mut driver = Driver::new(0, &world, user());
    driver.sign_in(&mut world);
    assert!(matches!(driver.denial(), Denial::Endpoint { .. }));
}

// AUT-59
#[test]
fn an_answer_without_refresh_token_or_expiry_is_used_until_it_is_rejected() {
    let mut world = World::new();
    world.auth_server().gives_refresh = false;
    world.auth_server().lifetime = None;
    let mut driver = ready(&mut world);
    assert_eq!(driver.auth.poll_timeout(), None);
    driver.accept();
    assert_eq!(driver.reject(&world, 401, &[]), Verdict::Wait);
    driver.run(&mut world);
    assert_eq!(world.auth_server().count("authorize"), 2);
}
