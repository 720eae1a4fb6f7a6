//! Tokens that are bound to a key.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use serde_json::json;

use super::world::{AS, Driver, SERVER, World, user};
use crate::auth::*;

const KEY: PublicKey = PublicKey { x: [1; 32], y: [2; 32] };
const OTHER: PublicKey = PublicKey { x: [3; 32], y: [4; 32] };

/// A challenge: its scheme and its parameters.
type Challenged<'a> = (&'a str, &'a [(&'a str, &'a str)]);

/// Creates a world whose authorization server supports bound tokens, as does the MCP server.
fn world() -> World {
    let mut world = World::new();
    world.publish(&json!({
        "resource": SERVER,
        "authorization_servers": [AS],
        "dpop_signing_alg_values_supported": ["ES256"],
    }));
    world.auth_server().metadata["dpop_signing_alg_values_supported"] = json!(["ES256"]);
    world
}

fn signed_in(world: &mut World, config: AuthConfig) -> Driver {
    let mut driver = Driver::new(0, world, config);
    driver.sign_in(world);
    assert_eq!(driver.ends(), [Ok(())], "{:?}", driver.auth);
    world.assert_innocent();
    driver
}

fn scheme(driver: &Driver) -> String {
    let credentials = driver.auth.credentials().unwrap();
    credentials.authorization.expose().split(' ').next().unwrap().into()
}

