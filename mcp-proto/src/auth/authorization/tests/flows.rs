//! Whole flows: the scenarios of the conformance suite, and what comes after them.

use alloc::string::ToString;
use alloc::vec;

use serde_json::json;

use super::server::{AuthServer, Iss};
use super::world::{AS, Driver, PRM, SERVER, World, uri, user};
use crate::auth::*;

fn signed_in(world: &mut World, config: AuthConfig) -> Driver {
    let mut driver = Driver::new(0, world, config);
    driver.sign_in(world);
    assert_eq!(driver.ends(), [Ok(())], "{:?}", driver.auth);
    world.assert_innocent();
    driver
}

fn refused(world: &mut World, config: AuthConfig) -> (Driver, Denial) {
    let mut driver = Driver::new(0, world, config);
    driver.sign_in(world);
    while driver.events.is_empty() && driver.wait(world) {}
    let denial = driver.denial();
    world.assert_innocent();
    (driver, denial)
}

// metadata-default
// AUT-19
#[test]
fn a_user_is_signed_in_by_dynamic_registration() {
    let mut world = World::new();
    let driver = signed_in(&mut world, user());
    let server = world.auth_server();
    assert_eq!(server.log, ["metadata", "register", "authorize", "token authorization_code"]);
    assert!(server.tokens.contains_key(&driver.token().unwrap()));
    assert!(!driver.listening);
    assert_eq!(world.urls[0], PRM);
}

// metadata-var1, -var2, -var3: AUT-08, AUT-10, AUT-11, AUT-12
#[test]
fn metadata_are_found_where_they_may_be() {
    for (prm, resource, issuer, location) in [
        (PRM, SERVER, AS, "https://as.example/.well-known/openid-configuration"),
        (
            "https://mcp.example/.well-known/oauth-protected-resource",
            "https://mcp.example",
            "https://as.example/tenant1",
            "https://as.example/.well-known/oauth-authorization-server/tenant1",
        ),
        (
            "https://mcp.example/custom/metadata.json",
            SERVER,
            "https://as.example/tenant1",
            "https://as.example/tenant1/.well-known/openid-configuration",
        ),
    ] {
        let mut world = World::new();
        world.documents.clear();
        let metadata = json!({"resource": resource, "authorization_servers": [issuer]});
        world.documents.insert(prm.into(), (200, metadata.to_string()));
        world.servers = vec![AuthServer::new(issuer)];
        world.servers[0].location = location.into();
        let mut driver = Driver::new(0, &world, user());
        let named = prm.contains("custom");
        let params = [("resource_metadata", prm)];
        driver.reject(&world, 401, if named { &params } else { &[] });
        driver.run(&mut world);
        assert_eq!(driver.ends(), [Ok(())], "{prm}");
        world.assert_innocent();
        let trap = "https://as.example/.well-known/oauth-authorization-server";
        assert!(issuer == AS || !world.urls.iter().any(|url| url == trap), "{:?}", world.urls);
    }
}

// basic-cimd: AUT-20, AUT-21
#[test]
fn a_metadata_document_identifies_the_client() {
    let mut world = World::new();
    world.auth_server().metadata["client_id_metadata_document_supported"] = true.into();
    signed_in(&mut world, user().metadata_document("https://app.example/client.json"));
    assert_eq!(world.auth_server().count("register"), 0);
}

// pre-registration, token-endpoint-auth-*: AUT-21, AUT-56
#[test]
fn a_known_client_authenticates_as_the_server_wants() {
    for method in ["client_secret_basic", "client_secret_post"] {
        let mut world = World::new();
        let server = world.auth_server();
        server.metadata["token_endpoint_auth_methods_supported"] = json!([method]);
        server.clients.insert("known".into(), Some("s3cret".into()));
        signed_in(&mut world, user().client(KnownClient::new(AS, "known").secret("s3cret")));
        assert_eq!(world.auth_server().count("register"), 0);
    }
    for method in ["none", "client_secret_basic", "client_secret_post"] {
        let mut world = World::new();
        world.auth_server().metadata["token_endpoint_auth_methods_supported"] = json!([method]);
        signed_in(&mut world, user());
    }
}

