//! Servers that require access tokens: which requests they refuse, and what they tell clients.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_adapter::http::{FixedTokens, Guard, HttpLimits, RequestHead, VerifyError};
use mcp_adapter::proto::http::header::challenges;
use mcp_adapter::proto::http::{GuardBuilder, TokenExpiry, VerifiedToken};
use mcp_adapter::proto::{Principal, Raw, Secret};
use mcp_adapter::{BoxFuture, Cx, Server, Tool};
use mcp_blocking::http::{Http, TokenVerifier};
use mcp_http_tests::{
    Reply, Request, Runtime, Served, get, initialize, modern, post, rows, server, text, tool,
};
use serde_json::{Value, json};

use crate::principals::within;

rows! {
    each_request_needs_a_token_aut_03,
    a_token_is_found_in_one_header_only_aut_73,
    the_metadata_is_served_to_anyone_aut_71,
    nothing_is_taken_from_headers_aut_70,
    what_a_verifier_forgets_is_refused_aut_76,
    tokens_for_others_and_other_times_are_refused_aut_04,
    no_request_passes_a_verifier_that_fails,
    a_verifier_is_asked_once_for_each_request_aut_04,
    handlers_know_the_token_but_not_its_text_aut_05,
    a_session_exists_only_for_its_principal_aut_74,
    every_request_needs_the_scopes_that_all_need,
}

pub(crate) const RESOURCE: &str = "https://mcp.example.com/mcp";
pub(crate) const ISSUER: &str = "https://id.example.com";
const METADATA: &str = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
const PATHS: [&str; 2] =
    ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"];

pub(crate) fn builder() -> GuardBuilder {
    Guard::builder(RESOURCE).authorization_server(ISSUER).scopes_supported(["notes:read"])
}

fn guard() -> Guard {
    builder().build().unwrap()
}

/// The tokens of two users.
fn options() -> Http {
    let guard = guard();
    let tokens = FixedTokens::new(&guard).token("of-ada", "ada", ["notes:read"]).token(
        "of-eve",
        "eve",
        ["notes:read"],
    );
    Http::new().authorizing(guard, tokens)
}

/// Verifies every token as this one.
struct Says(Result<VerifiedToken, VerifyError>);

impl TokenVerifier for Says {
    fn verify(
        &self,
        _: Secret,
        _: RequestHead,
    ) -> BoxFuture<'static, Result<VerifiedToken, VerifyError>> {
        Box::pin(std::future::ready(self.0.clone()))
    }
}

fn ada() -> VerifiedToken {
    let mut token = VerifiedToken::new(ISSUER);
    token.subject = Some("ada".into());
    token.audience = vec![RESOURCE.into()];
    token.expiry = TokenExpiry::Never;
    token
}

pub(crate) fn bearing(token: &str, request: Request) -> Request {
    request.field("Authorization", &format!("Bearer {token}"))
}

fn echo() -> Request {
    modern("tools/call", json!({"name": "echo", "arguments": {"text": "hi"}}))
}

/// Checks the only challenge of a reply; returns its `error` and `scope`.
pub(crate) fn challenge(reply: &Reply) -> (Option<String>, Option<String>) {
    let value =
        reply.field("www-authenticate").unwrap_or_else(|| panic!("no challenge: {reply:?}"));
    let challenges = challenges(value.as_bytes()).unwrap();
    assert_eq!((challenges.len(), challenges[0].scheme), (1, "Bearer"));
    assert_eq!(challenges[0].param("resource_metadata"), Some(METADATA), "{value}");
    let param = |name| challenges[0].param(name).map(str::to_owned);
    (param("error"), param("scope"))
}

fn assert_refused(reply: &Reply, status: u16, error: Option<&str>) {
    // Nothing is required, so that the metadata says what clients ask for.
    assert_eq!((reply.status, challenge(reply)), (status, (error.map(str::to_owned), None)));
}

fn opens(token: &str, served: &Served) -> String {
    let mut reply = bearing(token, initialize()).send(served.address);
    assert_eq!((reply.status, reply.answer()["error"].take()), (200, Value::Null));
    let id = reply.field("mcp-session-id").unwrap().to_owned();
    let ready = post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!(bearing(token, within(&id, ready)).send(served.address).status, 202);
    id
}

