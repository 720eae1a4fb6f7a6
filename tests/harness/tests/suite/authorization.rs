//! Golden transcripts of authorization: every flow, and every reason for which one ends.
//!
//! After an intended change, `MCP_HARNESS_BLESS=1 cargo test -p mcp-harness authorization` rewrites
//! them; review the difference.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use mcp_harness::{AuthRun, Environment, Issuer, User};
use mcp_proto::auth::{
    AuthConfig, AuthInput, AuthLimits, IdentityProvider, KnownClient, Quirks, Redirect, Uri,
};
use serde_json::json;

/// A scene: its configuration, and what happens.
type Scene = (&'static str, fn() -> AuthConfig, fn(&mut AuthRun));

fn uri(text: &str) -> Uri {
    Uri::parse(text, &AuthLimits::default()).unwrap()
}

fn user() -> AuthConfig {
    AuthConfig::user(uri(Environment::SERVER), "Test")
}

fn client() -> KnownClient {
    KnownClient::new(Environment::ISSUER, "known").secret("s3cret")
}

fn known() -> AuthConfig {
    user().client(client())
}

fn document() -> AuthConfig {
    user().metadata_document("https://app.example/client.json")
}

fn robot() -> AuthConfig {
    AuthConfig::client_credentials(uri(Environment::SERVER), client())
}

fn signing() -> AuthConfig {
    let client = KnownClient::new(Environment::ISSUER, "known").signed(Some("k1"));
    AuthConfig::client_credentials(uri(Environment::SERVER), client)
}

fn workload() -> AuthConfig {
    AuthConfig::workload(uri(Environment::SERVER), KnownClient::new(Environment::ISSUER, "known"))
}

fn enterprise() -> AuthConfig {
    let provider =
        IdentityProvider::new(uri("https://idp.example/token"), KnownClient::new("idp", "app"));
    AuthConfig::enterprise(uri(Environment::SERVER), provider, client())
}

fn limited(limit: fn(&mut AuthLimits)) -> AuthConfig {
    let mut limits = AuthLimits::default();
    limit(&mut limits);
    user().limits(limits)
}

/// A request without credentials is rejected, and everything continues to the end.
fn sign_in(run: &mut AuthRun) {
    run.reject(401, r#"Bearer scope="a""#);
    run.run();
}

fn signed_in(run: &mut AuthRun) {
    sign_in(run);
    run.accept();
}

/// Signs in, and lets time pass until the wait ends.
fn wait_out(run: &mut AuthRun) {
    sign_in(run);
    while run.waits() && run.wait() {}
}

fn with_metadata(run: &mut AuthRun, name: &str, value: serde_json::Value) {
    run.places.issuer().metadata[name] = value;
}

fn without_metadata(run: &mut AuthRun, name: &str) {
    run.places.issuer().metadata.as_object_mut().unwrap().remove(name);
}

fn legacy(run: &mut AuthRun) {
    run.places.documents.clear();
    run.places.issuers = vec![Issuer::new("https://mcp.example")];
}

fn ignoring(run: &mut AuthRun, action: &'static str) {
    run.ignored = action;
    wait_out(run);
}

const FLOWS: &[Scene] = &[
    ("flow_registration", user, sign_in),
    ("flow_known_client", known, sign_in),
    ("flow_metadata_document", document, |run| {
        with_metadata(run, "client_id_metadata_document_supported", true.into());
        sign_in(run);
    }),
    ("flow_entered_client", user, |run| {
        without_metadata(run, "registration_endpoint");
        sign_in(run);
        run.input(AuthInput::Client { id: "entered".into(), secret: None });
        run.run();
    }),
    (
        "flow_fixed_redirect",
        || user().redirect(Redirect::Fixed("https://app.example/cb".into())),
        sign_in,
    ),
    ("flow_client_credentials_secret", robot, sign_in),
    ("flow_client_credentials_key", signing, sign_in),
    ("flow_enterprise", enterprise, |run| {
        let answer = json!({
            "access_token": "id-jag-1", "token_type": "N_A",
            "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
        });
        let places = &mut run.places;
        places.documents.insert("https://idp.example/token".into(), (200, answer.to_string()));
        sign_in(run);
        run.input(AuthInput::Identity("identity-1".into()));
        run.run();
    }),
    ("flow_workload", workload, |run| {
        sign_in(run);
        run.input(AuthInput::Identity("identity-1".into()));
        run.run();
    }),
    ("flow_legacy_metadata", user, |run| {
        legacy(run);
        sign_in(run);
    }),
    ("flow_legacy_endpoints", user, |run| {
        legacy(run);
        run.places.issuer().location.clear();
        run.places.issuer().iss = None;
        sign_in(run);
    }),
    ("flow_openid_metadata", user, |run| {
        run.places.issuer().location = "https://as.example/.well-known/openid-configuration".into();
        sign_in(run);
    }),
    ("flow_refresh", user, |run| {
        signed_in(run);
        sign_in(run);
    }),
    ("flow_renewal", user, |run| {
        signed_in(run);
        run.wait();
        run.accept();
        run.wait();
    }),
    ("flow_rotation_lost", user, |run| {
        signed_in(run);
        run.places.issuer().revoke();
        sign_in(run);
    }),
    ("flow_restart", user, |run| {
        sign_in(run);
        let (places, lines) = (run.places.clone(), std::mem::take(&mut run.lines));
        *run = AuthRun::new(user(), places);
        run.lines = lines;
        run.note("# another process");
        sign_in(run);
    }),
    ("flow_step_up", user, |run| {
        signed_in(run);
        run.reject(403, r#"Bearer error="insufficient_scope", scope="b""#);
        run.run();
    }),
    ("flow_migration", user, |run| {
        signed_in(run);
        run.places.issuers.push(Issuer::new("https://other.example"));
        run.places.publish(Environment::SERVER, &["https://other.example"]);
        sign_in(run);
    }),
    ("flow_outage", user, |run| {
        signed_in(run);
        run.places.issuer().token_error = Some((503, "temporarily_unavailable"));
        sign_in(run);
        run.wait();
        run.places.issuer().token_error = None;
        run.wait();
    }),
    ("flow_forgotten_client", user, |run| {
        signed_in(run);
        run.places.issuer().token_error = Some((401, "invalid_client"));
        run.reject(401, "Bearer");
        while let Some(action) = run.take() {
            if format!("{action:?}").starts_with("Listen") {
                run.places.issuer().token_error = None;
            }
            run.perform(action);
        }
        run.collect();
    }),
];

const DENIALS: &[Scene] = &[
    (
        "denied_unsupported",
        || user().without_legacy(),
        |run| {
            run.places.documents.clear();
            sign_in(run);
        },
    ),
    ("denied_unreachable", user, |run| {
        run.places.documents.insert(Environment::METADATA.into(), (503, String::new()));
        wait_out(run);
    }),
    ("denied_metadata", user, |run| {
        run.places
            .documents
            .insert(Environment::METADATA.into(), (200, r#"{"resource":1}"#.into()));
        sign_in(run);
    }),
    ("denied_no_metadata", user, |run| {
        run.places.issuer().location.clear();
        sign_in(run);
    }),
    ("denied_resource_mismatch", user, |run| {
        run.places.publish("https://evil.example/mcp", &[Environment::ISSUER]);
        sign_in(run);
    }),
    ("denied_issuer_mismatch", user, |run| {
        with_metadata(run, "issuer", "https://evil.example".into());
        sign_in(run);
    }),
    ("denied_pkce", user, |run| {
        without_metadata(run, "code_challenge_methods_supported");
        sign_in(run);
    }),
    ("denied_blocked", user, |run| {
        run.places.publish(Environment::SERVER, &["https://192.168.0.1"]);
        sign_in(run);
    }),
    ("denied_endpoint", user, |run| {
        with_metadata(run, "authorization_endpoint", "javascript:alert(1)".into());
        sign_in(run);
    }),
    (
        "denied_too_many_scopes",
        || limited(|limits| limits.scopes_max = 1),
        |run| {
            signed_in(run);
            run.reject(403, r#"Bearer error="insufficient_scope", scope="b""#);
            run.run();
        },
    ),
    ("denied_registration", user, |run| {
        run.places.issuer().registration_error = Some("invalid_redirect_uri");
        sign_in(run);
    }),
    ("denied_no_client", robot, |run| {
        with_metadata(run, "token_endpoint_auth_methods_supported", json!(["private_key_jwt"]));
        without_metadata(run, "registration_endpoint");
        sign_in(run);
    }),
    (
        "denied_client_bound",
        || user().client(KnownClient::new("https://b.example", "b")),
        |run| {
            without_metadata(run, "registration_endpoint");
            sign_in(run);
        },
    ),
    ("denied_no_listener", user, |run| {
        run.port = None;
        sign_in(run);
    }),
    ("denied_no_randomness", user, |run| ignoring(run, "Draw")),
    ("denied_no_signature", signing, |run| ignoring(run, "Sign")),
    ("denied_request", || limited(|limits| limits.authorization_uri_bytes_max = 100), sign_in),
    ("denied_timed_out", user, |run| {
        run.user = User::Waits;
        wait_out(run);
    }),
    ("denied_cancelled", workload, |run| {
        sign_in(run);
        run.input(AuthInput::Cancel);
        run.run();
    }),
    ("denied_locked", user, |run| {
        signed_in(run);
        ignoring(run, "Acquire");
    }),
    ("denied_redirect", user, |run| {
        run.places.issuer().iss = Some("https://evil.example".into());
        sign_in(run);
    }),
    ("denied_redirect_without_issuer", user, |run| {
        run.places.issuer().iss = None;
        sign_in(run);
    }),
    ("denied_refused", user, |run| {
        run.user = User::Refuses;
        sign_in(run);
    }),
    ("denied_token", user, |run| {
        run.places.issuer().token_error = Some((400, "invalid_scope"));
        sign_in(run);
    }),
    ("denied_rejected", user, |run| {
        sign_in(run);
        run.reject(401, "Bearer error=\"invalid_token\"");
        run.run();
    }),
    ("denied_forbidden", user, |run| {
        signed_in(run);
        run.reject(403, "Bearer");
        run.run();
    }),
    ("denied_scopes", user, |run| {
        signed_in(run);
        for _ in 0..2 {
            run.reject(403, r#"Bearer error="insufficient_scope", scope="b""#);
            run.run();
            run.accept();
        }
    }),
    ("denied_loop", user, |run| {
        signed_in(run);
        for scope in ["b", "c", "d", "e"] {
            run.reject(403, &format!(r#"Bearer error="insufficient_scope", scope="{scope}""#));
            run.run();
            run.accept();
        }
    }),
    ("denied_too_many_requests", || limited(|limits| limits.requests_max = 2), sign_in),
    ("denied_closed", user, |run| {
        run.user = User::Waits;
        sign_in(run);
        run.close();
        run.run();
    }),
    (
        "quirk_unadvertised_pkce",
        || user().quirks(Quirks { unadvertised_pkce: true, ..Quirks::default() }),
        |run| {
            without_metadata(run, "code_challenge_methods_supported");
            sign_in(run);
        },
    ),
];

/// The variants of [`Denial`](mcp_proto::auth::Denial).
const REASONS: &[&str] = &[
    "Blocked",
    "Cancelled",
    "ClientBound",
    "Closed",
    "Endpoint",
    "Forbidden",
    "IssuerMismatch",
    "Locked",
    "Loop",
    "Metadata",
    "NoClient",
    "NoListener",
    "NoMetadata",
    "NoRandomness",
    "NoSignature",
    "Pkce",
    "Redirect",
    "Refused",
    "Registration",
    "Rejected",
    "Request",
    "ResourceMismatch",
    "Scopes",
    "TimedOut",
    "Token",
    "TooManyRequests",
    "TooManyScopes",
    "Unreachable",
    "Unsupported",
];

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts/auth")
}

fn play(scene: &Scene) -> String {
    let (_, config, play) = scene;
    let mut run = AuthRun::new(config(), Environment::new());
    play(&mut run);
    assert!(!run.waits(), "a wait has not ended:\n{}", run.timeline());
    run.assert_innocent();
    run.timeline() + "\n"
}

fn assert_scene(scene: &Scene) {
    let shown = play(scene);
    assert_eq!(shown, play(scene), "equal inputs give equal outputs");
    for planted in ["s3cret", "identity-1\""] {
        assert!(!shown.contains(planted), "{planted} in\n{shown}");
    }
    let path = directory().join(format!("{}.txt", scene.0));
    if std::env::var_os("MCP_HARNESS_BLESS").is_some() {
        fs::create_dir_all(directory()).unwrap();
        fs::write(&path, &shown).unwrap();
        return;
    }
    let written = fs::read_to_string(&path).unwrap();
    for (n, (expected, shown)) in written.lines().zip(shown.lines()).enumerate() {
        assert_eq!(expected, shown, "{}:{}", path.display(), n + 1);
    }
    assert_eq!(written, shown, "{}", path.display());
}

#[test]
fn flows_are_as_written() {
    FLOWS.iter().for_each(assert_scene);
}

#[test]
fn denials_are_as_written() {
    DENIALS.iter().for_each(assert_scene);
}

#[test]
fn every_flow_is_granted_and_every_denial_occurs() {
    for scene in FLOWS {
        assert!(play(scene).contains("! Granted"), "{}", scene.0);
    }
    let timelines: String = DENIALS.iter().map(play).collect();
    for reason in REASONS {
        let is_shown = [" ", "(", "{"].iter().any(|end| {
            let text = format!("Denied({reason}");
            timelines.contains(&format!("{text}{end}")) || timelines.contains(&format!("{text})"))
        });
        assert!(is_shown, "no transcript ends in {reason}");
    }
}

#[test]
fn every_transcript_has_a_scene() {
    let mut known: Vec<_> =
        FLOWS.iter().chain(DENIALS).map(|(name, ..)| format!("{name}.txt")).collect();
    let entries = fs::read_dir(directory()).unwrap();
    let mut found: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    known.sort();
    found.sort();
    assert_eq!(known, found);
}
