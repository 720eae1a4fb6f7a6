//! Authenticated clients: handlers learn who asks, and nothing of one principal exists for another.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use mcp_adapter::http::RequestHead;
use mcp_adapter::proto::http::Refusal;
use mcp_adapter::proto::schema::{Elicit, Form, Map, OrUnknown, Ping, TextField};
use mcp_adapter::proto::seal::Seal;
use mcp_adapter::proto::{Principal, Progress};
use mcp_adapter::{
    Changes, Cx, HandlerError, Server, SubscriptionChange, SubscriptionSettings, Tool,
};
use mcp_blocking::http::Http;
use mcp_http_tests::{
    PATIENCE, Pending, Reply, Request, Runtime, Served, get, modern, post, rows, server, text, tool,
};
use serde_json::{Value, json};

rows! {
    handlers_know_who_asks,
    a_request_without_credentials_is_refused_before_anything_else,
    an_authentication_that_panics_refuses,
    nothing_in_a_session_exists_for_another_principal_sec_13,
    state_returns_only_from_the_principal_it_was_sealed_for_stl_24,
    a_repeated_request_keeps_its_principal,
    requests_are_anonymous_by_default,
    clients_are_authenticated_while_callbacks_wait_for_others,
    legacy_subscriptions_are_decided_by_principal_sec_02,
    modern_subscriptions_are_decided_by_principal_sec_02,
}

/// Returns who sent a request, by its token.
pub(crate) fn user(head: &RequestHead) -> Result<Principal, Refusal> {
    let token = head.headers.get("authorization").and_then(|token| token.to_str().ok());
    match token.and_then(|token| token.strip_prefix("Bearer of-")) {
        Some("panic") => panic!("on purpose"),
        name => name
            .and_then(Principal::new)
            .ok_or_else(|| Refusal::new(401, "no token").header("www-authenticate", "Bearer")),
    }
}

/// Both ways to authenticate.
fn both() -> [Http; 2] {
    let later = |head: RequestHead| async move {
        mcp_adapter::io::AsyncWriteExt::flush(&mut mcp_adapter::io::sink()).await.unwrap();
        user(&head)
    };
    [Http::new().authenticating(user), Http::new().authenticating_async(later)]
}

fn name_form() -> Elicit {
    let form = Form::new(Map::new()).field("name", TextField::new());
    Elicit::form("Your name?", OrUnknown::Known(form))
}

/// Builds a server whose tools report the caller, and one that waits for `go`.
fn service() -> (Server, Sender<()>) {
    let (go, goes) = channel();
    let goes = Arc::new(Mutex::new(goes));
    let waits = move |cx: Cx| {
        cx.progress(Progress::new(1.0))?;
        wait_for(&goes)?;
        Ok("done")
    };
    let server = server()
        .seal(Seal::new(b"a key for tests, of 32 bytes ...").unwrap())
        .add(Tool::define(tool("who"), |cx: Cx| {
            let head = cx.head().ok_or("no head")?;
            let agent = head.headers.get("user-agent").and_then(|agent| agent.to_str().ok());
            let id = cx.principal().map_or("anonymous", Principal::id);
            Ok(format!("{id} {} {}", agent.unwrap_or("-"), cx.session_id().unwrap_or_default()))
        }))
        .add(Tool::define(tool("ask"), |cx: Cx| {
            let answer: Value = cx.ask("name", name_form())?;
            let id = cx.principal().map_or("anonymous", Principal::id);
            Ok(format!("{id} {}", answer["name"].as_str().unwrap_or_default()))
        }))
        .add(Tool::define(tool("wait"), waits));
    (server, go)
}

fn wait_for(goes: &Mutex<Receiver<()>>) -> Result<(), HandlerError> {
    Ok(goes.lock().unwrap().recv_timeout(PATIENCE)?)
}

/// A user with a token.
#[derive(Clone, Copy)]
pub(crate) struct User(&'static str);

pub(crate) const ADA: User = User("Bearer of-ada");
pub(crate) const EVE: User = User("Bearer of-eve");

impl User {
    pub(crate) fn sends(self, request: Request, served: &Served) -> Pending {
        request.field("Authorization", self.0).start(served.address)
    }

    pub(crate) fn asks(self, request: Request, served: &Served) -> Reply {
        self.sends(request, served).reply()
    }

    /// Opens a session and returns its id.
    pub(crate) fn opens(self, served: &Served) -> String {
        let initialize =
            post(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"elicitation": {}},
                "clientInfo": {"name": "row", "version": "1"},
            }}));
        let mut reply = self.asks(initialize, served);
        assert_eq!((reply.status, reply.answer()["error"].take()), (200, Value::Null));
        let id = reply.field("mcp-session-id").unwrap().to_owned();
        let ready = post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        assert_eq!(self.asks(within(&id, ready), served).status, 202);
        id
    }
}