// scope-from-www-authenticate, -from-scopes-supported, -omitted-when-undefined: AUT-25, AUT-28
#[test]
fn scopes_come_from_the_challenge_or_the_resource() {
    for (challenge, listed, offline, expected) in [
        (Some("mcp:basic"), Some("a b"), false, Some("mcp:basic")),
        (None, Some("a b"), false, Some("a b")),
        (None, None, false, None),
        (Some("mcp:basic"), None, true, Some("mcp:basic offline_access")),
        (None, None, true, None),
    ] {
        let mut world = World::new();
        let mut metadata = json!({"resource": SERVER, "authorization_servers": [AS]});
        if let Some(listed) = listed {
            let listed: vec::Vec<_> = listed.split(' ').collect();
            metadata["scopes_supported"] = json!(listed);
        }
        world.publish(&metadata);
        if offline {
            world.auth_server().metadata["scopes_supported"] = json!(["offline_access", "x"]);
        }
        let mut driver = Driver::new(0, &world, user());
        let params: vec::Vec<_> = challenge.iter().map(|scope| ("scope", *scope)).collect();
        driver.reject(&world, 401, &params);
        driver.run(&mut world);
        assert_eq!(world.auth_server().scopes, [expected.map(ToString::to_string)]);
    }
}

// scope-step-up, scope-retry-limit: AUT-26, AUT-63
#[test]
fn a_step_up_asks_for_the_union_and_ends() {
    let mut world = World::new();
    let mut driver = Driver::new(0, &world, user());
    driver.reject(&world, 401, &[("scope", "mcp:basic")]);
    driver.run(&mut world);
    driver.accept();
    let more = [("error", "insufficient_scope"), ("scope", "mcp:write")];
    assert_eq!(driver.reject(&world, 403, &more), Verdict::Wait);
    assert!(driver.auth.credentials().is_some(), "other operations continue");
    driver.run(&mut world);
    assert_eq!(driver.ends(), [Ok(()), Ok(())]);
    let scopes = &world.auth_server().scopes;
    assert_eq!(scopes[1].as_deref(), Some("mcp:basic mcp:write"));
    let verdict = driver.reject(&world, 403, &more);
    assert!(matches!(verdict, Verdict::Denied(Denial::Scopes { .. })), "{verdict:?}");
    assert!(driver.auth.credentials().is_some());
    world.assert_innocent();
}

// resource-mismatch: AUT-38
#[test]
fn metadata_of_another_resource_are_refused() {
    let mut world = World::new();
    let evil = "https://evil.example.com/mcp";
    world.publish(&json!({"resource": evil, "authorization_servers": [AS]}));
    let (_, denial) = refused(&mut world, user());
    assert!(matches!(denial, Denial::ResourceMismatch { .. }), "{denial:?}");
    assert_eq!(world.auth_server().log, [""; 0]);
}

// metadata-issuer-mismatch: AUT-13; AUT-50
#[test]
fn metadata_of_an_authorization_server_are_checked() {
    let mut world = World::new();
    world.auth_server().metadata["issuer"] = "https://attacker.example.com".into();
    let (_, denial) = refused(&mut world, user());
    assert!(matches!(denial, Denial::IssuerMismatch { .. }), "{denial:?}");
    assert_eq!(world.auth_server().log, ["metadata"]);

    let mut world = World::new();
    let metadata = world.auth_server().metadata.as_object_mut().unwrap();
    metadata.remove("code_challenge_methods_supported");
    let (_, denial) = refused(&mut world, user());
    assert_eq!(denial, Denial::Pkce { issuer: AS.into() });
    let quirks = Quirks { unadvertised_pkce: true, ..Quirks::default() };
    let mut driver = Driver::new(0, &world, user().quirks(quirks));
    driver.sign_in(&mut world);
    assert!(driver.events.contains(&AuthEvent::Deviated(Quirk::UnadvertisedPkce)));
    assert_eq!(driver.ends(), [Ok(())]);
}

