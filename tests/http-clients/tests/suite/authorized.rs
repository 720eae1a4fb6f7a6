//! Clients that authorize themselves: logins, renewals, failures, and what is shared.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

use mcp_adapter::auth::{Auth, AuthEvent, Browser, Login, MemoryStore, SigningKey, Store as _};
use mcp_adapter::proto::CallError;
use mcp_adapter::proto::auth::{AuthConfig, AuthLimits, RecordKey, Uri};
use mcp_adapter::{Client, Connection};
use mcp_adapter_tests::{eventually, rows, success};
use mcp_http_client_tests::{Guarded, OverHttp, PLANTED, browse, proof_of};
use serde_json::json;
use smol::channel::{Receiver, unbounded};
use smol::future::{block_on, or, zip};

use crate::{SOON, failed, modern_client};

rows! {
    a_user_logs_in_and_every_request_carries_the_token_aut_06,
    every_request_proves_the_key_of_a_bound_token_aut_82,
    a_refused_login_fails_the_call_with_the_reason,
    a_login_without_a_browser_says_what_is_missing,
    an_address_is_pasted,
    a_rejected_token_is_renewed_once_for_all_connections_aut_60,
    connections_share_one_login,
    connections_with_separate_stores_share_no_login,
    a_waiting_call_is_cancelled_and_the_login_continues,
    a_closed_connection_ends_its_login,
    a_refresh_is_saved_before_a_connection_has_closed,
    a_refresh_that_outlasts_the_close_is_saved_in_the_background,
    a_client_logs_out_and_in_again,
    a_client_logs_out_without_a_connection,
    a_request_that_no_token_helps_fails_alone,
    nothing_secret_is_shown_aut_34,
}

/// Returns the authorization by a user who agrees immediately.
pub(crate) fn user() -> Auth {
    let browser = Browser::custom(|url| browse(&browse(url.expose())?).map(drop));
    Auth::user("row").store(MemoryStore::new()).browser(browser)
}

/// Returns the key of the tokens of [`user`] for a server.
fn key(server: &Guarded) -> RecordKey {
    let url = Uri::parse(&server.site.url(), &AuthLimits::default()).unwrap();
    AuthConfig::user(url, "row").grant_key()
}

/// Returns the authorization by a user whose logins arrive at the receiver.
fn asked() -> (Auth, Receiver<Login>) {
    let (says, logins) = unbounded();
    let auth = Auth::user("row").store(MemoryStore::new()).browser(Browser::none());
    (auth.on_login(move |login| drop(says.try_send(login))), logins)
}

/// Lets the user of a login agree; returns whether the login takes the redirect.
fn agree(login: &Login) -> bool {
    login.redirected(&browse(login.url().expose()).unwrap())
}

/// Opens a connection to a server where only calls need a token.
async fn opened<R: OverHttp>(server: &Guarded, client: Client, auth: Auth) -> Connection {
    server.rules.opens_freely.store(true, SeqCst);
    R::connect_http(client, server.remote().authorized(auth)).await.unwrap()
}

pub(crate) async fn echo(connection: &Connection) -> String {
    success(connection.call_tool("echo", &json!({"text": "a"})).await)
}

async fn a_user_logs_in_and_every_request_carries_the_token_aut_06<R: OverHttp>() {
    let server = Guarded::new();
    let (says, events) = unbounded();
    let auth = user().on_event(move |event| says.try_send(event.clone()).unwrap());
    let remote = server.remote().authorized(auth);
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    assert_eq!(echo(&connection).await, "a");
    assert_eq!(echo(&connection).await, "a");
    connection.close().await.unwrap();
    let counted = ["/register", "/authorize", "/token"].map(|path| server.count(path));
    assert_eq!(counted, [1, 1, 1]);
    let heard = server.site.heard();
    let (mcp, other): (Vec<_>, Vec<_>) = heard.iter().partition(|it| it.path == "/mcp");
    assert_eq!(mcp[0].field("authorization"), None);
    let token = format!("Bearer {PLANTED}-access-1");
    assert!(mcp[1..].iter().all(|it| it.field("authorization") == Some(&token)), "{mcp:?}");
    assert_eq!(mcp.len(), 4, "one request was rejected");
    assert!(other.iter().all(|it| it.field("authorization").is_none()));
    assert!(matches!(events.recv().await.unwrap(), AuthEvent::Granted { .. }));
}

