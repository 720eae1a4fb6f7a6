//! Whose a stored grant is: no client acts with the tokens of another client or user.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::json;

use super::world::{AS, Driver, SERVER, World, uri, user};
use crate::auth::*;
use crate::secret::Secret;

const TOKEN_ENDPOINT: &str = "https://idp.example/token";

/// Returns a JWT for a user of an issuer, the `number`th one.
fn jwt(issuer: &str, subject: &str, number: u32) -> Secret {
    let claims = json!({"iss": issuer, "sub": subject, "jti": number, "x": "PLANTED"}).to_string();
    let encode = |text: &str| Base64UrlUnpadded::encode_string(text.as_bytes());
    Secret::new(format!("{}.{}.{}", encode("{}"), encode(&claims), encode("PLANTED")))
}

fn world() -> World {
    let mut world = World::new();
    let jag = json!({
        "access_token": "PLANTED-jag", "token_type": "N_A",
        "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
    });
    world.documents.insert(TOKEN_ENDPOINT.into(), (200, jag.to_string()));
    for id in ["one", "two", "signed"] {
        world.auth_server().clients.insert(id.into(), None);
    }
    world
}

fn workload(client: &str) -> AuthConfig {
    AuthConfig::workload(uri(SERVER), KnownClient::new(AS, client))
}

fn enterprise(client: &str) -> AuthConfig {
    let provider = KnownClient::new("https://idp.example", client);
    let provider = IdentityProvider::new(uri(TOKEN_ENDPOINT), provider);
    AuthConfig::enterprise(uri(SERVER), provider, KnownClient::new(AS, "one"))
}

fn batch(client: KnownClient) -> AuthConfig {
    AuthConfig::client_credentials(uri(SERVER), client)
}

fn signing() -> AuthConfig {
    batch(KnownClient::new(AS, "signed").signed(None))
}

/// Answers the question for an identity, if it is asked. Returns whether it was.
fn identify(world: &mut World, driver: &mut Driver, identity: &Secret) -> bool {
    driver.run(world);
    let is_asked = driver.events.contains(&AuthEvent::NeedsIdentity);
    driver.events.retain(|event| *event != AuthEvent::NeedsIdentity);
    if is_asked {
        driver.auth.handle_input(world.time, AuthInput::Identity(identity.clone()));
        driver.run(world);
    }
    is_asked
}

/// Starts a process in which `identity` is in use, up to its first request.
fn restored(world: &mut World, config: &AuthConfig, identity: &Secret) -> Driver {
    let mut driver = Driver::new(1, world, config.clone());
    driver.auth.restore(world.time);
    identify(world, &mut driver, identity);
    driver
}

fn signed_in(world: &mut World, config: &AuthConfig, identity: &Secret) -> Driver {
    let mut driver = restored(world, config, identity);
    if driver.token().is_none() {
        assert_eq!(driver.reject(world, 401, &[]), Verdict::Wait);
        identify(world, &mut driver, identity);
    }
    assert!(driver.token().is_some(), "{:?}", driver.events);
    driver.events.clear();
    driver
}

