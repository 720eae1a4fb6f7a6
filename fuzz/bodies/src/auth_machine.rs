//! An authorization, driven by a script of answers, failures, times and inputs.

use mcp_harness::{AuthRun, Environment, Issuer, User};
use mcp_proto::auth::{
    AuthAction, AuthConfig, AuthInput, AuthLimits, FetchFailure, Forget, IdentityProvider,
    KnownClient, StoreFailure, Uri,
};

/// Whatever servers, a store, a user and a clock do, every wait ends exactly once and has a
/// deadline, credentials go where they belong, and nothing secret is shown.
///
/// The first byte is the kind of the client, the second one what its servers are like. Steps
/// follow: what happens, and a detail; the bytes of a hostile answer follow its step.
pub fn auth_machine(data: &[u8]) {
    let [kind, servers, script @ ..] = data else { return };
    let mut run = AuthRun::new(config(*kind), places(*servers));
    run.user = [User::Agrees, User::Refuses, User::Waits][usize::from(servers / 64 % 3)];
    let mut script = script;
    let mut pending = None;
    while let [what, how, rest @ ..] = script {
        script = rest;
        // Only the last lines of the timeline help.
        if run.lines.len() > 2000 {
            return;
        }
        pending = pending.or_else(|| run.take());
        match what % 16 {
            0..=4 => {
                if let Some(action) = pending.take() {
                    run.perform(action);
                } else if *how > 200 {
                    run.wait();
                }
            }
            5 | 6 => {
                if let Some(action) = pending.take() {
                    let (body, rest) = script.split_at(usize::from(*how).min(script.len()));
                    script = if fail(&mut run, action, *what, *how, body) { rest } else { script };
                }
            }
            // The answer is lost. Nothing is lost of what has none.
            7 => {
                let released = |action: &AuthAction| {
                    matches!(action, AuthAction::Release { .. } | AuthAction::Unlisten)
                };
                if let Some(action) = pending.take().filter(released) {
                    run.perform(action);
                }
            }
            8 => run.pass(1 << (how % 12)),
            9 => {
                run.auth.handle_timeout(run.time);
            }
            10 => {
                let header = CHALLENGES[usize::from(*how) % CHALLENGES.len()];
                let status = if how % 2 == 0 { 401 } else { 403 };
                run.reject(status, header);
            }
            11 => run.accept(),
            12 => input(&mut run, *how),
            13 => {
                let state = run.asked().remove("state").unwrap_or_default();
                let query = QUERIES[usize::from(*how) % QUERIES.len()].replace("STATE", &state);
                run.redirect(&query);
            }
            14 => change(&mut run, *how),
            // Rarely, since little follows.
            _ if *how == 255 => run.close(),
            _ if *how < 8 => {
                let what = [Forget::All, Forget::Tokens, Forget::Registration];
                run.auth.forget(run.time, what[usize::from(*how) % 3]);
            }
            _ if *how < 16 => run.auth.restore(run.time),
            _ => {}
        }
        if pending.is_none() && *what >= 128 {
            run.run();
        }
    }
    finish(run, pending);
}

const CHALLENGES: &[&str] = &[
    "Bearer",
    "Bearer error=\"insufficient_scope\", scope=\"b\"",
    "Bearer scope=\"a\", resource_metadata=\"https://mcp.example/custom\"",
    "Bearer error=\"insufficient_scope\", scope=\"c d\"",
    "Negotiate, DPoP resource_metadata=\"http://10.0.0.1/\"",
    "Bearer error=\"insufficient_scope\"",
];

const QUERIES: &[&str] = &[
    "code=x&state=STATE",
    "code=x&state=STATE&iss=https://as.example",
    "error=access_denied&state=STATE&iss=https://as.example",
    "code=x&state=other",
    "state=STATE&iss=https://evil.example&error=no",
    "",
    "code=x&code=y&state=STATE",
    "%zz",
];