fn ping() -> Request {
    post(&json!({"jsonrpc": "2.0", "id": 9, "method": "ping"}))
}

// AUT-03, AUT-72
fn each_request_needs_a_token_aut_03<R: Runtime>() {
    let served = Served::on::<R>(server(), options());
    let session = opens("of-ada", &served);
    let requests = [
        initialize(),
        within(&session, ping()),
        within(&session, get(&session)),
        within(&session, Request::new("DELETE")),
        within("unknown", ping()),
        echo(),
        post(&json!({})).body(b"{"),
        Request::new("GET"),
    ];
    for request in requests {
        assert_refused(&request.send(served.address), 401, None);
        let other = request.clone().field("Authorization", "Basic b2YtYWRh");
        assert_refused(&other.send(served.address), 401, None);
        let unknown = bearing("of-bob", request).send(served.address);
        assert_refused(&unknown, 401, Some("invalid_token"));
    }
    assert_eq!(bearing("of-ada", within(&session, ping())).send(served.address).status, 200);
    let delete = bearing("of-ada", within(&session, Request::new("DELETE")));
    assert_eq!(delete.send(served.address).status, 204);
}

fn a_token_is_found_in_one_header_only_aut_73<R: Runtime>() {
    let served = Served::on::<R>(server(), options());
    assert_eq!(bearing("of-ada", echo()).send(served.address).status, 200);
    let mut bytes = bearing("of-ada", echo()).bytes();
    let head = bytes.windows(2).position(|ends| ends == b"\r\n").unwrap() + 2;
    bytes.splice(head..head, *b"AUTHORIZATION: Bearer of-ada\r\n");
    let mut repeated = Request::new("GET").start(served.address);
    assert_refused(&repeated.next_reply(), 401, None);
    repeated.write(&bytes);
    assert_refused(&repeated.reply(), 400, Some("invalid_request"));
    for request in [
        bearing("", echo()),
        bearing("of ada", echo()),
        bearing("of,ada", echo()),
        bearing(&"a".repeat((32 << 10) + 1), echo()),
        echo().path("/mcp?access_token=of-ada"),
        bearing("of-ada", echo()).path("/mcp?a=b&access_token=of-ada"),
    ] {
        assert_refused(&request.send(served.address), 400, Some("invalid_request"));
    }
    // A token in a form is not even read.
    let form = Request::new("POST")
        .field("Content-Type", "application/x-www-form-urlencoded")
        .body(b"access_token=of-ada");
    assert_refused(&form.send(served.address), 401, None);
    assert_eq!(bearing("of-ada", form).send(served.address).status, 415);
}

// AUT-09, AUT-71
fn the_metadata_is_served_to_anyone_aut_71<R: Runtime>() {
    let served = Served::on::<R>(server(), options());
    for path in PATHS {
        for origin in [None, Some("https://app.example"), Some("null")] {
            let mut request = Request::new("GET").path(path);
            request = origin.into_iter().fold(request, |it, origin| it.field("Origin", origin));
            let mut reply = request.send(served.address);
            assert_eq!(reply.field("access-control-allow-origin"), Some("*"));
            let metadata = json!({
                "resource": RESOURCE,
                "authorization_servers": [ISSUER],
                "scopes_supported": ["notes:read"],
                "bearer_methods_supported": ["header"],
            });
            assert_eq!((reply.status, reply.json()), (200, metadata));
        }
        let preflight = Request::new("OPTIONS").path(path).field("Origin", "https://app.example");
        let reply = preflight.send(served.address);
        assert_eq!((reply.status, reply.field("access-control-allow-headers")), (204, Some("*")));
        assert_eq!(Request::new("POST").path(path).send(served.address).status, 405);
        // DNS rebinding is no way to it.
        let rebound = Request::new("GET").path(path).field("Host", "evil.example");
        assert_eq!(rebound.send(served.address).status, 403);
    }
    let elsewhere = Request::new("GET").path("/.well-known/oauth-protected-resource/other");
    assert_eq!(elsewhere.send(served.address).status, 404);
}

