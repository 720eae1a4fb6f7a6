//! Lost sessions and streams: how they are recovered, and when that ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_adapter::http::Remote;
use mcp_adapter::proto::{CallError, CloseReason, Era, Fault, Filter};
use mcp_adapter::{Changed, Client, Connection, ConnectionState, Error, Recovery};
use mcp_adapter_tests::{eventually, rows, shop, success, timer};
use mcp_http_client_tests::{OverHttp, Proxy, Served, Site, legacy};
use serde_json::json;

use crate::{failed, legacy_client, modern_client};

rows! {
    a_server_that_restarts_continues_calls_and_subscriptions,
    a_session_that_cannot_be_replaced_at_once_is_recovered_later_t_72,
    a_server_that_stays_away_is_given_up,
    a_modern_subscription_continues_after_its_stream_was_cut_stl_37,
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
        let served = Served::new(shop());
        let address = served.address();
        let remote = reconnecting(served.remote());
        let connection = R::connect_http(client.recovery(quick()), remote).await.unwrap();
        let filter = Filter::new().resource("note://one");
        let mut listening = connection.subscribe(&filter).await.unwrap();
        call_until_it_succeeds(&connection).await;
        smol::unblock(move || drop(served)).await;
        let mut server = shop();
        let changes = server.changes();
        let served = Served::again(address, server);
        call_until_it_succeeds(&connection).await;
        if connection.era() == Era::Modern {
            // STL-36: a server that stops ends the subscription by a result.
            assert_eq!((listening.next().await.unwrap(), listening.ended()), (None, Some(Ok(()))));
            listening = connection.subscribe(&filter).await.unwrap();
        } else {
            // Changes may have been missed.
            assert_eq!(listening.next().await.unwrap(), Some(note()));
        }
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

async fn a_session_that_cannot_be_replaced_at_once_is_recovered_later_t_72<R: OverHttp>() {
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
    let mut server = shop();
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
