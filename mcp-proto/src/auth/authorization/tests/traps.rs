//! Mistakes that other implementations made, with servers as they are found in practice.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use serde_json::json;

use super::server::AuthServer;
use super::world::{AS, Driver, PRM, SERVER, World, uri, user};
use crate::auth::*;

/// Signs in, and returns the requests by their bodies.
fn bodies(driver: &mut Driver, world: &mut World) -> Vec<(String, String)> {
    let mut bodies = Vec::new();
    while let Some(action) = driver.take() {
        if let AuthAction::Fetch(fetch) = &action {
            bodies.push((fetch.url.to_string(), fetch.body.expose().to_owned()));
        }
        if let AuthAction::Show { url, .. } = &action {
            let (url, query) = url.expose().split_once('?').unwrap();
            bodies.push((url.to_owned(), query.to_owned()));
        }
        driver.perform(world, action);
    }
    driver.collect();
    bodies
}

fn start(world: &World, config: AuthConfig, params: &[(&str, &str)]) -> Driver {
    let mut driver = Driver::new(0, world, config);
    assert_eq!(driver.reject(world, 401, params), Verdict::Wait);
    driver
}

/// Returns the values of a parameter in all requests that have it.
fn values(bodies: &[(String, String)], name: &str) -> Vec<String> {
    let pairs = bodies.iter().flat_map(|(_, body)| form::parse(body).unwrap_or_default());
    pairs.filter(|(key, _)| key == name).map(|(_, value)| value.to_string()).collect()
}

// A-08: while a renewal runs, requests with the valid token continue.
#[test]
fn a_renewal_holds_nothing_up() {
    let mut world = World::new();
    let mut driver = start(&world, user(), &[]);
    driver.run(&mut world);
    let at = driver.auth.poll_timeout().unwrap();
    world.pass(at.duration_since(world.time.now).as_secs() + 1);
    driver.auth.handle_timeout(world.time);
    assert!(driver.take().is_some(), "the renewal runs");
    assert!(driver.auth.credentials().is_some());
    assert_eq!(driver.reject_with(&world, None, 401, &[]), Verdict::Retry);
}

// A-12, A-13
#[test]
fn any_refusal_and_any_page_leads_to_the_next_location() {
    let root = "https://mcp.example/.well-known/oauth-protected-resource";
    for status in [200, 204, 301, 307, 400, 401, 403, 404, 405, 410, 451] {
        let mut world = World::new();
        let (_, metadata) = world.documents.remove(PRM).unwrap();
        world.documents.insert(PRM.into(), (status, "<!doctype html>".into()));
        world.documents.insert(root.into(), (200, metadata));
        world.auth_server().location = "https://as.example/.well-known/openid-configuration".into();
        let first = "https://as.example/.well-known/oauth-authorization-server";
        world.documents.insert(first.into(), (status, "<!doctype html>".into()));
        let mut driver = start(&world, user(), &[]);
        driver.run(&mut world);
        assert_eq!(driver.ends(), [Ok(())], "{status}");
    }
}

// A-15
#[test]
fn a_challenge_is_parsed_and_not_searched() {
    let mut world = World::new();
    let params = [("realm", "scope=\"evil\", resource_metadata=x"), ("scope", "good")];
    let mut driver = start(&world, user(), &params);
    driver.run(&mut world);
    assert_eq!(world.auth_server().scopes, [Some("good".to_owned())]);
    assert_eq!(world.urls[0], PRM);
}

// A-16, A-22: byte for byte, in every request.
#[test]
fn the_resource_is_sent_as_it_is_written() {
    for resource in ["https://mcp.example", "https://MCP.example:443/mcp", SERVER] {
        let mut world = World::new();
        world.publish(&json!({"resource": resource, "authorization_servers": [AS]}));
        let mut driver = start(&world, user(), &[]);
        let sent = values(&bodies(&mut driver, &mut world), "resource");
        assert_eq!(sent, [resource, resource]);
        driver.accept();
        assert_eq!(driver.reject(&world, 401, &[]), Verdict::Wait);
        assert_eq!(values(&bodies(&mut driver, &mut world), "resource"), [resource]);
    }
}

