//! Callbacks of clients over HTTP, which may block, make calls and end their connection.

use std::future::Ready;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_adapter::Connection;
use mcp_adapter::proto::Revision;
use mcp_adapter::proto::schema::Level;
use mcp_adapter_tests::{client, full_server, rows, success};
use mcp_http_client_tests::{OverHttp, Served, Site, modern};
use serde_json::json;
use smol::channel::unbounded;
use smol::future::block_on;

use crate::modern_client;

rows! {
    an_authorization_that_blocks_delays_no_other_call,
    concurrent_requests_share_an_asynchronous_authorization,
    an_asynchronous_authorization_that_fails_names_no_token,
    a_callback_about_a_challenge_may_wait_for_a_call,
    a_callback_about_a_notification_may_call_and_drop_the_last_handle,
}

async fn echoes(connection: &Connection) {
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
}

async fn an_authorization_that_blocks_delays_no_other_call<R: OverHttp>() {
    let site = Site::new(modern);
    let (says, begun) = unbounded();
    let (release, released) = channel::<()>();
    let (is_slow, released) = (Arc::new(AtomicBool::new(false)), Mutex::new(released));
    let blocks = Arc::clone(&is_slow);
    let remote = site.remote().authorization(move || {
        if blocks.load(Ordering::SeqCst) {
            says.try_send(()).unwrap();
            let _is_released = released.lock().unwrap().recv();
        }
        Some("Bearer good".into())
    });
    let slow = R::connect_http(modern_client(), remote).await.unwrap();
    let other = R::connect_http(modern_client(), site.remote()).await.unwrap();
    is_slow.store(true, Ordering::SeqCst);
    let pending = slow.call_tool("echo", &json!({"text": "late"})).start().await.unwrap();
    begun.recv().await.unwrap();
    echoes(&other).await;
    drop(release);
    assert_eq!(success(pending.await), "late");
}

async fn concurrent_requests_share_an_asynchronous_authorization<R: OverHttp>() {
    let site = Site::new(|request, answer| match request.field("authorization") {
        Some("Bearer fresh") => modern(request, answer),
        other => panic!("not authorized: {other:?}"),
    });
    let fetches = Arc::new(AtomicUsize::new(0));
    let (says, begun) = unbounded();
    let (release, released) = unbounded::<()>();
    let counted = Arc::clone(&fetches);
    let is_running = Arc::new(AtomicBool::new(false));
    let remote = site.remote().authorization_async(move || {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        let (says, released) = (says.clone(), released.clone());
        let is_running = Arc::clone(&is_running);
        async move {
            assert!(!is_running.swap(true, Ordering::SeqCst), "two run at a time");
            // The first request opens the connection.
            if number == 1 {
                says.send(()).await.unwrap();
                let _is_released = released.recv().await;
            }
            is_running.store(false, Ordering::SeqCst);
            Some("Bearer fresh".into())
        }
    });
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    let echo = |text: &str| connection.call_tool("echo", &json!({"text": text})).start();
    let first = echo("one").await.unwrap();
    begun.recv().await.unwrap();
    let second = echo("two").await.unwrap();
    drop(release);
    assert_eq!(success(first.await), "one");
    assert_eq!(success(second.await), "two");
    assert!(fetches.load(Ordering::SeqCst) >= 2);
}

async fn an_asynchronous_authorization_that_fails_names_no_token<R: OverHttp>() {
    let site = Site::new(modern);
    let invalid = site.remote().authorization_async(|| async { Some("se\ncret".into()) });
    let late = site
        .remote()
        .authorization_timeout(Duration::from_millis(20))
        .authorization_async(std::future::pending);
    let panics = site.remote().authorization_async(|| async { panic!("secret") });
    let panics_immediately = site.remote().authorization_async(|| -> Ready<_> { panic!("secret") });
    for (remote, why) in [
        (invalid, "invalid header"),
        (late, "authorization_timeout"),
        (panics, "panicked"),
        (panics_immediately, "panicked"),
    ] {
        assert!(!format!("{remote:?}").contains("cret"));
        let failed = R::connect_http(modern_client(), remote).await.map(drop).unwrap_err();
        let failed = format!("{failed} {failed:?}");
        assert!(failed.contains(why) && !failed.contains("cret"), "{failed}");
    }
}

async fn a_callback_about_a_challenge_may_wait_for_a_call<R: OverHttp>() {
    let site = Site::new(|request, answer| match request.text() {
        "401" => answer.status(401, &[("www-authenticate", "Basic")], ""),
        _ => modern(request, answer),
    });
    let handle: Arc<Mutex<Option<Connection>>> = Arc::default();
    let (calling, (says, heard)) = (Arc::clone(&handle), unbounded());
    let remote = site.remote().on_challenge(move |_| {
        let connection = calling.lock().unwrap().take().unwrap();
        block_on(echoes(&connection));
        says.try_send(()).unwrap();
    });
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    *handle.lock().unwrap() = Some(connection.clone());
    connection.call_tool("echo", &json!({"text": "401"})).await.unwrap_err();
    heard.recv().await.unwrap();
}

async fn a_callback_about_a_notification_may_call_and_drop_the_last_handle<R: OverHttp>() {
    let served = Served::new(full_server());
    let handle: Arc<Mutex<Option<Connection>>> = Arc::default();
    let (ending, (says, heard)) = (Arc::clone(&handle), unbounded());
    let client = client().revisions(&Revision::LEGACY).on_notification(move |_, _, _| {
        let taken = ending.lock().unwrap().take();
        if let Some(connection) = taken {
            block_on(echoes(&connection));
            drop(connection);
            says.try_send(()).unwrap();
        }
    });
    let connection = R::connect_http(client, served.remote()).await.unwrap();
    connection.set_log_level(Level::Debug).await.unwrap();
    let logging = connection.call_tool("log", &json!({"times": 1})).start().await.unwrap();
    *handle.lock().unwrap() = Some(connection);
    let _result_or_lost = logging.await;
    let taken = handle.lock().unwrap().take();
    // Otherwise, the notification came before the handle was stored.
    if taken.is_none() {
        heard.recv().await.unwrap();
    }
}