// iss-*: AUT-17, AUT-51
#[test]
fn the_issuer_of_a_redirect_is_checked_before_the_code_is_used() {
    for (advertised, sent, is_right) in [
        (true, Iss::Right, true),
        (true, Iss::Missing, false),
        (true, Iss::Wrong, false),
        (false, Iss::Right, true),
        (false, Iss::Missing, true),
        (false, Iss::Wrong, false),
    ] {
        let mut world = World::new();
        let server = world.auth_server();
        server.metadata["authorization_response_iss_parameter_supported"] = advertised.into();
        server.iss = sent;
        let mut driver = Driver::new(0, &world, user());
        driver.sign_in(&mut world);
        assert_eq!(driver.ends() == [Ok(())], is_right, "{advertised} {sent:?}");
        let redeemed = world.auth_server().count("token authorization_code");
        assert_eq!(redeemed, usize::from(is_right), "{advertised} {sent:?}");
    }
}

// authorization-server-migration: AUT-23, AUT-42
#[test]
fn another_authorization_server_gets_nothing_of_the_first() {
    let mut world = World::new();
    let mut driver = signed_in(&mut world, user());
    driver.accept();
    let other = "https://other.example";
    world.servers.push(AuthServer::new(other));
    world.publish(&json!({"resource": SERVER, "authorization_servers": [other]}));
    world.auth_server().log.clear();
    assert_eq!(driver.reject(&world, 401, &[("scope", "a")]), Verdict::Wait);
    driver.run(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);
    assert_eq!(world.auth_server().log, [""; 0]);
    let log = &world.servers[1].log;
    assert_eq!(*log, ["metadata", "register", "authorize", "token authorization_code"]);
    world.assert_innocent();
}

// client-credentials-basic, -jwt: AUT-77, AUT-78, AUT-43
#[test]
fn a_client_acts_for_itself() {
    let mut world = World::new();
    world.auth_server().clients.insert("robot".into(), Some("s3cret".into()));
    let client = KnownClient::new(AS, "robot").secret("s3cret");
    signed_in(&mut world, AuthConfig::client_credentials(uri(SERVER), client));
    assert_eq!(world.auth_server().log, ["metadata", "token client_credentials"]);

    let mut world = World::new();
    world.auth_server().clients.insert("signed".into(), None);
    let client = KnownClient::new(AS, "signed").signed(Some("k1"));
    signed_in(&mut world, AuthConfig::client_credentials(uri(SERVER), client));

    let mut world = World::new();
    let client = KnownClient::new("https://other.example", "robot").secret("s3cret");
    let config = AuthConfig::client_credentials(uri(SERVER), client);
    let (_, denial) = refused(&mut world, config);
    assert_eq!(denial, Denial::ClientBound { issuer: AS.into() });
}