async fn every_request_proves_the_key_of_a_bound_token_aut_82<R: OverHttp>() {
    let server = Guarded::new();
    server.rules.binds_tokens.store(true, SeqCst);
    let auth = user().dpop(SigningKey::generate().unwrap());
    let remote = server.remote().authorized(auth);
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    assert_eq!(echo(&connection).await, "a");
    server.rules.revoke();
    assert_eq!(echo(&connection).await, "a");
    connection.close().await.unwrap();
    // Without token; without nonce; the probe; a call; rejected, and sent again after a refresh.
    let heard = server.site.heard();
    let sent = |path| heard.iter().filter(move |it| it.path == path);
    assert_eq!((sent("/mcp").count(), sent("/token").count()), (6, 4));
    let mut ids = BTreeSet::new();
    for request in sent("/mcp").skip(1).chain(sent("/token")) {
        let claims = proof_of(request).unwrap();
        let url = claims["htu"].as_str().unwrap();
        assert!(url.starts_with("http://") && url.ends_with(&request.path), "{url}");
        assert_eq!(claims["htm"], "POST");
        assert_eq!(claims["ath"].is_string(), request.path == "/mcp");
        assert!(ids.insert(claims["jti"].to_string()), "each proof has its own id");
    }
    assert!(sent("/mcp").skip(1).all(|it| it.field("authorization").unwrap().starts_with("DPoP ")));
}

async fn a_refused_login_fails_the_call_with_the_reason<R: OverHttp>() {
    let server = Guarded::new();
    server.rules.users_refuse.store(true, SeqCst);
    let connection = opened::<R>(&server, modern_client(), user()).await;
    let outcome = connection.call_tool("echo", &json!({})).await;
    let error = outcome.as_ref().unwrap_err().to_string();
    assert!(error.contains("access_denied"), "{error}");
    assert!(matches!(failed(outcome), CallError::Unauthorized(_)));
    // The user is not asked again immediately.
    failed(connection.call_tool("echo", &json!({})).await);
    assert_eq!(server.count("/authorize"), 1);
}

async fn a_login_without_a_browser_says_what_is_missing<R: OverHttp>() {
    let server = Guarded::new();
    let auth = Auth::user("row").store(MemoryStore::new()).browser(Browser::none());
    let connected = R::connect_http(modern_client(), server.remote().authorized(auth)).await;
    let error = connected.unwrap_err().to_string();
    assert!(error.contains("no browser can be opened"), "{error}");
    assert_eq!(server.count("/authorize"), 0);
}

async fn an_address_is_pasted<R: OverHttp>() {
    let server = Guarded::new();
    let auth = Auth::user("row").store(MemoryStore::new()).browser(Browser::none());
    let auth = auth.on_login(|login| {
        assert!(!login.redirected("http://127.0.0.1/callback?code=a&state=b"), "not of this login");
        assert!(agree(&login));
        assert!(!agree(&login), "the login is over");
    });
    let remote = server.remote().authorized(auth);
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    assert_eq!(echo(&connection).await, "a");
}

async fn a_rejected_token_is_renewed_once_for_all_connections_aut_60<R: OverHttp>() {
    let server = Guarded::new();
    let auth = user();
    let first = opened::<R>(&server, modern_client(), auth.clone()).await;
    assert_eq!(echo(&first).await, "a");
    let second = opened::<R>(&server, modern_client(), auth).await;
    server.rules.revoke();
    let both = zip(zip(echo(&first), echo(&first)), zip(echo(&second), echo(&second)));
    both.await;
    assert_eq!((server.refreshes(), server.count("/authorize")), (1, 1));
}

