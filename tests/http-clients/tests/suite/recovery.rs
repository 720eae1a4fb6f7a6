//! Lost sessions and streams: how they are recovered, and when that ends.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_adapter::http::Remote;
use mcp_adapter::proto::{CallError, CloseReason, ErrorObject, Fault, Filter};
use mcp_adapter::{Changed, Client, Connection, ConnectionState, Error, Recovery};
use mcp_adapter_tests::{eventually, full_server, rows, success, timer};
use mcp_http_client_tests::{
    Answer, OverHttp, Proxy, Request, Served, Site, legacy, modern, result,
};
use serde_json::json;

use crate::{failed, legacy_client, modern_client};

rows! {
    a_server_that_restarts_continues_calls_and_subscriptions,
    a_session_that_cannot_be_replaced_immediately_is_recovered_later_t_72,
    a_server_that_stays_away_is_given_up,
    a_modern_subscription_continues_after_its_stream_was_cut_stl_37,
    a_subscription_that_the_server_ends_is_started_again_until_that_is_final_stl_36,
}

fn note() -> Changed {
    Changed::Resource("note://one".into())
}

/// Settings with short delays.
fn quick() -> Recovery {
    let (min, max) = (Duration::from_millis(20), Duration::from_millis(100));
    Recovery::new().delays(min, max).attempts(100, Duration::from_secs(3600))
}

fn reconnecting(remote: Remote) -> Remote {
    remote.reconnect(Duration::from_millis(20), Duration::from_millis(100))
}

/// Calls a tool until that succeeds: calls fail while the server is away.
async fn call_until_it_succeeds(connection: &Connection) {
    loop {
        match connection.call_tool("echo", &json!({"text": "on"})).await {
            Err(Error::Call(_)) => timer(Duration::from_millis(5)).await,
            outcome => break assert_eq!(success(outcome), "on"),
        }
    }
}

async fn a_server_that_restarts_continues_calls_and_subscriptions<R: OverHttp>() {
    for client in [legacy_client(), modern_client()] {
        let served = Served::new(full_server());
        let address = served.address();
        let remote = reconnecting(served.remote());
        let connection = R::connect_http(client.recovery(quick()), remote).await.unwrap();
        let filter = Filter::new().resource("note://one");
        let mut listening = connection.subscribe(&filter).await.unwrap();
        call_until_it_succeeds(&connection).await;
        smol::unblock(move || drop(served)).await;
        let mut server = full_server();
        let changes = server.changes();
        let served = Served::again(address, server);
        call_until_it_succeeds(&connection).await;
        // Changes may have been missed.
        assert_eq!(listening.next().await.unwrap(), Some(note()));
        changes.resource_updated("note://one").unwrap();
        assert_eq!(listening.next().await.unwrap(), Some(note()));
        assert_eq!((listening.ended(), connection.close_reason()), (None, None));
        connection.close().await.unwrap();
        drop(served);
    }
}

/// The states of a connection so far, each as one word.
fn observed(client: Client) -> (Client, Arc<Mutex<Vec<&'static str>>>) {
    let states: Arc<Mutex<Vec<_>>> = Arc::default();
    let seen = Arc::clone(&states);
    let client = client.on_connection_state(move |state, _| {
        let word = match state {
            ConnectionState::Connected => "connected",
            ConnectionState::Lost { .. } => "lost",
            ConnectionState::Retrying { .. } => "retrying",
            ConnectionState::GaveUp { .. } => "gave up",
            other => panic!("{other:?}"),
        };
        seen.lock().unwrap().push(word);
    });
    (client, states)
}

/// Scripts a legacy server that knows nothing while the flag is set.
fn forgetful() -> (Site, Arc<AtomicBool>) {
    let is_away = Arc::new(AtomicBool::new(false));
    let away = Arc::clone(&is_away);
    let site = Site::new(move |request, answer| match away.load(Ordering::SeqCst) {
        true => answer.status(404, &[], ""),
        false => legacy(request, answer),
    });
    (site, is_away)
}

async fn a_session_that_cannot_be_replaced_immediately_is_recovered_later_t_72<R: OverHttp>() {
    let (site, is_away) = forgetful();
    let (client, states) = observed(legacy_client().recovery(quick()));
    let connection = R::connect_http(client, site.remote()).await.unwrap();
    is_away.store(true, Ordering::SeqCst);
    let ended = failed(connection.call_tool("echo", &json!({})).await);
    assert_eq!(ended, CallError::SessionEnded);
    eventually("there was an attempt", || {
        states.lock().unwrap().iter().filter(|state| **state == "retrying").count() > 1
    })
    .await;
    is_away.store(false, Ordering::SeqCst);
    // Waits for the next session.
    let outcome = connection.call_tool("echo", &json!({"text": "on"})).await;
    assert_eq!(success(outcome), "on");
    eventually("it is reported", || states.lock().unwrap().last() == Some(&"connected")).await;
    assert_eq!(states.lock().unwrap()[..3], ["connected", "lost", "retrying"]);
    // The first one was sent unless the stream of the session has found the loss before.
    let texts: Vec<_> = site.of("tools/call").iter().map(|call| call.text().to_owned()).collect();
    assert!(texts == ["on"] || texts == ["", "on"], "a call is repeated: {texts:?}");
    connection.close().await.unwrap();
}