// enterprise-managed-authorization, wif-jwt-bearer: AUT-79, AUT-80, AUT-81
#[test]
fn an_identity_is_exchanged() {
    let mut world = World::new();
    world.auth_server().clients.insert("app".into(), Some("s".into()));
    let token_endpoint = "https://idp.example/token";
    let answer = json!({
        "access_token": "PLANTED-jag", "token_type": "N_A",
        "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
    });
    world.documents.insert(token_endpoint.into(), (200, answer.to_string()));
    let provider = IdentityProvider::new(uri(token_endpoint), KnownClient::new("idp", "idp-app"));
    let client = KnownClient::new(AS, "app").secret("s");
    let mut driver = Driver::new(0, &world, AuthConfig::enterprise(uri(SERVER), provider, client));
    driver.sign_in(&mut world);
    assert_eq!(driver.events, [AuthEvent::NeedsIdentity]);
    driver.auth.handle_input(world.time, AuthInput::Identity("PLANTED-id".into()));
    driver.run(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);
    assert_eq!(world.auth_server().log, ["metadata", "token jwt-bearer"]);
    assert_eq!(world.urls.iter().filter(|url| *url == token_endpoint).count(), 1);

    let mut world = World::new();
    world.auth_server().clients.insert("app".into(), None);
    world.auth_server().token_error = Some((400, "invalid_grant"));
    let config = AuthConfig::workload(uri(SERVER), KnownClient::new(AS, "app"));
    let mut driver = Driver::new(0, &world, config);
    driver.sign_in(&mut world);
    driver.auth.handle_input(world.time, AuthInput::Identity("PLANTED-id".into()));
    driver.events.clear();
    driver.run(&mut world);
    assert!(matches!(driver.denial(), Denial::Token { .. }));
    assert_eq!(world.auth_server().log, ["metadata", "token jwt-bearer"]);
}

// 2025-03-26-oauth-metadata-backcompat, -endpoint-fallback: AUT-07, AUT-37, AUT-36
#[test]
fn a_server_without_resource_metadata_is_its_own_authorization_server() {
    for has_metadata in [true, false] {
        let mut world = World::new();
        world.documents.clear();
        let mut server = AuthServer::new("https://mcp.example");
        if !has_metadata {
            server.location.clear();
            server.iss = Iss::Missing;
        }
        world.servers = vec![server];
        signed_in(&mut world, user());
        assert!(world.auth_server().count("register") == 1);
        world.store.clear();
        let (_, denial) = refused(&mut world, user().without_legacy());
        assert_eq!(denial, Denial::Unsupported);
    }
}

// AUT-37, AUT-41: an outage is no answer.
#[test]
fn an_outage_of_the_metadata_starts_no_fallback() {
    let mut world = World::new();
    world.documents.insert(PRM.into(), (503, "".into()));
    world.servers.push(AuthServer::new("https://mcp.example"));
    let (_, denial) = refused(&mut world, user());
    assert_eq!(denial, Denial::Unreachable { url: PRM.into() });
    assert_eq!(world.urls, [PRM; 4]);
}

// AUT-60, AUT-62, A-01
#[test]
fn a_token_is_renewed_before_it_expires() {
    let mut world = World::new();
    let mut driver = signed_in(&mut world, user());
    driver.accept();
    let first = driver.token();
    let start = world.time.unix;
    for _ in 0..5 {
        assert!(driver.wait(&mut world));
        assert_eq!(driver.ends(), [Ok(())]);
    }
    assert!(world.time.unix - start < 5 * 3600);
    assert_ne!(driver.token(), first);
    assert_eq!(world.auth_server().count("token refresh_token"), 5);
    assert_eq!(world.auth_server().count("authorize"), 1);
    world.assert_innocent();
}

// AUT-42, AUT-59
#[test]
fn a_rejected_token_is_refreshed_after_discovery() {
    let mut world = World::new();
    let mut driver = signed_in(&mut world, user());
    driver.accept();
    world.urls.clear();
    assert_eq!(driver.reject(&world, 401, &[]), Verdict::Wait);
    assert!(driver.auth.credentials().is_none());
    driver.run(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);
    assert_eq!(world.urls[0], PRM);
    assert_eq!(world.auth_server().count("token refresh_token"), 1);
    // Just made, and rejected again: no loop.
    assert_eq!(driver.reject(&world, 401, &[]), Verdict::Denied(Denial::Rejected));
    world.assert_innocent();
}

