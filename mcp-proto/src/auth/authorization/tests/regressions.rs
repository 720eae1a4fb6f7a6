//! Rare orders of events that once went wrong.

use alloc::vec;
use alloc::vec::Vec;

use serde_json::json;

use super::server::AuthServer;
use super::world::{AS, Driver, SERVER, World, uri, user};
use crate::auth::*;

fn ready(world: &mut World) -> Driver {
    let mut driver = Driver::new(0, world, user());
    driver.sign_in(world);
    driver.accept();
    assert_eq!(driver.ends(), [Ok(())]);
    driver
}

/// Runs until the first request with this text in its body, which is returned.
fn run_to(driver: &mut Driver, world: &mut World, text: &str) -> Fetch {
    for _ in 0..100 {
        let action = driver.take().expect("the request comes");
        match action {
            AuthAction::Fetch(fetch) if fetch.body.expose().contains(text) => return fetch,
            action => driver.perform(world, action),
        }
        driver.unlock(world);
    }
    panic!("no such request");
}

/// Runs to the end; each temporary failure is waited for.
fn run_out(driver: &mut Driver, world: &mut World) {
    driver.run(world);
    for _ in 0..20 {
        let is_over = driver
            .events
            .iter()
            .any(|event| matches!(event, AuthEvent::Granted { .. } | AuthEvent::Denied(_)));
        if is_over || !driver.wait(world) {
            return;
        }
    }
    panic!("no end");
}

// A token that expires immediately is not renewed in a loop.
#[test]
fn tokens_of_no_lifetime_cause_no_loop_of_renewals() {
    for lifetime in [0, 1, 2, 5, 19] {
        let mut world = World::new();
        world.auth_server().lifetime = Some(lifetime);
        let mut driver = ready(&mut world);
        for _ in 0..5 {
            driver.wait(&mut world);
        }
        let refreshes = world.auth_server().count("token refresh_token");
        assert_eq!((lifetime, refreshes), (lifetime, 0));
        assert_eq!(driver.auth.poll_timeout(), None);
    }
    let mut world = World::new();
    world.auth_server().lifetime = Some(20);
    let mut driver = ready(&mut world);
    let start = world.time.unix;
    assert!(driver.wait(&mut world));
    assert_eq!(world.auth_server().count("token refresh_token"), 1);
    assert!(world.time.unix - start >= 10);
}

// With valid credentials, `begin` does nothing, whatever runs beside them.
#[test]
fn beginning_during_a_renewal_promises_nothing() {
    let mut world = World::new();
    let mut driver = ready(&mut world);
    let at = driver.auth.poll_timeout().unwrap();
    world.pass(at.duration_since(world.time.now).as_secs() + 1);
    world.auth_server().revoke();
    driver.auth.handle_timeout(world.time);
    driver.auth.begin(world.time);
    run_out(&mut driver, &mut world);
    assert_eq!(driver.ends(), []);
    assert!(driver.token().is_some());
}

// what is adopted from the store is another token than the one that was rejected.
#[test]
fn a_rejected_token_is_not_adopted_from_the_store() {
    let mut world = World::new();
    let mut one = ready(&mut world);
    let mut other = Driver::new(1, &world, user());
    other.sign_in(&mut world);
    other.accept();
    assert_eq!((one.token(), other.ends()), (other.token(), vec![Ok(())]));
    world.auth_server().revoke();
    for driver in [&mut one, &mut other] {
        driver.decides = false;
        assert_eq!(driver.reject(&world, 401, &[]), Verdict::Wait);
        driver.run(&mut world);
    }
    // Neither has a new token before its user has decided.
    for driver in [&mut one, &mut other] {
        assert_eq!((driver.ends(), driver.token()), (vec![], None));
        assert_eq!(driver.shown.len(), 1);
    }
}