// A-18: the final slash of an issuer is kept.
#[test]
fn an_issuer_keeps_its_slash() {
    let issuer = "https://as.example/tenant/";
    let mut world = World::new();
    world.publish(&json!({"resource": SERVER, "authorization_servers": [issuer]}));
    world.servers = vec![AuthServer::new(issuer)];
    world.servers[0].location =
        "https://as.example/.well-known/oauth-authorization-server/tenant".into();
    let mut driver = start(&world, user(), &[]);
    driver.run(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);
    let stored = world.store.values().find(|record| record.contains("grant")).unwrap();
    assert!(stored.contains(&format!(r#""issuer":"{issuer}""#)));
}

// A-19
#[test]
fn issuers_that_differ_by_a_slash_need_a_quirk() {
    let quirks = Quirks { issuer_slash: true, ..Quirks::default() };
    for (config, is_used) in [(user(), false), (user().quirks(quirks), true)] {
        let mut world = World::new();
        let named = "https://as.example/";
        world.publish(&json!({"resource": SERVER, "authorization_servers": [named]}));
        let mut driver = start(&world, config, &[]);
        driver.run(&mut world);
        assert_eq!(driver.events.contains(&AuthEvent::Deviated(Quirk::IssuerSlash)), is_used);
        match driver.ends().as_slice() {
            [Ok(())] => assert!(is_used),
            [Err(Denial::IssuerMismatch { .. })] => assert!(!is_used),
            other => panic!("{other:?}"),
        }
    }
}

// A-21
#[test]
fn a_resource_can_be_left_out_and_a_refresh_names_its_scopes() {
    let mut world = World::new();
    let quirks = Quirks { without_resource: true, ..Quirks::default() };
    let mut driver = start(&world, user().quirks(quirks), &[("scope", "a b")]);
    assert_eq!(values(&bodies(&mut driver, &mut world), "resource"), [""; 0]);
    driver.accept();
    assert_eq!(driver.reject(&world, 401, &[]), Verdict::Wait);
    assert_eq!(values(&bodies(&mut driver, &mut world), "scope"), ["a b"]);
    assert!(driver.events.contains(&AuthEvent::Deviated(Quirk::WithoutResource)));
}

// A-23: the scopes that an authorization server knows are not asked for.
#[test]
fn the_scopes_of_the_authorization_server_are_not_asked_for() {
    let mut world = World::new();
    world.auth_server().metadata["scopes_supported"] = json!(["admin", "everything"]);
    let mut driver = start(&world, user(), &[]);
    driver.run(&mut world);
    assert_eq!(world.auth_server().scopes, [None]);
}

// A-24
#[test]
fn an_error_with_status_200_is_an_error() {
    let mut world = World::new();
    world.auth_server().token_error = Some((200, "bad_verification_code"));
    let mut driver = start(&world, user(), &[]);
    driver.run(&mut world);
    assert!(matches!(driver.denial(), Denial::Token { .. }));
}

// A-25: an empty secret is none.
#[test]
fn a_public_client_sends_no_secret() {
    let mut world = World::new();
    let mut driver = start(&world, user(), &[]);
    let bodies = bodies(&mut driver, &mut world);
    assert_eq!(driver.ends(), [Ok(())]);
    assert_eq!(values(&bodies, "client_secret"), [""; 0]);
}

// A-27: nothing but the issuer and the endpoints in use is required.
#[test]
fn metadata_need_only_the_endpoints_in_use() {
    let mut world = World::new();
    let server = world.auth_server();
    let endpoint = |name: &str| format!("{AS}/{name}");
    server.metadata = json!({
        "issuer": AS, "token_endpoint": endpoint("token"),
        "authorization_endpoint": endpoint("authorize"),
        "code_challenge_methods_supported": ["plain", "S256"],
    });
    server.clients.insert("known".into(), None);
    let mut driver = start(&world, user().client(KnownClient::new(AS, "known")), &[]);
    driver.run(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);

    let mut world = World::new();
    world.auth_server().metadata = json!({"issuer": AS, "token_endpoint": endpoint("token")});
    world.auth_server().clients.insert("robot".into(), Some("s".into()));
    let client = KnownClient::new(AS, "robot").secret("s");
    let mut driver = start(&world, AuthConfig::client_credentials(uri(SERVER), client), &[]);
    driver.run(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);
}

// No user logs in, and nothing is registered, if no token could be requested.
#[test]
fn unusable_endpoints_are_noticed_before_a_login() {
    for endpoint in ["token_endpoint", "authorization_endpoint"] {
        for value in [
            json!(null),
            json!("http://as.example/x"),
            json!("https://127.0.0.1/x"),
            json!("https://169.254.169.254/x"),
            json!("https://[fd00:ec2::254]/x"),
            json!("x"),
            json!("https://user@as.example/x"),
        ] {
            let mut world = World::new();
            world.auth_server().metadata[endpoint] = value.clone();
            let mut driver = start(&world, user(), &[]);
            driver.run(&mut world);
            assert!(matches!(driver.denial(), Denial::Endpoint { .. }), "{endpoint} {value}");
            assert_eq!(world.auth_server().log, ["metadata"], "{endpoint} {value}");
        }
    }
    // Another document of the issuer may be better.
    let mut world = World::new();
    let right = world.auth_server().metadata.to_string();
    world.auth_server().metadata["token_endpoint"] = json!(null);
    let other = "https://as.example/.well-known/openid-configuration";
    world.documents.insert(other.into(), (200, right));
    let mut driver = start(&world, user(), &[]);
    driver.run(&mut world);
    assert_eq!(world.auth_server().count("authorize"), 1);
}

// A-28: only documents are redirected, within their origin.
#[test]
fn requests_are_redirected_as_little_as_possible() {
    let mut world = World::new();
    let mut driver = start(&world, user(), &[]);
    let mut posts = 0;
    while let Some(action) = driver.take() {
        if let AuthAction::Fetch(fetch) = &action {
            let is_post = !fetch.body.is_empty();
            posts += usize::from(is_post);
            assert_eq!(fetch.redirects_max, if is_post { 0 } else { 3 });
            assert!(!fetch.cross_origin && fetch.reach == Reach::Public);
        }
        driver.perform(&mut world, action);
    }
    assert_eq!(posts, 2);
}

// A-30: the registered port is preferred; with another one, the client registers again.
// AUT-48
#[test]
fn a_taken_port_is_registered_again() {
    let mut world = World::new();
    start(&world, user(), &[]).run(&mut world);
    world.store.retain(|key, _| key.starts_with("client"));
    let mut driver = start(&world, user(), &[]);
    driver.run(&mut world);
    assert_eq!(world.auth_server().count("register"), 1);

    world.store.retain(|key, _| key.starts_with("client"));
    let mut driver = start(&world, user(), &[]);
    let mut preferred = None;
    while let Some(action) = driver.take() {
        match action {
            AuthAction::Listen { port, .. } => {
                preferred = port;
                driver.listening = true;
                driver.auth.handle_listening(world.time, Some(6000));
            }
            action => driver.perform(&mut world, action),
        }
    }
    driver.collect();
    assert_eq!((preferred, driver.ends()), (Some(5000), vec![Ok(())]));
    assert_eq!(world.auth_server().count("register"), 2);
    world.assert_innocent();
}