// A-01, A-02: a restart needs no browser.
// AUT-33
#[test]
fn a_restart_uses_what_is_stored() {
    let mut world = World::new();
    let first = signed_in(&mut world, user());
    let again = signed_in(&mut world, user());
    assert_eq!(first.token(), again.token());
    let mut restored = Driver::new(2, &world, user());
    restored.auth.restore(world.time);
    restored.run(&mut world);
    assert_eq!((restored.ends(), restored.token()), (vec![Ok(())], first.token()));
    world.pass(3601);
    let late = signed_in(&mut world, user());
    assert_ne!(first.token(), late.token());
    let server = world.auth_server();
    assert_eq!((server.count("authorize"), server.count("token refresh_token")), (1, 1));
}

// AUT-61, A-05, A-06
#[test]
fn only_a_refused_refresh_token_is_dropped() {
    let mut world = World::new();
    let mut driver = signed_in(&mut world, user());
    driver.accept();
    world.auth_server().token_error = Some((503, "temporarily_unavailable"));
    driver.reject(&world, 401, &[]);
    driver.run(&mut world);
    while driver.events.is_empty() && driver.wait(&mut world) {}
    assert!(matches!(driver.denial(), Denial::Unreachable { .. }));
    world.auth_server().token_error = None;
    world.pass(61);
    driver.sign_in(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);
    assert_eq!(world.auth_server().count("authorize"), 1, "the token was kept");

    driver.accept();
    world.auth_server().revoke();
    driver.reject(&world, 401, &[]);
    driver.run(&mut world);
    let (what, why) = (Stored::RefreshToken, DropReason::Refused);
    assert!(driver.events.contains(&AuthEvent::Dropped { what, why }));
    assert_eq!(driver.ends(), [Ok(())]);
    assert_eq!(world.auth_server().count("authorize"), 2);
}

// A timer opens no browser.
#[test]
fn a_failed_renewal_keeps_the_token() {
    let mut world = World::new();
    let mut driver = signed_in(&mut world, user());
    driver.accept();
    world.auth_server().revoke();
    assert!(driver.wait(&mut world));
    assert_eq!(driver.ends(), []);
    assert!(driver.token().is_some());
    assert_eq!(world.auth_server().count("authorize"), 1);
    assert!(driver.auth.poll_timeout().is_none());
}

// AUT-46, AUT-47, A-26
#[test]
fn a_forgotten_registration_is_made_again() {
    let mut world = World::new();
    let mut driver = signed_in(&mut world, user());
    driver.accept();
    world.auth_server().clients.clear();
    driver.reject(&world, 401, &[]);
    driver.run(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);
    assert_eq!(world.auth_server().count("register"), 2);
    world.assert_innocent();
    let again = Driver::new(1, &world, user());
    drop(again);
    // A flow that never came back makes its stored registration doubtful.
    let mut driver = Driver::new(2, &world, user());
    world.store.retain(|key, _| key.starts_with("client"));
    driver.decides = false;
    driver.sign_in(&mut world);
    assert!(driver.wait(&mut world));
    assert_eq!(driver.denial(), Denial::TimedOut);
    let mut driver = Driver::new(3, &world, user());
    driver.sign_in(&mut world);
    assert_eq!(world.auth_server().count("register"), 3);
}

// AUT-22
#[test]
fn a_refused_redirect_is_registered_with_the_plain_path() {
    let mut world = World::new();
    world.auth_server().registers = false;
    let (driver, denial) = refused(&mut world, user());
    assert!(matches!(denial, Denial::Registration { .. }), "{denial:?}");
    assert_eq!(world.auth_server().count("register"), 2);
    assert!(!driver.listening);
}

#[test]
fn a_user_enters_a_client() {
    let mut world = World::new();
    let server = world.auth_server();
    server.metadata.as_object_mut().unwrap().remove("registration_endpoint");
    server.clients.insert("entered".into(), None);
    let mut driver = Driver::new(0, &world, user());
    driver.sign_in(&mut world);
    assert_eq!(driver.events, [AuthEvent::NeedsClient { issuer: AS.into() }]);
    let input = AuthInput::Client { id: "entered".into(), secret: None };
    driver.auth.handle_input(world.time, input);
    driver.run(&mut world);
    assert_eq!(driver.ends(), [Ok(())]);
    // The next sign-in finds it.
    world.store.retain(|key, _| key.starts_with("client"));
    signed_in(&mut world, user());
}