pub(crate) fn within(session: &str, request: Request) -> Request {
    request.field("Mcp-Session-Id", session).field("MCP-Protocol-Version", "2025-11-25")
}

fn call(id: u64, tool: &str) -> Request {
    let params = json!({"name": tool, "arguments": {}, "_meta": {"progressToken": id}});
    post(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
}

fn handlers_know_who_asks<R: Runtime>() {
    for options in both() {
        let served = Served::on::<R>(service().0, options);
        for (user, name) in [(ADA, "ada"), (EVE, "eve")] {
            let session = user.opens(&served);
            let who = within(&session, call(1, "who")).field("User-Agent", "row/1");
            let said = user.asks(who, &served).answer();
            assert_eq!(text(&said), format!("{name} row/1 {session}"));
            let who = modern("tools/call", json!({"name": "who", "arguments": {}}));
            assert_eq!(text(&user.asks(who, &served).answer()), format!("{name} - "));
        }
    }
}

fn a_request_without_credentials_is_refused_before_anything_else<R: Runtime>() {
    for options in both() {
        let served = Served::on::<R>(service().0, options);
        let session = ADA.opens(&served);
        let echo = modern("tools/call", json!({"name": "echo", "arguments": {}}));
        let malformed = post(&json!({})).body(b"{");
        let requests = [
            mcp_http_tests::initialize(),
            within(&session, call(1, "who")),
            within(&session, get(&session)),
            within(&session, Request::new("DELETE")),
            within("unknown", call(1, "who")),
            echo,
            malformed,
        ];
        for request in requests {
            // Neither without a token nor with one that names no user.
            for reply in
                [request.clone().send(served.address), User("Bearer of-").asks(request, &served)]
            {
                assert_eq!((reply.status, reply.field("www-authenticate")), (401, Some("Bearer")));
            }
        }
        assert_eq!(ADA.asks(within(&session, call(2, "who")), &served).status, 200);
    }
}

fn an_authentication_that_panics_refuses<R: Runtime>() {
    for options in both() {
        let served = Served::on::<R>(service().0, options);
        let session = ADA.opens(&served);
        let panics = User("Bearer of-panic").asks(within(&session, call(1, "who")), &served);
        assert_eq!(panics.status, 500);
        assert_eq!(ADA.asks(within(&session, call(2, "who")), &served).status, 200);
    }
}

// SEC-13
fn nothing_in_a_session_exists_for_another_principal_sec_13<R: Runtime>() {
    let (server, go) = service();
    let served = Served::on::<R>(server, Http::new().authenticating(user));
    let ada = ADA.opens(&served);
    let eve = EVE.opens(&served);

    // Ada has a call in progress and a question to answer.
    let mut waiting = ADA.asks(within(&ada, call(1, "wait")), &served);
    assert_eq!(waiting.message().unwrap()["method"], "notifications/progress");
    let event = waiting.last_id.clone().unwrap();
    let mut asking = ADA.asks(within(&ada, call(2, "ask")), &served);
    let question = asking.message().unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let answer = |name: &str| {
        let content = json!({"action": "accept", "content": {"name": name}});
        post(&json!({"jsonrpc": "2.0", "id": question["id"], "result": content}))
    };
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": 1}});
    let ping = post(&json!({"jsonrpc": "2.0", "id": 9, "method": "ping"}));

    // Whatever Eve does with Ada's session, it does not exist.
    let attempts = [
        ("a request", ping.clone()),
        ("a call", call(3, "who")),
        ("a notification that cancels", post(&cancel)),
        ("an answer to the question", answer("eve")),
        ("a listening stream", get(&ada)),
        ("a replay", get(&ada).field("Last-Event-ID", &event)),
        ("a deletion", Request::new("DELETE")),
    ];
    let unknown = |request: &Request| {
        let mut reply = EVE.asks(within("unknown", request.clone()), &served);
        (reply.status, reply.text())
    };
    for (what, attempt) in attempts {
        let mut reply = EVE.asks(within(&ada, attempt.clone()), &served);
        assert_eq!((reply.status, reply.text()), unknown(&attempt), "{what}");
        assert_eq!(reply.status, 404, "{what}");
    }
    // Nor does an event of Ada's within Eve's own session.
    let foreign = get(&eve).field("Last-Event-ID", &event);
    assert_ne!(EVE.asks(within(&eve, foreign), &served).status, 200);
    let cancelled = EVE.asks(within(&eve, post(&cancel)), &served);
    assert_eq!(cancelled.status, 202, "ids of other sessions mean nothing");

    // Ada's session continues as if nothing had happened.
    go.send(()).unwrap();
    assert_eq!(text(&waiting.message().unwrap()), "done");
    assert_eq!(ADA.asks(within(&ada, answer("Ada")), &served).status, 202);
    assert_eq!(text(&asking.message().unwrap()), "ada Ada");
    assert_eq!(ADA.asks(within(&ada, ping), &served).status, 200);
    assert_eq!(ADA.asks(within(&ada, Request::new("DELETE")), &served).status, 204);
}

fn asked(with: &Value) -> Request {
    let mut params = json!({"name": "ask_kept", "arguments": {}});
    for (name, value) in with.as_object().unwrap() {
        params[name] = value.clone();
    }
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
        .field("MCP-Protocol-Version", "2026-07-28")
        .field("Mcp-Method", "tools/call")
        .field("Mcp-Name", "ask_kept")
}

// AUT-75, STL-24
fn state_returns_only_from_the_principal_it_was_sealed_for_stl_24<R: Runtime>() {
    let (server, _go) = service();
    // State is sent only if the handler has some.
    let server = server.add(Tool::define(tool("ask_kept"), |cx: Cx| {
        cx.set_state(&json!("kept"))?;
        let answer: Value = cx.ask("name", name_form())?;
        let id = cx.principal().map_or("anonymous", Principal::id);
        Ok(format!("{id} {}", answer["name"].as_str().unwrap_or_default()))
    }));
    let served = Served::on::<R>(server, Http::new().authenticating(user));
    let first = ADA.asks(asked(&json!({})), &served).answer();
    let state = &first["result"]["requestState"];
    assert!(state.is_string(), "{first}");
    let accepted = json!({"action": "accept", "content": {"name": "Ada"}});
    let retry = json!({"inputResponses": {"name": accepted}, "requestState": state});
    let stolen = EVE.asks(asked(&retry), &served).answer();
    assert_eq!(stolen["error"]["code"], -32602, "{stolen}");
    assert_eq!(text(&ADA.asks(asked(&retry), &served).answer()), "ada Ada");
}

fn a_repeated_request_keeps_its_principal<R: Runtime>() {
    let (server, _go) = service();
    let served = Served::on::<R>(server, Http::new().authenticating(user));
    let session = ADA.opens(&served);
    let mut asking = ADA.asks(within(&session, call(1, "ask")), &served);
    let question = asking.message().unwrap();
    // Another request in between has its own head and principal.
    assert_eq!(ADA.asks(within(&session, call(2, "who")), &served).status, 200);
    let content = json!({"action": "accept", "content": {"name": "Ada"}});
    let answer = post(&json!({"jsonrpc": "2.0", "id": question["id"], "result": content}));
    assert_eq!(ADA.asks(within(&session, answer), &served).status, 202);
    assert_eq!(text(&asking.message().unwrap()), "ada Ada");
}

/// A client that answers no requests cannot hold up the authentication of others.
fn clients_are_authenticated_while_callbacks_wait_for_others<R: Runtime>() {
    let server = server().on_notification(|_, _, client| {
        let _never = client.request(Ping::new());
    });
    let served = Served::on::<R>(server, Http::new().authenticating(user));
    // As many as there are threads for callbacks.
    for _ in 0..512 {
        let session = EVE.opens(&served);
        let changed =
            post(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
        assert_eq!(EVE.asks(within(&session, changed), &served).status, 202);
    }
    assert_eq!(ADA.asks(modern("tools/list", json!({})), &served).status, 200);
}

fn requests_are_anonymous_by_default<R: Runtime>() {
    let served = Served::on::<R>(service().0, Http::new());
    let who = modern("tools/call", json!({"name": "who", "arguments": {}}));
    // A header alone authenticates no client.
    let said = ADA.asks(who, &served).answer();
    assert_eq!(text(&said), "anonymous - ");
}

const ADAS: &str = "notes://ada/diary";
const EVES: &str = "notes://eve/diary";

/// Builds a server whose diaries only their owners may subscribe to, and reports what began and
/// ended for whom.
fn diaries() -> (Server, Changes, Receiver<(bool, String, String)>) {
    let (says, hears) = channel();
    let no_text = || Err::<&str, HandlerError>("no text".into());
    let mut server =
        server().resource(ADAS, "diary", no_text).resource(EVES, "diary", no_text).subscriptions(
            SubscriptionSettings::new()
                .accept(|uri, caller| {
                    let head: &RequestHead = caller.data().unwrap();
                    assert!(head.headers.contains_key("authorization"), "{caller:?}");
                    caller
                        .principal()
                        .is_some_and(|owner| uri.contains(&format!("//{}/", owner.id())))
                })
                .on_change(move |change| {
                    let is_begun = matches!(change, SubscriptionChange::Began { .. });
                    let principal = change.principal().map_or("", Principal::id).to_owned();
                    let _row_is_over = says.send((is_begun, change.uri().to_owned(), principal));
                }),
        );
    let changes = server.changes();
    (server, changes, hears)
}

fn change(is_begun: bool, uri: &str, principal: &str) -> (bool, String, String) {
    (is_begun, uri.to_owned(), principal.to_owned())
}

// SEC-02
fn legacy_subscriptions_are_decided_by_principal_sec_02<R: Runtime>() {
    let (server, changes, hears) = diaries();
    let served = Served::on::<R>(server, Http::new().authenticating(user));
    let subscribe = |user: User, session: &str, uri: &str| {
        let subscribe = json!({"jsonrpc": "2.0", "id": 5, "method": "resources/subscribe",
            "params": {"uri": uri}});
        user.asks(within(session, post(&subscribe)), &served).answer()
    };
    let (ada, eve) = (ADA.opens(&served), EVE.opens(&served));
    let refused = subscribe(EVE, &eve, ADAS);
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
    assert_eq!(subscribe(ADA, &ada, ADAS)["result"], json!({}));
    assert_eq!(subscribe(EVE, &eve, EVES)["result"], json!({}));
    assert_eq!(hears.recv_timeout(PATIENCE), Ok(change(true, ADAS, "ada")));
    assert_eq!(hears.recv_timeout(PATIENCE), Ok(change(true, EVES, "eve")));
    // Another principal's subscription changes nothing.
    assert!(subscribe(EVE, &eve, ADAS)["error"].is_object());

    let mut adas = ADA.asks(within(&ada, get(&ada)), &served);
    let mut eves = EVE.asks(within(&eve, get(&eve)), &served);
    changes.resource_updated(ADAS).unwrap();
    changes.resource_updated(EVES).unwrap();
    assert_eq!(adas.message().unwrap()["params"]["uri"], ADAS);
    assert_eq!(eves.message().unwrap()["params"]["uri"], EVES, "nothing of Ada's precedes it");

    assert_eq!(ADA.asks(within(&ada, Request::new("DELETE")), &served).status, 204);
    assert_eq!(hears.recv_timeout(PATIENCE), Ok(change(false, ADAS, "ada")));
}

// SEC-02
fn modern_subscriptions_are_decided_by_principal_sec_02<R: Runtime>() {
    let (server, changes, hears) = diaries();
    let served = Served::on::<R>(server, Http::new().authenticating(user));
    // Each asks for both diaries and is acknowledged its own.
    let listen = |user: User, uri: &str| {
        let both = json!({"notifications": {"resourceSubscriptions": [ADAS, EVES]}});
        let mut listening = user.asks(modern("subscriptions/listen", both), &served);
        let acknowledged = listening.message().unwrap();
        let accepted = &acknowledged["params"]["notifications"]["resourceSubscriptions"];
        assert_eq!(*accepted, json!([uri]), "{acknowledged}");
        listening
    };
    let mut adas = listen(ADA, ADAS);
    assert_eq!(hears.recv_timeout(PATIENCE), Ok(change(true, ADAS, "ada")));
    let mut eves = listen(EVE, EVES);
    assert_eq!(hears.recv_timeout(PATIENCE), Ok(change(true, EVES, "eve")));
    changes.resource_updated(ADAS).unwrap();
    changes.resource_updated(EVES).unwrap();
    assert_eq!(adas.message().unwrap()["params"]["uri"], ADAS);
    assert_eq!(eves.message().unwrap()["params"]["uri"], EVES, "nothing of Ada's precedes it");
    drop(adas);
    assert_eq!(hears.recv_timeout(PATIENCE), Ok(change(false, ADAS, "ada")));
}