// AUT-06, AUT-23: the client is a part of the key.
#[test]
fn no_client_acts_with_the_tokens_of_another() {
    let ada = jwt("https://idp.example", "ada", 1);
    let secret = |secret: &str| KnownClient::new(AS, "secret").secret(secret);
    let configs = [
        user(),
        AuthConfig::user(uri(SERVER), "Other"),
        AuthConfig::user(uri("https://mcp.example/other"), "Test"),
        user().profile("other"),
        user().metadata_document("https://app.example/client.json"),
        user().client(KnownClient::new(AS, "one")),
        user().client(KnownClient::new(AS, "two")),
        user().client(KnownClient::new("https://other.example", "one")),
        user().certificate("1"),
        user().certificate("2"),
        batch(KnownClient::new(AS, "one")),
        batch(KnownClient::new(AS, "two")),
        batch(KnownClient::new("https://other.example", "one")),
        batch(secret("right")),
        batch(secret("wrong")),
        signing().signing_key(PublicKey { x: [1; 32], y: [1; 32] }),
        signing().signing_key(PublicKey { x: [2; 32], y: [1; 32] }),
        workload("one"),
        workload("two"),
        enterprise("one"),
        enterprise("two"),
    ];
    let mut world = world();
    world.auth_server().clients.insert("secret".into(), Some("right".into()));
    for at in [0, 5, 8, 10, 13, 15, 17, 19] {
        let config = &configs[at];
        let before = world.store.clone();
        let driver = signed_in(&mut world, config, &ada);
        for other in &configs {
            let found = restored(&mut world, other, &ada).token();
            let expected = driver.token().filter(|_| other == config);
            assert_eq!(found, expected, "{config:?} {other:?}");
        }
        world.store = before;
    }
}

// AUT-06: the tokens of one user are not used for another one of an equal client.
#[test]
fn a_stored_grant_is_used_for_its_own_subject_only() {
    let (idp, other) = ("https://idp.example", "https://other.example");
    let opaque = |text: &str| Secret::new(text);
    let rows = [
        (jwt(idp, "ada", 1), jwt(idp, "ada", 2), true),
        (jwt(idp, "ada", 1), jwt(idp, "bob", 1), false),
        (jwt(idp, "ada", 1), jwt(other, "ada", 1), false),
        // Parts are not just joined.
        (jwt("https://a", "bc", 1), jwt("https://ab", "c", 1), false),
        (opaque("PLANTED-1"), opaque("PLANTED-1"), true),
        (opaque("PLANTED-1"), opaque("PLANTED-2"), false),
        (opaque("e30.e30.PLANTED"), opaque("e30.e30.other"), false),
        (jwt(idp, "", 1), jwt(idp, "", 2), false),
    ];
    for (first, second, is_same) in rows {
        for config in [workload("one"), enterprise("one")] {
            let mut world = world();
            let ada = signed_in(&mut world, &config, &first);
            let requests = world.urls.len();
            let mut found = restored(&mut world, &config, &second);
            assert_eq!(found.token(), ada.token().filter(|_| is_same));
            assert_eq!(world.urls.len(), requests, "nothing is sent before a request is refused");
            if is_same {
                continue;
            }
            let (what, why) = (Stored::Record, DropReason::SubjectChanged);
            assert!(found.events.contains(&AuthEvent::Dropped { what, why }));
            // The assertion in use obtains its own grant, and that one is found next.
            assert_eq!(found.reject(&world, 401, &[]), Verdict::Wait);
            identify(&mut world, &mut found, &second);
            assert!(found.token().is_some() && found.token() != ada.token());
            assert_eq!(restored(&mut world, &config, &second).token(), found.token());
            assert_eq!(restored(&mut world, &config, &first).token(), None);
            world.assert_innocent();
            // A digest only.
            let stored: Vec<String> = world.store.into_values().collect();
            assert!(stored.iter().all(|it| !it.contains("idp.example")));
        }
    }
}

// A request that is refused while the identity is compared waits for it, and is asked once.
#[test]
fn requests_wait_for_the_comparison() {
    let (ada, bob) = (jwt("https://idp.example", "ada", 1), jwt("https://idp.example", "bob", 1));
    for (second, is_same) in [(&ada, true), (&bob, false)] {
        let mut world = world();
        let first = signed_in(&mut world, &workload("one"), &ada);
        let mut driver = Driver::new(1, &world, workload("one"));
        driver.auth.restore(world.time);
        driver.run(&mut world);
        assert!(driver.auth.is_restoring());
        for _ in 0..3 {
            assert_eq!(driver.reject(&world, 401, &[]), Verdict::Wait);
        }
        assert!(identify(&mut world, &mut driver, second));
        assert_eq!(driver.ends(), [Ok(())]);
        assert_eq!(driver.token() == first.token(), is_same);
        assert_eq!(world.auth_server().count("token jwt-bearer"), 1 + usize::from(!is_same));
    }
}