#[test]
fn a_refusing_user_is_not_asked_again_immediately() {
    let mut world = World::new();
    world.auth_server().refuses_user = true;
    let (mut driver, denial) = refused(&mut world, user());
    assert!(matches!(denial, Denial::Refused { .. }), "{denial:?}");
    assert_eq!(driver.reject(&world, 401, &[]), Verdict::Denied(denial));
    world.pass(61);
    assert_eq!(driver.reject(&world, 401, &[]), Verdict::Wait);
}

#[test]
fn forgotten_credentials_are_gone() {
    for what in [Forget::Tokens, Forget::Registration, Forget::All] {
        let mut world = World::new();
        let mut driver = signed_in(&mut world, user());
        driver.auth.forget(world.time, what);
        driver.run(&mut world);
        assert!(driver.auth.credentials().is_none());
        let kept: vec::Vec<_> = world.store.keys().map(|key| &key[..5]).collect();
        match what {
            Forget::Tokens => assert_eq!(kept, ["clien"]),
            Forget::Registration => assert_eq!(kept, ["grant"]),
            Forget::All => assert!(kept.is_empty()),
        }
        driver.auth.restore(world.time);
        driver.run(&mut world);
        assert_eq!(driver.token().is_some(), what == Forget::Registration);
    }
}

// A-07
#[test]
fn closing_finishes_a_refresh() {
    let mut world = World::new();
    let mut driver = signed_in(&mut world, user());
    let at = driver.auth.poll_timeout().unwrap();
    world.pass(at.duration_since(world.time.now).as_secs() + 1);
    driver.auth.handle_timeout(world.time);
    let before = world.store.clone();
    loop {
        let action = driver.take().unwrap();
        if let AuthAction::Fetch(fetch) = &action {
            let (status, body) = world.answer(fetch);
            driver.auth.close(world.time);
            assert!(!driver.auth.is_closed());
            driver.respond(&world, fetch.id, status, &body);
            break;
        }
        driver.perform(&mut world, action);
    }
    driver.run(&mut world);
    assert!(driver.auth.is_closed());
    assert_eq!(driver.ends(), []);
    assert_ne!(before, world.store);
    let again = signed_in(&mut world, user());
    assert!(again.token().is_some());
    world.assert_innocent();
}

// A-04: a rotated token that could not be saved is not replaced by the stored one.
#[test]
fn a_store_that_fails_brings_no_old_token_back() {
    let mut world = World::new();
    let mut driver = signed_in(&mut world, user());
    for fails in [true, false, true, true, false] {
        driver.accept();
        assert_eq!(driver.reject(&world, 401, &[]), Verdict::Wait);
        while let Some(action) = driver.take() {
            match action {
                AuthAction::Save { id, .. } if fails => {
                    let failure = StoreFailure::Unavailable;
                    driver.auth.handle_store(world.time, id, Err(failure));
                }
                action => driver.perform(&mut world, action),
            }
        }
        driver.collect();
        let unsaved = AuthEvent::Unsaved(StoreFailure::Unavailable);
        assert_eq!(driver.events.contains(&unsaved), fails);
        assert_eq!(driver.ends(), [Ok(())]);
        world.assert_innocent();
    }
    assert_eq!(world.auth_server().count("authorize"), 1);
}