// AUT-70
fn nothing_is_taken_from_headers_aut_70<R: Runtime>() {
    let served = Served::on::<R>(server(), options().host("evil.example"));
    let forged = |request: Request| {
        request
            .field("Host", "evil.example")
            .field("X-Forwarded-Host", "evil.example")
            .field("X-Forwarded-Proto", "http")
            .field("Forwarded", "host=evil.example")
    };
    assert_refused(&forged(echo()).send(served.address), 401, None);
    for path in PATHS {
        let metadata = forged(Request::new("GET").path(path)).send(served.address).text();
        assert!(metadata.contains(RESOURCE) && !metadata.contains("evil"), "{metadata}");
    }
}

// AUT-76
fn what_a_verifier_forgets_is_refused_aut_76<R: Runtime>() {
    type Forget = fn(&mut VerifiedToken);
    let forgets: [Forget; 5] = [
        |token| token.issuer = None,
        |token| token.audience.clear(),
        |token| token.expiry = TokenExpiry::default(),
        |token| token.subject = None,
        |token| *token = VerifiedToken::default(),
    ];
    for forget in forgets {
        let mut token = ada();
        forget(&mut token);
        let served = Served::on::<R>(server(), Http::new().authorizing(guard(), Says(Ok(token))));
        let reply = bearing("any", echo()).send(served.address);
        assert_refused(&reply, 401, Some("invalid_token"));
    }
}

// AUT-04, D-A20
fn tokens_for_others_and_other_times_are_refused_aut_04<R: Runtime>() {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    type Change = fn(&mut VerifiedToken, u64);
    let rows: [(bool, Change); 7] = [
        (true, |token, now| token.expiry = TokenExpiry::At(now + 600)),
        (false, |token, now| token.expiry = TokenExpiry::At(now - 600)),
        (true, |token, now| token.not_before = Some(now - 600)),
        (false, |token, now| token.not_before = Some(now + 600)),
        (false, |token, _| token.audience = vec!["https://mcp.example.com/".into()]),
        (true, |token, _| token.audience = vec!["api://mcp".into()]),
        (false, |token, _| token.issuer = Some("https://evil.example".into())),
    ];
    for (is_accepted, change) in rows {
        let mut token = ada();
        change(&mut token, now);
        let guard = builder().audience(RESOURCE).audience("api://mcp").build().unwrap();
        let says = Says(Ok(token.clone()));
        let served = Served::on::<R>(server(), Http::new().authorizing(guard, says));
        let reply = bearing("any", echo()).send(served.address);
        assert_eq!(reply.status, if is_accepted { 200 } else { 401 }, "{token:?}");
        if !is_accepted {
            assert_refused(&reply, 401, Some("invalid_token"));
        }
    }
}

fn no_request_passes_a_verifier_that_fails<R: Runtime>() {
    let says = Says(Err(VerifyError::Unavailable));
    let served = Served::on::<R>(server(), Http::new().authorizing(guard(), says));
    let reply = bearing("any", echo()).send(served.address);
    assert_eq!((reply.status, reply.field("retry-after")), (503, Some("5")));
    assert_eq!(reply.field("www-authenticate"), None);

    let panics = |_: Secret, _: RequestHead| async { panic!("on purpose") };
    let served = Served::on::<R>(server(), Http::new().authorizing(guard(), panics));
    assert_eq!(bearing("any", echo()).send(served.address).status, 500);

    let hangs = |_: Secret, _: RequestHead| std::future::pending();
    let options = Http::new().authorizing(guard(), hangs);
    let options = options.limits(HttpLimits {
        authentication_timeout: std::time::Duration::from_millis(20),
        ..HttpLimits::default()
    });
    let served = Served::on::<R>(server(), options);
    assert_eq!(bearing("any", echo()).send(served.address).status, 503);
}