async fn a_server_that_stays_away_is_given_up<R: OverHttp>() {
    let (site, is_away) = forgetful();
    let recovery = quick().attempts(2, Duration::from_secs(3600));
    let (client, states) = observed(legacy_client().recovery(recovery));
    let connection = R::connect_http(client, site.remote()).await.unwrap();
    is_away.store(true, Ordering::SeqCst);
    connection.call_tool("echo", &json!({})).await.unwrap_err();
    connection.wait_ended().await.unwrap();
    let why = CloseReason::Fault(Fault::Unreachable(CallError::Http { status: 404, reason: None }));
    assert_eq!(connection.close_reason(), Some(why));
    eventually("it is reported", || states.lock().unwrap().len() == 5).await;
    assert_eq!(*states.lock().unwrap(), ["connected", "lost", "retrying", "retrying", "gave up"]);
}

async fn a_modern_subscription_continues_after_its_stream_was_cut_stl_37<R: OverHttp>() {
    let mut server = full_server();
    let changes = server.changes();
    let served = Served::new(server);
    let proxy = Proxy::new(served.address());
    let client = modern_client().recovery(quick());
    let connection = R::connect_http(client, proxy.remote()).await.unwrap();
    let mut listening = connection.subscribe(&Filter::new().resource("note://one")).await.unwrap();
    proxy.cut_after(1);
    changes.resource_updated("note://one").unwrap();
    // The change is lost with the stream. The next stream begins with it.
    assert_eq!(listening.next().await.unwrap(), Some(note()));
    changes.resource_updated("note://one").unwrap();
    assert_eq!(listening.next().await.unwrap(), Some(note()));
    assert_eq!(listening.ended(), None);
}

/// What a scripted server does with a request to subscribe, from the first one.
#[derive(Clone, Copy, Debug)]
enum Reply {
    /// Acknowledges the subscription, and ends it in good order.
    Ended,
    /// Acknowledges the subscription, and closes its stream.
    Closed,
    /// Acknowledges the subscription, and keeps it open.
    Kept,
    /// Acknowledges nothing, and keeps the subscription open.
    Nothing,
    Refused,
    /// Reports an internal error, as a server that is about to stop.
    Failed,
    Unavailable,
}

fn listen(reply: Reply, request: &Request, answer: &mut Answer<'_>) {
    let id = &request.body["id"];
    let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
    match reply {
        Reply::Refused | Reply::Failed => {
            let code = if let Reply::Failed = reply { -32603 } else { -32602 };
            let error = json!({"code": code, "message": "gone"});
            return answer.json(&[], &json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
        Reply::Unavailable => return answer.status(503, &[], ""),
        _ => {}
    }
    let covered = match reply {
        Reply::Nothing => json!({}),
        _ => json!({"toolsListChanged": true}),
    };
    let answer = answer.events();
    answer.event(&json!({
        "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
        "params": {"_meta": &meta, "notifications": covered},
    }));
    if let Reply::Ended = reply {
        answer.event(&result(request, &json!({"resultType": "complete", "_meta": meta})));
    }
    match reply {
        Reply::Ended | Reply::Closed => answer.end(),
        _ => assert!(answer.sees_the_client_leave(Duration::from_secs(40))),
    }
}

/// Scripts a modern server that replies to requests to subscribe in this order, and to further ones
/// like to the last one.
fn listened_to(replies: &'static [Reply]) -> Site {
    let count = AtomicUsize::new(0);
    Site::new(move |request, answer| match request.what() {
        "server/discover" => {
            let server = json!({
                "supportedVersions": ["2026-07-28"], "serverInfo": {"name": "s", "version": "1"},
                "capabilities": {"tools": {"listChanged": true}},
            });
            answer.json(&[], &result(request, &server));
        }
        "subscriptions/listen" => {
            let nth = count.fetch_add(1, Ordering::SeqCst).min(replies.len() - 1);
            listen(replies[nth], request, answer);
        }
        _ => modern(request, answer),
    })
}

/// How a subscription has ended.
type Ended = Option<Result<(), CallError>>;

async fn a_subscription_that_the_server_ends_is_started_again_until_that_is_final_stl_36<
    R: OverHttp,
>() {
    let off = Recovery::off();
    let twice = quick().attempts(2, Duration::from_secs(3600));
    let gone = ErrorObject::new(-32602, "gone");
    let cases: [(Recovery, &[Reply], usize, Ended); 8] = [
        (off.clone(), &[Reply::Ended], 1, Some(Ok(()))),
        (off, &[Reply::Closed], 1, Some(Err(CallError::SubscriptionEnded))),
        (twice.clone(), &[Reply::Ended], 3, Some(Ok(()))),
        (twice, &[Reply::Closed], 3, Some(Err(CallError::SubscriptionEnded))),
        (quick(), &[Reply::Ended, Reply::Unavailable, Reply::Failed, Reply::Kept], 4, None),
        (quick(), &[Reply::Closed, Reply::Kept], 2, None),
        (quick(), &[Reply::Ended, Reply::Nothing], 2, Some(Ok(()))),
        (quick(), &[Reply::Ended, Reply::Refused], 2, Some(Err(CallError::Refused(gone)))),
    ];
    for (recovery, replies, requests, end) in cases {
        let site = listened_to(replies);
        let client = modern_client().recovery(recovery);
        let connection = R::connect_http(client, site.remote()).await.unwrap();
        let mut listening = connection.subscribe(&Filter::new().tools()).await.unwrap();
        if end.is_some() {
            while listening.next().await.unwrap().is_some() {}
        } else {
            // Changes may have been missed.
            assert_eq!(listening.next().await.unwrap(), Some(Changed::Tools));
        }
        assert_eq!(listening.ended(), end, "{replies:?}");
        assert_eq!(site.of("subscriptions/listen").len(), requests, "{replies:?}");
        assert_eq!(success(connection.call_tool("t", &json!({"text": "on"})).await), "on");
        connection.close().await.unwrap();
    }
}