// AUT-14, AUT-49: also when a renewal becomes urgent, the resource is named.
#[test]
fn a_renewal_that_becomes_urgent_names_the_resource() {
    for days in [0, 2] {
        let mut world = World::new();
        world.auth_server().lifetime = Some(days * 86_400 + 3600);
        let mut driver = signed_in(&mut world, user());
        driver.accept();
        let at = driver.auth.poll_timeout().unwrap();
        world.pass(at.duration_since(world.time.now).as_secs() + 1);
        driver.auth.handle_timeout(world.time);
        let draw = driver.take().unwrap();
        driver.perform(&mut world, draw);
        assert_eq!(driver.reject(&world, 401, &[]), Verdict::Wait);
        let mut named = 0;
        while let Some(action) = driver.take() {
            if let AuthAction::Fetch(fetch) = &action {
                named += usize::from(fetch.body.expose().contains("resource=https%3A%2F%2Fmcp"));
            }
            driver.perform(&mut world, action);
        }
        driver.collect();
        assert_eq!((driver.ends(), named), (vec![Ok(())], 1), "{days}");
        let stored = world.store.values().find(|record| record.contains("grant"));
        assert!(stored.unwrap().contains(r#""resource":"https://mcp.example/mcp""#));
    }
}

#[test]
fn scopes_of_the_application_are_requested_as_well() {
    let mut world = World::new();
    let scopes = Scopes::parse("mine mcp:basic", &AuthLimits::default()).unwrap();
    let mut driver = Driver::new(0, &world, user().scopes(scopes));
    driver.reject(&world, 401, &[("scope", "mcp:basic")]);
    driver.run(&mut world);
    assert_eq!(world.auth_server().scopes, [Some("mcp:basic mine".to_string())]);
}

#[test]
fn a_login_ends_if_it_is_cancelled_or_cannot_be_shown() {
    for (input, denial) in
        [(AuthInput::Cancel, Denial::Cancelled), (AuthInput::Unable, Denial::NoBrowser)]
    {
        let mut world = World::new();
        let mut driver = Driver::new(0, &world, user());
        driver.decides = false;
        driver.sign_in(&mut world);
        assert!(driver.listening);
        driver.auth.handle_input(world.time, input);
        driver.run(&mut world);
        assert_eq!(driver.denial(), denial);
        assert!(!driver.listening);
    }
    let mut world = World::new();
    world.auth_server().metadata.as_object_mut().unwrap().remove("registration_endpoint");
    let mut driver = Driver::new(0, &world, user());
    driver.sign_in(&mut world);
    driver.events.clear();
    driver.auth.handle_input(world.time, AuthInput::Unable);
    driver.run(&mut world);
    assert_eq!(driver.denial(), Denial::NoClient { issuer: AS.into() });
}

// AUT-39: a stored registration decides between authorization servers, and then their order.
#[test]
fn an_authorization_server_that_knows_the_client_comes_first() {
    const OTHER: &str = "https://other.example";
    let new_world = || {
        let mut world = World::new();
        world.servers.push(AuthServer::new(OTHER));
        world
    };
    let publish = |world: &mut World, servers: &[&str]| {
        world.publish(&json!({"resource": SERVER, "authorization_servers": servers}));
    };
    for (doubtful, config, expected) in [
        (false, user(), OTHER),
        (true, user(), AS),
        // A configured client decides before a stored one.
        (false, user().client(KnownClient::new(AS, "known")), AS),
    ] {
        let mut world = new_world();
        world.auth_server().clients.insert("known".into(), None);
        publish(&mut world, &[OTHER]);
        signed_in(&mut world, user());
        let grant = user().grant_key().file_name();
        world.store.remove(&grant).unwrap();
        if doubtful {
            let registration = world.store.values_mut().next().unwrap();
            *registration = registration.replace("\"doubtful\":false", "\"doubtful\":true");
        }
        publish(&mut world, &[AS, OTHER]);
        let mut driver = Driver::new(1, &world, config);
        driver.sign_in(&mut world);
        assert_eq!(driver.ends(), [Ok(())]);
        let registered = world.servers[1].count("register");
        let chosen = if world.auth_server().count("authorize") == 1 { AS } else { OTHER };
        assert_eq!((chosen, registered), (expected, 1));
        world.assert_innocent();
    }
}