async fn connections_share_one_login<R: OverHttp>() {
    let server = Guarded::new();
    let (auth, logins) = asked();
    let first = opened::<R>(&server, modern_client(), auth.clone()).await;
    let second = opened::<R>(&server, modern_client(), auth).await;
    let login = async {
        let login = logins.recv().await.unwrap();
        // Both calls were rejected.
        eventually("both wait", || server.site.of("tools/call").len() == 2).await;
        assert!(agree(&login));
    };
    zip(login, zip(echo(&first), echo(&second))).await;
    assert_eq!((server.count("/authorize"), server.count("/token")), (1, 1));
    assert!(logins.is_empty());
}

async fn connections_with_separate_stores_share_no_login<R: OverHttp>() {
    let server = Guarded::new();
    let ada = user();
    let bob = ada.clone().store(MemoryStore::new());
    let first = opened::<R>(&server, modern_client(), ada).await;
    assert_eq!(echo(&first).await, "a");
    let second = opened::<R>(&server, modern_client(), bob).await;
    assert_eq!(echo(&second).await, "a");
    assert_eq!(server.count("/authorize"), 2);
}

async fn a_waiting_call_is_cancelled_and_the_login_continues<R: OverHttp>() {
    let server = Guarded::new();
    let (auth, logins) = asked();
    let connection = opened::<R>(&server, modern_client(), auth).await;
    let call = async {
        let outcome = connection.call_tool("echo", &json!({})).await;
        panic!("the call did not wait: {outcome:?}")
    };
    let login = or(call, async { logins.recv().await.unwrap() }).await;
    assert!(agree(&login));
    assert_eq!(echo(&connection).await, "a");
    assert_eq!(server.count("/authorize"), 1);
}

async fn a_closed_connection_ends_its_login<R: OverHttp>() {
    let server = Guarded::new();
    let (auth, logins) = asked();
    let connection = opened::<R>(&server, modern_client(), auth).await;
    let other = connection.clone();
    let call = async {
        let outcome = other.call_tool("echo", &json!({})).await;
        panic!("the call did not wait: {outcome:?}")
    };
    let login = or(call, async { logins.recv().await.unwrap() }).await;
    drop(other);
    connection.close().await.unwrap();
    let back = browse(login.url().expose()).unwrap();
    assert!(!login.redirected(&back));
    let is_closed = || browse(&back).is_err();
    eventually("the listener is closed", is_closed).await;
    assert_eq!(server.count("/token"), 0);
    login.cancel();
}

/// Revokes the access token, and calls a tool until its refresh has begun and is held.
async fn call_until_refresh(server: &Guarded, connection: &Connection) -> Connection {
    server.rules.revoke();
    server.rules.hold_refreshes(true);
    let other = connection.clone();
    let call = async {
        let outcome = other.call_tool("echo", &json!({})).await;
        panic!("the call did not wait: {outcome:?}")
    };
    or(call, eventually("a refresh", || server.refreshes() == 1)).await;
    other
}

async fn a_refresh_is_saved_before_a_connection_has_closed<R: OverHttp>() {
    let server = Guarded::new();
    let store = MemoryStore::new();
    let auth = user().store(store.clone());
    let connection = opened::<R>(&server, modern_client(), auth.clone()).await;
    assert_eq!(echo(&connection).await, "a");
    let other = call_until_refresh(&server, &connection).await;
    let rules = Arc::clone(&server.rules);
    let closing = thread::spawn(move || {
        block_on(eventually("closing", || other.close_reason().is_some()));
        rules.hold_refreshes(false);
    });
    connection.close().await.unwrap();
    let key = key(&server);
    let saved = store.acquire(&key, SOON).unwrap().read().unwrap().unwrap();
    assert!(saved.expose().contains("access-2"));
    closing.join().unwrap();
    server.rules.opens_freely.store(false, SeqCst);
    let connection =
        R::connect_http(modern_client(), server.remote().authorized(auth)).await.unwrap();
    assert_eq!(echo(&connection).await, "a");
    let token = format!("Bearer {PLANTED}-access-2");
    let discovers = server.site.of("server/discover");
    assert_eq!(discovers.last().unwrap().field("authorization"), Some(&*token));
    assert_eq!((server.refreshes(), server.count("/authorize")), (1, 1));
}

