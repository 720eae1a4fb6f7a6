//! The flows of every kind of client, each in a world where it succeeds.

use alloc::borrow::ToOwned;
use alloc::string::ToString;

use serde_json::json;

use super::server::{AuthServer, Iss};
use super::world::{AS, Driver, SERVER, World, uri, user};
use crate::auth::*;

const IDP: &str = "https://idp.example/token";

/// A flow: a world, a client, and what makes it wait.
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) world: fn() -> World,
    pub(super) config: fn() -> AuthConfig,
    /// Brings the client to the start of the flow; the wait begins at the end of it.
    pub(super) start: fn(&mut World, &mut Driver),
}

pub(super) const SCENARIOS: [Scenario; 14] = [
    Scenario { name: "registration", world: World::new, config: user, start: reject },
    Scenario { name: "document", world: with_documents, config: document, start: reject },
    Scenario { name: "known client", world: with_client, config: known, start: reject },
    Scenario { name: "entered client", world: without_registration, config: user, start: reject },
    Scenario { name: "secret", world: with_client, config: secret, start: reject },
    Scenario { name: "key", world: with_client, config: key, start: reject },
    Scenario { name: "enterprise", world: with_client, config: enterprise, start: reject },
    Scenario { name: "workload", world: with_client, config: workload, start: reject },
    Scenario { name: "legacy metadata", world: legacy, config: user, start: reject },
    Scenario { name: "legacy endpoints", world: legacy_bare, config: user, start: reject },
    Scenario { name: "refresh", world: World::new, config: user, start: refresh },
    Scenario { name: "lost refresh", world: World::new, config: user, start: revoked },
    Scenario { name: "step-up", world: World::new, config: user, start: step_up },
    Scenario { name: "migration", world: World::new, config: user, start: migrate },
];

fn with_documents() -> World {
    let mut world = World::new();
    world.auth_server().metadata["client_id_metadata_document_supported"] = true.into();
    world
}

fn document() -> AuthConfig {
    user().metadata_document("https://app.example/client.json")
}

fn with_client() -> World {
    let mut world = World::new();
    let clients = &mut world.auth_server().clients;
    clients.insert("known".into(), Some("PLANTED-s3cret".into()));
    clients.insert("signed".into(), None);
    clients.insert("open".into(), None);
    let answer = json!({
        "access_token": "PLANTED-jag", "token_type": "N_A",
        "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
    });
    world.documents.insert(IDP.into(), (200, answer.to_string()));
    world
}

fn client() -> KnownClient {
    KnownClient::new(AS, "known").secret("PLANTED-s3cret")
}

fn known() -> AuthConfig {
    user().client(client())
}

fn without_registration() -> World {
    let mut world = with_client();
    let metadata = world.auth_server().metadata.as_object_mut();
    metadata.unwrap().remove("registration_endpoint");
    world
}

fn secret() -> AuthConfig {
    AuthConfig::client_credentials(uri(SERVER), client())
}

fn key() -> AuthConfig {
    let client = KnownClient::new(AS, "signed").signed(Some("k1"));
    AuthConfig::client_credentials(uri(SERVER), client)
}

fn enterprise() -> AuthConfig {
    let provider = IdentityProvider::new(uri(IDP), KnownClient::new("idp", "idp-app"));
    AuthConfig::enterprise(uri(SERVER), provider, client())
}

fn workload() -> AuthConfig {
    AuthConfig::workload(uri(SERVER), KnownClient::new(AS, "open"))
}

fn legacy() -> World {
    let mut world = World::new();
    world.documents.clear();
    world.servers = [AuthServer::new("https://mcp.example")].into();
    world
}

fn legacy_bare() -> World {
    let mut world = legacy();
    world.auth_server().location.clear();
    world.auth_server().iss = Iss::Missing;
    world
}

fn reject(world: &mut World, driver: &mut Driver) {
    assert_eq!(driver.reject(world, 401, &[("scope", "a")]), Verdict::Wait);
}

/// Signs in; the server accepts the token.
pub(super) fn sign_in(world: &mut World, driver: &mut Driver) {
    reject(world, driver);
    driver.run(world);
    driver.accept();
    assert_eq!(driver.ends(), [Ok(())]);
}

fn refresh(world: &mut World, driver: &mut Driver) {
    sign_in(world, driver);
    reject(world, driver);
}

fn revoked(world: &mut World, driver: &mut Driver) {
    sign_in(world, driver);
    world.auth_server().revoke();
    reject(world, driver);
}

fn step_up(world: &mut World, driver: &mut Driver) {
    sign_in(world, driver);
    let more = [("error", "insufficient_scope"), ("scope", "b")];
    assert_eq!(driver.reject(world, 403, &more), Verdict::Wait);
}

fn migrate(world: &mut World, driver: &mut Driver) {
    sign_in(world, driver);
    let other = "https://other.example";
    world.servers.push(AuthServer::new(other));
    world.publish(&json!({"resource": SERVER, "authorization_servers": [other]}));
    reject(world, driver);
}

/// Answers what an event asks the application for.
pub(super) fn answer(world: &World, driver: &mut Driver, event: &AuthEvent) {
    let input = match event {
        AuthEvent::NeedsClient { .. } => AuthInput::Client { id: "open".to_owned(), secret: None },
        AuthEvent::NeedsIdentity => AuthInput::Identity("PLANTED-identity".into()),
        _ => return,
    };
    driver.auth.handle_input(world.time, input);
}