// A process that has changed the authorization server is not overruled by one that has not yet.
#[test]
fn a_grant_of_another_authorization_server_is_the_newer_one() {
    let mut world = World::new();
    let mut one = ready(&mut world);
    let mut other = Driver::new(1, &world, user());
    other.sign_in(&mut world);
    for _ in 0..3 {
        other.accept();
        assert!(other.wait(&mut world));
    }
    world.servers.push(AuthServer::new("https://other.example"));
    let servers = json!(["https://other.example"]);
    world.publish(&json!({"resource": SERVER, "authorization_servers": servers}));
    one.ends();
    assert_eq!(one.reject(&world, 401, &[]), Verdict::Wait);
    one.run(&mut world);
    assert_eq!(one.ends(), [Ok(())]);
    // The other one fails once, and then finds the new grant.
    world.documents.clear();
    other.ends();
    assert_eq!(other.reject(&world, 401, &[]), Verdict::Wait);
    other.auth.forget(world.time, Forget::Registration);
    run_out(&mut other, &mut world);
    let stored = Driver::restored(&mut world);
    assert_eq!(stored, one.token());
    let record = world.store.iter().find(|(key, _)| key.starts_with("grant")).unwrap().1;
    let policy = UriPolicy::of_server(Reach::Public);
    let record = GrantRecord::parse(record.as_bytes(), &policy, &AuthLimits::default()).unwrap();
    assert!(record.generation > 1, "{}", record.generation);
}

// Credentials that are being forgotten are not used.
#[test]
fn beginning_right_after_forgetting_uses_nothing_forgotten() {
    for what in [Forget::All, Forget::Tokens] {
        for restores in [false, true] {
            let mut world = World::new();
            let forgotten = ready(&mut world).token();
            let mut driver = Driver::new(1, &world, user());
            driver.auth.forget(world.time, what);
            if restores {
                driver.auth.restore(world.time);
            } else {
                driver.auth.begin(world.time);
            }
            driver.run(&mut world);
            assert_ne!(driver.token(), forgotten, "{what:?}");
            assert_eq!(driver.ends().len(), usize::from(!restores));
            let registrations = world.auth_server().count("register");
            let expected = if what == Forget::All && !restores { 2 } else { 1 };
            assert_eq!(registrations, expected, "{what:?}");
        }
    }
}

// RFC 6749 §4.1.2: a code is used once. An answer that was lost may have used it.
#[test]
fn a_code_is_not_sent_again_after_its_answer_was_lost() {
    enum Lost {
        Cut,
        Silent,
    }
    for lost in [Lost::Cut, Lost::Silent] {
        let mut world = World::new();
        let mut driver = Driver::new(0, &world, user());
        assert_eq!(driver.reject(&world, 401, &[]), Verdict::Wait);
        let fetch = run_to(&mut driver, &mut world, "grant_type=authorization_code");
        world.answer(&fetch);
        match lost {
            Lost::Cut => driver.auth.handle_failure(world.time, fetch.id, FetchFailure::Cut),
            Lost::Silent => {}
        }
        run_out(&mut driver, &mut world);
        let url = "https://as.example/token".into();
        assert_eq!(driver.denial(), Denial::Unreachable { url });
        assert_eq!(world.auth_server().count("token authorization_code"), 1);
    }
    // What the server has not received, or says that it has not processed, is sent again.
    let mut world = World::new();
    let mut driver = Driver::new(0, &world, user());
    assert_eq!(driver.reject(&world, 401, &[]), Verdict::Wait);
    let fetch = run_to(&mut driver, &mut world, "grant_type=authorization_code");
    driver.auth.handle_failure(world.time, fetch.id, FetchFailure::Unreached);
    assert!(driver.auth.poll_timeout().is_some());
    driver.wait_once(&mut world);
    let fetch = run_to(&mut driver, &mut world, "grant_type=authorization_code");
    driver.respond(&world, fetch.id, 503, "");
    run_out(&mut driver, &mut world);
    assert_eq!(driver.ends(), [Ok(())]);
}

// AUT-81: a workload's token is presented once.
#[test]
fn the_token_of_a_workload_is_presented_once() {
    for status in [500, 503, 429, 400, 0] {
        let mut world = World::new();
        world.auth_server().clients.insert("app".into(), None);
        let config = AuthConfig::workload(uri(SERVER), KnownClient::new(AS, "app"));
        let mut driver = Driver::new(0, &world, config);
        driver.sign_in(&mut world);
        driver.auth.handle_input(world.time, AuthInput::Identity("PLANTED-id".into()));
        let fetch = run_to(&mut driver, &mut world, "jwt-bearer");
        if status == 0 {
            driver.auth.handle_failure(world.time, fetch.id, FetchFailure::Cut);
        } else {
            driver.respond(&world, fetch.id, status, "{}");
        }
        run_out(&mut driver, &mut world);
        assert!(matches!(driver.ends().as_slice(), [Err(_)]), "{status}");
        let asked: Vec<_> = world.urls.iter().filter(|url| url.ends_with("/token")).collect();
        assert!(asked.is_empty(), "{status}: it was sent again");
    }
}