async fn a_refresh_that_outlasts_the_close_is_saved_in_the_background<R: OverHttp>() {
    let server = Guarded::new();
    let store = MemoryStore::new();
    let connection = opened::<R>(&server, modern_client(), user().store(store.clone())).await;
    assert_eq!(echo(&connection).await, "a");
    let other = call_until_refresh(&server, &connection).await;
    drop(other);
    // Takes 5 s.
    connection.close().await.unwrap();
    server.rules.hold_refreshes(false);
    let key = key(&server);
    let is_saved = || {
        let record = store.acquire(&key, Duration::from_millis(1));
        let saved = record.ok().and_then(|mut record| record.read().unwrap());
        saved.is_some_and(|saved| saved.expose().contains("access-2"))
    };
    eventually("the rotated token is saved", is_saved).await;
}

async fn a_client_logs_out_and_in_again<R: OverHttp>() {
    let server = Guarded::new();
    let store = MemoryStore::new();
    let auth = user().store(store.clone());
    let remote = server.remote().authorized(auth.clone());
    let connection = opened::<R>(&server, modern_client(), auth).await;
    assert_eq!(echo(&connection).await, "a");
    R::log_out(&remote).await.unwrap();
    let key = key(&server);
    // A task of this runtime may hold the record for a moment: waiting must not block the thread.
    let is_deleted = || {
        let record = store.acquire(&key, Duration::from_millis(1));
        record.is_ok_and(|mut record| record.read().unwrap().is_none())
    };
    eventually("the tokens are deleted", is_deleted).await;
    assert_eq!(echo(&connection).await, "a");
    let calls = server.site.of("tools/call");
    let tokens: Vec<_> = calls.iter().map(|it| it.field("authorization").is_some()).collect();
    assert_eq!(tokens, [false, true, false, true]);
    assert_eq!((server.count("/authorize"), server.count("/register")), (2, 1));
    assert_eq!(server.refreshes(), 0);
}

async fn a_client_logs_out_without_a_connection<R: OverHttp>() {
    let server = Guarded::new();
    let store = MemoryStore::new();
    let auth = user().store(store.clone());
    let connection = opened::<R>(&server, modern_client(), auth.clone()).await;
    assert_eq!(echo(&connection).await, "a");
    connection.close().await.unwrap();
    R::log_out(&server.remote().authorized(auth)).await.unwrap();
    let key = key(&server);
    assert_eq!(store.acquire(&key, SOON).unwrap().read().unwrap(), None);
    let error = R::log_out(&server.remote()).await.unwrap_err();
    assert!(error.to_string().contains("no `Auth`"), "{error}");
}

async fn a_request_that_no_token_helps_fails_alone<R: OverHttp>() {
    let server = Guarded::new();
    let connection = opened::<R>(&server, modern_client(), user()).await;
    assert_eq!(echo(&connection).await, "a");
    // The server accepts each token for these calls.
    let others = async {
        loop {
            assert_eq!(echo(&connection).await, "a");
        }
    };
    let outcome = or(async { connection.call_tool("forbidden", &json!({})).await }, others).await;
    let error = outcome.as_ref().unwrap_err().to_string();
    assert!(error.contains("access token"), "{error}");
    assert!(matches!(failed(outcome), CallError::Unauthorized(_)));
    assert!((1..=2).contains(&server.refreshes()), "{}", server.refreshes());
    assert_eq!(server.count("/authorize"), 1);
    assert_eq!(echo(&connection).await, "a");
}

async fn nothing_secret_is_shown_aut_34<R: OverHttp>() {
    let server = Guarded::new();
    let (auth, logins) = asked();
    let remote = server.remote().authorized(auth.clone());
    let connection = opened::<R>(&server, modern_client(), auth.clone()).await;
    let login = async {
        let login = logins.recv().await.unwrap();
        let shown = format!("{login:?} {:?}", login.url());
        assert!(agree(&login));
        let state = login.url().expose().split("state=").nth(1).unwrap();
        let state = state.split('&').next().unwrap().to_owned();
        assert!(!shown.contains(&state), "{shown}");
        state
    };
    let (state, _) = zip(login, echo(&connection)).await;
    server.rules.revoke();
    server.rules.users_refuse.store(true, SeqCst);
    let shown = format!("{remote:?} {auth:?} {connection:?}");
    for secret in [PLANTED, &state] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