#[test]
fn a_comparison_without_an_answer_denies_what_waits_only() {
    let ada = jwt("https://idp.example", "ada", 1);
    let answers = [
        (Some(AuthInput::Cancel), Denial::Cancelled),
        (Some(AuthInput::Unable), Denial::NoIdentity),
        (None, Denial::TimedOut),
    ];
    for (input, denial) in answers {
        for waits in [false, true] {
            let mut world = world();
            signed_in(&mut world, &workload("one"), &ada);
            let mut driver = Driver::new(1, &world, workload("one"));
            driver.auth.restore(world.time);
            driver.run(&mut world);
            if waits {
                driver.reject(&world, 401, &[]);
            }
            let ignored = AuthInput::Client { id: "x".into(), secret: None };
            driver.auth.handle_input(world.time, ignored);
            driver.events.clear();
            match input.clone() {
                Some(input) => driver.auth.handle_input(world.time, input),
                None => assert!(driver.wait(&mut world)),
            }
            driver.run(&mut world);
            let expected = if waits { vec![Err(denial.clone())] } else { vec![] };
            assert_eq!(driver.ends(), expected);
            assert!(driver.token().is_none() && !driver.auth.is_restoring());
        }
    }
}

// AUT-06, AUT-60: processes of two users with one client renew in turn, each with its own tokens.
#[test]
fn a_renewal_adopts_no_grant_of_another_subject() {
    let (ada, bob) = (jwt("https://idp.example", "ada", 1), jwt("https://idp.example", "bob", 1));
    let mut world = world();
    world.auth_server().gives_refresh_to_all = true;
    let mut first = signed_in(&mut world, &workload("one"), &ada);
    let mut second = signed_in(&mut world, &workload("one"), &bob);
    (first.id, second.id) = (1, 2);
    for _ in 0..3 {
        for driver in [&mut first, &mut second] {
            driver.accept();
            let old = driver.token();
            assert_eq!(driver.reject(&world, 401, &[]), Verdict::Wait);
            driver.run(&mut world);
            assert!(driver.token().is_some() && driver.token() != old);
        }
        assert_ne!(first.token(), second.token());
    }
    assert_eq!(world.auth_server().count("token refresh_token"), 6, "each with its own token");
    world.assert_innocent();
}

// They may be those of another key.
#[test]
fn an_unknown_key_finds_no_stored_tokens() {
    let mut world = world();
    let ada = jwt("https://idp.example", "ada", 1);
    signed_in(&mut world, &signing(), &ada);
    assert_eq!(restored(&mut world, &signing(), &ada).token(), None);
    let again = signed_in(&mut world, &signing(), &ada);
    assert!(again.token().is_some());
    assert_eq!(world.auth_server().count("token client_credentials"), 2);
}

// One user and client: a grant with other scopes is found, and grows when they are needed.
#[test]
fn scopes_do_not_separate_grants() {
    let scoped = |text| user().scopes(Scopes::parse(text, &AuthLimits::default()).unwrap());
    let mut world = world();
    let ada = jwt("https://idp.example", "ada", 1);
    let first = signed_in(&mut world, &scoped("a"), &ada);
    let mut found = restored(&mut world, &scoped("b"), &ada);
    assert_eq!(found.token(), first.token());
    let params = [("error", "insufficient_scope"), ("scope", "c")];
    assert_eq!(found.reject(&world, 403, &params), Verdict::Wait);
    found.run(&mut world);
    assert_ne!(found.token(), first.token());
    let asked = world.auth_server().scopes.last().cloned().flatten().unwrap();
    let asked: Vec<&str> = asked.split(' ').collect();
    assert!(["a", "b", "c"].iter().all(|scope| asked.contains(scope)), "{asked:?}");
    world.assert_innocent();
}
