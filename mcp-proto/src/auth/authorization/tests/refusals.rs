//! Refreshes that are refused for reasons other than the token.

use super::world::{AS, Driver, World, user};
use crate::auth::*;

fn signed_in(world: &mut World, config: AuthConfig) -> Driver {
    let mut driver = Driver::new(0, world, config);
    driver.sign_in(world);
    assert_eq!(driver.ends(), [Ok(())], "{:?}", driver.auth);
    world.assert_innocent();
    driver
}

/// Answers to a refresh that say nothing about the token, and whether they are about scopes.
const REFUSALS: [(u16, &str, bool); 12] = [
    (400, r#"{"error":"invalid_request"}"#, true),
    (400, r#"{"error":"invalid_scope"}"#, true),
    (400, r#"{"error":"invalid_token"}"#, false),
    (400, r#"{"error":"access_denied"}"#, false),
    (400, r#"{"error":"unauthorized"}"#, false),
    (401, r#"{"error":"invalid_token","error_description":"expired"}"#, false),
    (403, r#"{"error":{"code":"forbidden"}}"#, false),
    (404, "Not Found", false),
    (400, "Bad Request", false),
    (200, "<html>Log in</html>", false),
    (200, r#"{"message":"the token is gone"}"#, false),
    (302, "", false),
];

// AUT-61: a refresh that is refused for whatever reason is no dead end.
#[test]
fn a_user_logs_in_if_a_refresh_is_refused_for_any_reason() {
    for (status, body, is_about_scopes) in REFUSALS {
        let mut world = World::new();
        signed_in(&mut world, user().scopes(Scopes::parse("a", &AuthLimits::default()).unwrap()));
        world.pass(3601);
        world.auth_server().refresh_answer = Some((status, body));
        let config = user().scopes(Scopes::parse("a", &AuthLimits::default()).unwrap());
        let before = world.store.clone();
        let mut driver = Driver::new(1, &world, config.clone());
        driver.decides = false;
        driver.sign_in(&mut world);
        assert_eq!(driver.shown.len(), 1, "{status} {body}: {:?}", driver.events);
        let refreshes = world.auth_server().count("token refresh_token");
        assert_eq!(refreshes, 1 + usize::from(is_about_scopes), "{status} {body}");
        let key = config.grant_key().file_name();
        assert_eq!(world.store.get(&key), before.get(&key), "the token is kept");
        let query = world.authorize(AS, &driver.shown[0].clone());
        driver.auth.handle_redirect(world.time, &query);
        driver.run(&mut world);
        assert_eq!(driver.ends(), [Ok(())]);
        world.assert_innocent();
    }
}

// RFC 6749 §6: a refresh without `scope` is for what was granted.
#[test]
fn a_refresh_whose_scopes_are_refused_is_repeated_without_them() {
    let mut world = World::new();
    let mut driver = Driver::new(0, &world, user());
    driver.reject(&world, 401, &[("scope", "a b")]);
    driver.run(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);
    world.auth_server().refuses_scope = true;
    driver.accept();
    driver.reject(&world, 401, &[]);
    driver.run(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);
    let server = world.auth_server();
    assert_eq!((server.count("token refresh_token"), server.count("authorize")), (2, 1));
    world.assert_innocent();
    // A timer repeats it as well.
    driver.accept();
    assert!(driver.wait(&mut world));
    assert_eq!(driver.ends(), [Ok(())]);
    assert_eq!(world.auth_server().count("authorize"), 1);
}

// A timer opens no browser, and asks for no identity, for whatever reason a refresh is refused.
#[test]
fn a_refused_renewal_of_a_timer_asks_no_user() {
    for (status, body, _) in REFUSALS {
        let mut world = World::new();
        let mut driver = signed_in(&mut world, user());
        driver.accept();
        world.auth_server().refresh_answer = Some((status, body));
        let before = world.store.clone();
        assert!(driver.wait(&mut world));
        assert_eq!(driver.ends(), []);
        assert!(driver.token().is_some() && world.store == before, "{status} {body}");
        assert_eq!(world.auth_server().count("authorize"), 1);
    }
}