// AUT-82, AUT-83: the table of `flow::proof`.
#[test]
fn tokens_are_bound_if_both_servers_support_it_or_one_side_requires_it_aut_82() {
    let both: &[Challenged<'_>] = &[("Bearer", &[]), ("DPoP", &[])];
    let (bearer, dpop) = (&both[..1], &both[1..]);
    let (offers, requires) = (user().dpop(KEY), user().require_dpop(KEY));
    let accepted = ("dpop_signing_alg_values_supported", json!(["ES384", "ES256"]));
    let other = ("dpop_signing_alg_values_supported", json!(["ES384"]));
    let required = ("dpop_bound_access_tokens_required", json!(true));
    let nothing = ("x", json!(null));
    for (config, challenges, resource, listed, expected) in [
        (user(), bearer, &nothing, true, Ok("Bearer")),
        (user(), both, &accepted, true, Ok("Bearer")),
        (user(), dpop, &nothing, true, Err(Denial::DpopRequired)),
        (user(), bearer, &required, true, Err(Denial::DpopRequired)),
        (offers.clone(), bearer, &nothing, true, Ok("Bearer")),
        (offers.clone(), bearer, &other, true, Ok("Bearer")),
        (offers.clone(), bearer, &accepted, true, Ok("DPoP")),
        (offers.clone(), bearer, &accepted, false, Ok("Bearer")),
        (offers.clone(), both, &nothing, true, Ok("DPoP")),
        (offers.clone(), both, &nothing, false, Ok("Bearer")),
        (offers.clone(), dpop, &nothing, false, Ok("DPoP")),
        (offers, bearer, &required, false, Ok("DPoP")),
        (requires.clone(), bearer, &nothing, false, Ok("DPoP")),
        (requires, both, &accepted, true, Ok("DPoP")),
    ] {
        let mut world = World::new();
        let mut metadata = json!({"resource": SERVER, "authorization_servers": [AS]});
        metadata[resource.0] = resource.1.clone();
        world.publish(&metadata);
        if listed {
            world.auth_server().metadata["dpop_signing_alg_values_supported"] = json!(["ES256"]);
        }
        let mut driver = Driver::new(0, &world, config);
        driver.reject_by(&world, None, 401, challenges);
        driver.run(&mut world);
        let context = format!("{challenges:?} {resource:?} {listed}");
        match expected {
            Ok(expected) => {
                assert_eq!(
                    (driver.ends(), &*scheme(&driver)),
                    (vec![Ok(())], expected),
                    "{context}"
                );
                let is_proven = world.auth_server().proofs.len() == 1;
                assert_eq!(is_proven, expected == "DPoP", "{context}");
            }
            Err(denial) => {
                assert_eq!(driver.ends(), [Err(denial)], "{context}");
                assert_eq!(world.auth_server().count("authorize"), 0, "{context}");
            }
        }
        world.assert_innocent();
    }
}

// AUT-55, AUT-83
#[test]
fn a_token_that_is_not_bound_is_refused_if_that_is_required_aut_83() {
    let bearer = Denial::NotBound { issuer: AS.into() };
    let unexpected = Denial::Token { issuer: AS.into(), error: TokenError::Invalid("token_type") };
    for (config, expected) in [
        (user().dpop(KEY), Ok(())),
        (user().require_dpop(KEY), Err(bearer)),
        // A bound token for a request without proof.
        (user(), Err(unexpected)),
    ] {
        let mut world = world();
        world.auth_server().mistakes_dpop = true;
        let mut driver = Driver::new(0, &world, config);
        driver.sign_in(&mut world);
        assert_eq!(driver.ends(), [expected]);
    }
}

// dpop-nonce: AUT-82
#[test]
fn a_token_request_is_repeated_once_with_the_nonce_of_the_server_aut_82() {
    let mut world = world();
    world.auth_server().nonce = Some("n1".into());
    let mut driver = signed_in(&mut world, user().dpop(KEY));
    let nonces = |world: &mut World| -> Vec<_> {
        let proofs = core::mem::take(&mut world.auth_server().proofs);
        proofs.iter().map(|proof| proof["nonce"].as_str().map(String::from)).collect()
    };
    assert_eq!(nonces(&mut world), [None, Some("n1".into())]);
    // A refresh has a proof and a nonce, too.
    driver.accept();
    world.auth_server().nonce = Some("n2".into());
    driver.reject(&world, 401, &[]);
    driver.run(&mut world);
    assert_eq!((driver.ends(), &*scheme(&driver)), (vec![Ok(())], "DPoP"));
    assert_eq!(nonces(&mut world), [None, Some("n2".into())]);
    assert_eq!(world.auth_server().count("token refresh_token"), 2);
    world.assert_innocent();

    // A server that is never content.
    driver.accept();
    let generation = driver.generation();
    driver.reject_with(&world, Some(generation), 401, &[]);
    for _ in 0..100 {
        let Some(action) = driver.take() else { break };
        if let AuthAction::Fetch(fetch) = &action
            && fetch.url.ends_with("/token")
        {
            world.auth_server().nonce = Some(format!("n{}", world.urls.len()));
        }
        driver.perform(&mut world, action);
        driver.unlock(&mut world);
    }
    driver.collect();
    assert!(matches!(driver.denial(), Denial::Token { error, .. } if error.is("use_dpop_nonce")));
    assert_eq!(nonces(&mut world).len(), 2);
}

#[test]
fn a_bound_grant_is_used_with_its_key_only() {
    let dropped = AuthEvent::Dropped { what: Stored::RefreshToken, why: DropReason::KeyChanged };
    for (config, is_used) in [
        (user().dpop(KEY), true),
        (user().require_dpop(KEY), true),
        (user().dpop(OTHER), false),
        (user(), false),
    ] {
        let mut world = world();
        let token = signed_in(&mut world, user().dpop(KEY)).token();
        let mut driver = Driver::new(1, &world, config);
        driver.auth.restore(world.time);
        driver.run(&mut world);
        if is_used {
            assert_eq!(driver.token(), token);
            continue;
        }
        assert_eq!((driver.token(), &*driver.events), (None, &[dropped.clone()][..]));
        // The refresh token is of no use, either: the user authorizes again.
        driver.events.clear();
        driver.sign_in(&mut world);
        assert!(driver.token().is_some());
        assert_eq!(world.auth_server().count("token refresh_token"), 0);
        assert_eq!(world.auth_server().count("authorize"), 2);
        world.assert_innocent();
    }
}

#[test]
fn a_bearer_grant_is_renewed_where_bound_tokens_are_required() {
    let mut world = world();
    signed_in(&mut world, user());
    let mut driver = Driver::new(1, &world, user().require_dpop(KEY));
    driver.sign_in(&mut world);
    assert_eq!((driver.ends(), &*scheme(&driver)), (vec![Ok(())], "DPoP"));
    assert_eq!(world.auth_server().count("token refresh_token"), 1);
}

#[test]
fn a_renewal_ahead_of_time_is_proven_without_discovery() {
    let mut world = world();
    let mut driver = signed_in(&mut world, user().dpop(KEY));
    driver.accept();
    world.urls.clear();
    assert!(driver.wait(&mut world));
    assert_eq!((driver.ends(), &*scheme(&driver)), (vec![Ok(())], "DPoP"));
    assert_eq!(world.urls, ["https://as.example/token"]);
    let thumbprint = KEY.thumbprint();
    assert!(world.auth_server().bound.values().all(|key| *key == thumbprint));
}

#[test]
fn a_rejected_proof_costs_no_token() {
    let mut world = world();
    let mut driver = signed_in(&mut world, user().dpop(KEY));
    let generation = driver.generation();
    for error in ["use_dpop_nonce", "invalid_dpop_proof"] {
        let params = [("error", error)];
        let verdict = driver.reject_by(&world, Some(generation), 401, &[("DPoP", &params)]);
        assert_eq!(verdict, Verdict::Denied(Denial::Proof(OAuthError::new(error))));
    }
    assert_eq!(driver.generation(), generation);
}

// AUT-78, AUT-82
#[test]
fn an_assertion_and_a_proof_are_signed_with_their_own_keys() {
    let mut world = world();
    world.auth_server().metadata["token_endpoint_auth_methods_supported"] =
        json!(["private_key_jwt"]);
    world.auth_server().clients.insert("signed".into(), None);
    let client = KnownClient::new(AS, "signed").signed(None);
    let config = AuthConfig::client_credentials(super::world::uri(SERVER), client).dpop(KEY);
    let driver = signed_in(&mut world, config);
    assert_eq!(driver.signed, [KeyUse::ClientAuthentication, KeyUse::Dpop]);
    assert_eq!(&*scheme(&driver), "DPoP");
}

// RFC 9449 §10
#[test]
fn the_authorization_request_names_the_key() {
    let mut world = world();
    let mut driver = Driver::new(0, &world, user().dpop(KEY));
    driver.decides = false;
    driver.sign_in(&mut world);
    let param = format!("dpop_jkt={}", KEY.thumbprint());
    assert!(driver.shown[0].contains(&param), "{:?}", driver.shown);
    assert!(driver.events.is_empty(), "{:?}", driver.events);
}

// AUT-34
#[test]
fn no_proof_is_shown_aut_34() {
    let mut world = world();
    world.auth_server().nonce = Some("PLANTED-nonce".into());
    let driver = signed_in(&mut world, user().dpop(KEY));
    let shown = driver.printed;
    let proofs = &world.auth_server().proofs;
    assert_eq!(proofs.last().unwrap()["nonce"], "PLANTED-nonce");
    assert!(
        shown.contains("DPoP") && !shown.contains("PLANTED") && !shown.contains("eyJ"),
        "{shown}"
    );
}