fn a_verifier_is_asked_once_for_each_request_aut_04<R: Runtime>() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let counts = move |_: Secret, _: RequestHead| {
        counter.fetch_add(1, Ordering::SeqCst);
        async { Ok(ada()) }
    };
    let served = Served::on::<R>(server(), Http::new().authorizing(guard(), counts));
    let session = opens("any", &served);
    assert_eq!(asked.swap(0, Ordering::SeqCst), 2);
    let stream = bearing("any", within(&session, get(&session))).send(served.address);
    assert_eq!((stream.status, asked.swap(0, Ordering::SeqCst)), (200, 1));
    let batch = bearing("any", echo()).send(served.address);
    assert_eq!((batch.status, asked.swap(0, Ordering::SeqCst)), (200, 1));
    let delete = bearing("any", within(&session, Request::new("DELETE")));
    assert_eq!((delete.send(served.address).status, asked.swap(0, Ordering::SeqCst)), (204, 1));
    // No token, no question.
    assert_refused(&echo().send(served.address), 401, None);
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

/// Builds a server with a tool that reports its caller.
fn who() -> Server {
    server().add(Tool::define(tool("who"), |cx: Cx| {
        let head = cx.head().ok_or("no head")?;
        let shown = format!("{head:?} {:?} {:?}", head.headers, cx.access_token());
        assert!(!head.headers.contains_key("authorization"), "{shown}");
        assert!(!shown.contains("s3cret"), "{shown}");
        let token = cx.access_token().ok_or("no token")?;
        let email = token.claims().and_then(|claims| claims.member("email"));
        let principal = cx.principal().map_or("", Principal::id);
        let scopes: Vec<&str> = token.scopes().collect();
        let client = token.client_id().unwrap_or_default();
        Ok(format!(
            "{principal} {client} {} {}",
            scopes.join(","),
            email.ok_or("no email")?.as_str()
        ))
    }))
}

// AUT-05, AUT-30
fn handlers_know_the_token_but_not_its_text_aut_05<R: Runtime>() {
    let mut token = ada();
    token.client_id = Some("editor".into());
    token.scopes = vec!["notes:write".into()];
    token.claims = Some(Raw::from_text(r#"{"email":"ada@example.com"}"#).unwrap());
    let guard = builder().implies("notes:write", ["notes:read"]).build().unwrap();
    let served = Served::on::<R>(who(), Http::new().authorizing(guard, Says(Ok(token))));
    let expected =
        r#"["https://id.example.com","ada"] editor notes:write,notes:read "ada@example.com""#;
    let call = modern("tools/call", json!({"name": "who", "arguments": {}}));
    assert_eq!(text(&bearing("s3cret", call).send(served.address).answer()), expected);
    let session = opens("s3cret", &served);
    let params = json!({"name": "who", "arguments": {}});
    let call = post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
    let call = bearing("s3cret", within(&session, call));
    assert_eq!(text(&call.send(served.address).answer()), expected);
}

// AUT-74
fn a_session_exists_only_for_its_principal_aut_74<R: Runtime>() {
    let served = Served::on::<R>(server(), options());
    let session = opens("of-ada", &served);
    for request in [ping(), get(&session), Request::new("DELETE")] {
        let reply = bearing("of-eve", within(&session, request)).send(served.address);
        assert_eq!(reply.status, 404);
    }
    assert_eq!(bearing("of-ada", within(&session, ping())).send(served.address).status, 200);
}

fn every_request_needs_the_scopes_that_all_need<R: Runtime>() {
    let guard = builder().required_scopes(["mcp"]).build().unwrap();
    let tokens = FixedTokens::new(&guard).token("without", "ada", ["notes:read"]).token(
        "with",
        "ada",
        ["mcp"],
    );
    let served = Served::on::<R>(server(), Http::new().authorizing(guard, tokens));
    let reply = echo().send(served.address);
    assert_eq!((reply.status, challenge(&reply)), (401, (None, Some("mcp".to_owned()))));
    let reply = bearing("without", echo()).send(served.address);
    let expected = (Some("insufficient_scope".to_owned()), Some("mcp".to_owned()));
    assert_eq!((reply.status, challenge(&reply)), (403, expected));
    assert_eq!(bearing("with", echo()).send(served.address).status, 200);
}