fn config(kind: u8) -> AuthConfig {
    let uri = |text: &str| {
        Uri::parse(text, &AuthLimits::default()).unwrap_or_else(|error| panic!("{error}"))
    };
    let server = uri(Environment::SERVER);
    let client = KnownClient::new(Environment::ISSUER, "known").secret("s3cret");
    match kind % 8 {
        0 | 1 => AuthConfig::user(server, "Fuzz"),
        2 => AuthConfig::user(server, "Fuzz").client(client),
        3 => AuthConfig::user(server, "Fuzz").metadata_document("https://app.example/c.json"),
        4 => AuthConfig::client_credentials(server, client),
        5 => {
            let client = KnownClient::new(Environment::ISSUER, "known").signed(None);
            AuthConfig::client_credentials(server, client)
        }
        6 => {
            let idp = KnownClient::new("idp", "app");
            let provider = IdentityProvider::new(uri("https://idp.example/token"), idp);
            AuthConfig::enterprise(server, provider, client)
        }
        _ => AuthConfig::workload(server, client),
    }
}

fn places(pick: u8) -> Environment {
    let mut places = Environment::new();
    if pick & 1 == 1 {
        places.documents.clear();
        places.issuers = vec![Issuer::new("https://mcp.example")];
    }
    let issuer = places.issuer();
    issuer.refreshes = pick & 2 == 0;
    issuer.lifetime = if pick & 4 == 0 { 3600 } else { 5 };
    if pick & 8 != 0 {
        issuer.metadata["client_id_metadata_document_supported"] = true.into();
    }
    if pick & 16 != 0 {
        issuer.metadata["registration_endpoint"] = serde_json::Value::Null;
    }
    if pick & 32 != 0 {
        issuer.iss = None;
    }
    places
}

/// Lets an action fail. Returns whether the body was used.
fn fail(run: &mut AuthRun, action: AuthAction, what: u8, how: u8, body: &[u8]) -> bool {
    let time = run.time;
    match action {
        AuthAction::Fetch(fetch) if what % 16 == 5 => {
            let statuses = [200, 201, 302, 400, 401, 404, 429, 500, 0];
            let status = statuses[usize::from(what / 16) % statuses.len()];
            // The model has issued none of what an arbitrary body says.
            run.respond(&fetch, status, &String::from_utf8_lossy(body));
            return true;
        }
        AuthAction::Fetch(fetch) => {
            let failures = [FetchFailure::Unreached, FetchFailure::Cut, FetchFailure::Blocked];
            run.auth.handle_failure(time, fetch.id, failures[usize::from(how) % 3]);
        }
        AuthAction::Acquire { id, .. } if how.is_multiple_of(3) => {
            run.unlock();
            run.auth.handle_store(time, id, Err(StoreFailure::Locked));
        }
        AuthAction::Save { id, .. } if how.is_multiple_of(3) => {
            run.auth.handle_store(time, id, Err(StoreFailure::Unavailable));
        }
        AuthAction::Listen { .. } => run.auth.handle_listening(time, None),
        AuthAction::Sign { id, .. } => run.auth.handle_signature(time, id, None),
        action => run.perform(action),
    }
    false
}

fn input(run: &mut AuthRun, how: u8) {
    run.input(match how % 4 {
        0 => AuthInput::Client { id: "entered".into(), secret: None },
        1 => AuthInput::Cancel,
        _ => AuthInput::Identity("identity-1".into()),
    });
}

/// Changes what the servers are like.
fn change(run: &mut AuthRun, how: u8) {
    match how % 8 {
        0 => run.places.issuer().revoke(),
        1 => run.places.issuer().token_error = Some((400, "invalid_scope")),
        2 => run.places.issuer().token_error = Some((401, "invalid_client")),
        3 => run.places.issuer().token_error = None,
        4 => run.places.issuer().registration_error = Some("invalid_redirect_uri"),
        5 => {
            run.places.issuers.push(Issuer::new("https://other.example"));
            run.places.publish(Environment::SERVER, &["https://other.example"]);
        }
        6 => run.places.documents.clear(),
        _ => run.user = [User::Agrees, User::Refuses, User::Waits][usize::from(how / 8 % 3)],
    }
}

/// Waits until nothing waits, then closes.
fn finish(mut run: AuthRun, pending: Option<AuthAction>) {
    if let Some(action) = pending {
        run.perform(action);
    }
    run.run();
    for _ in 0..100 {
        if !run.waits() {
            break;
        }
        run.wait();
    }
    assert!(!run.waits(), "a wait does not end:\n{}", run.timeline());
    run.close();
    run.run();
    for _ in 0..20 {
        if run.auth.is_closed() {
            break;
        }
        run.wait();
    }
    assert!(run.auth.is_closed(), "it does not close:\n{}", run.timeline());
    assert!(run.auth.credentials().is_none());
}
