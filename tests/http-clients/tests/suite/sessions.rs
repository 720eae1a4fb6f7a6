//! Sessions: how they are assigned, forgotten, reopened and ended.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_adapter::http::Http;
use mcp_adapter::proto::{CallError, CloseReason, Fault, Filter, Revision};
use mcp_adapter::{Changed, Error};
use mcp_adapter_tests::{client, eventually, full_server, rows, success, timer};
use mcp_http_client_tests::{Answer, OverHttp, Request, SESSION, Served, Site, legacy, result};
use serde_json::json;
use smol::future::or;

use crate::{SOON, failed, legacy_client, lossy_client, quick};

rows! {
    a_forgotten_session_fails_open_calls_and_reopens_once_http_34_t_71,
    lists_continue_in_the_next_session_http_34,
    a_refused_new_session_is_fatal_t_72,
    a_server_that_forgets_every_session_is_fatal_t_72,
    subscriptions_continue_in_the_next_session,
    closing_deletes_the_session_http_35,
    the_delete_is_the_last_request_http_35,
    without_a_session_id_nothing_is_deleted_t_80,
    an_unanswered_delete_delays_nothing,
    a_server_without_sessions_serves_clients_of_every_revision,
}

/// Scripts a legacy server that forgets its first session on command.
fn forgetful(
    then: impl Fn(&Request, &mut Answer<'_>) + Send + Sync + 'static,
) -> (Site, Arc<AtomicBool>) {
    let forgets = Arc::new(AtomicBool::new(false));
    let has_forgotten = Arc::clone(&forgets);
    let first = Mutex::new(None);
    let site = Site::new(move |request, answer| {
        let mut first = first.lock().unwrap();
        let id = request.field(SESSION).map(str::to_owned);
        if first.is_none() {
            first.clone_from(&id);
        }
        let is_first = id.is_some() && *first == id;
        drop(first);
        if is_first && has_forgotten.load(Ordering::SeqCst) {
            answer.status(404, &[], "");
        } else {
            then(request, answer);
        }
    });
    (site, forgets)
}

fn hanging(request: &Request, answer: &mut Answer<'_>) {
    if request.text() == "hang" {
        answer.sees_the_client_leave(SOON);
    } else {
        legacy(request, answer);
    }
}

async fn a_forgotten_session_fails_open_calls_and_reopens_once_http_34_t_71<R: OverHttp>() {
    let (site, forgets) = forgetful(hanging);
    let connection = R::connect_http(legacy_client(), site.remote()).await.unwrap();
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(connection.call_tool("echo", &json!({"text": "hang"})).start().await.unwrap());
    }
    eventually("they hang", || site.of("tools/call").len() == 3).await;
    forgets.store(true, Ordering::SeqCst);
    let mut late = Vec::new();
    for _ in 0..3 {
        late.push(
            connection.call_tool("echo", &json!({"text": "too late"})).start().await.unwrap(),
        );
    }
    for pending in open {
        assert_eq!(failed(pending.await), CallError::Lost);
    }
    for pending in late {
        // A call made after the session ended waits for the next one.
        let outcome = pending.await;
        let (lost, ended) = (CallError::Lost, CallError::SessionEnded);
        let is_known =
            |error: &Error| matches!(error, Error::Call(why) if *why == lost || *why == ended);
        assert!(outcome.as_ref().map_or_else(is_known, |_| true), "{outcome:?}");
    }
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "second"})).await), "second");
    assert_eq!(site.of("initialize").len(), 2);
    assert_eq!(site.of("initialize")[1].field(SESSION), None);
    let texts: Vec<_> = site.of("tools/call").iter().map(|call| call.text().to_owned()).collect();
    assert_eq!(texts.iter().filter(|text| *text == "hang").count(), 3, "{texts:?}");
    assert!(texts.iter().filter(|text| *text == "too late").count() <= 3, "{texts:?}");
    assert_eq!(texts.last().unwrap(), "second");
    let names: Vec<_> =
        site.of("tools/call").iter().map(|call| call.field(SESSION).unwrap().to_owned()).collect();
    assert_ne!(names.first(), names.last());
    connection.close().await.unwrap();
    assert_eq!(site.of("DELETE")[0].field(SESSION), names.last().map(|name| &**name));
}

async fn lists_continue_in_the_next_session_http_34<R: OverHttp>() {
    let (site, forgets) = forgetful(legacy);
    let connection = R::connect_http(legacy_client(), site.remote()).await.unwrap();
    connection.list_tools().await.unwrap();
    forgets.store(true, Ordering::SeqCst);
    connection.list_tools().await.unwrap();
    connection.ping().await.unwrap();
    assert_eq!((site.of("initialize").len(), site.of("tools/list").len()), (2, 3));
}

async fn a_refused_new_session_is_fatal_t_72<R: OverHttp>() {
    let gone = Arc::new(AtomicBool::new(false));
    let is_gone = Arc::clone(&gone);
    let site = Site::new(move |request, answer| match is_gone.load(Ordering::SeqCst) {
        true => answer.status(404, &[], ""),
        false => legacy(request, answer),
    });
    let connection = R::connect_http(lossy_client(), site.remote()).await.unwrap();
    gone.store(true, Ordering::SeqCst);
    let ended = failed(connection.call_tool("echo", &json!({})).await);
    assert_eq!(ended, CallError::SessionEnded);
    assert!(!ended.to_string().contains("may have acted"), "{ended}");
    connection.wait_ended().await.unwrap();
    let why = CloseReason::Fault(Fault::Unreachable(CallError::Http { status: 404, reason: None }));
    assert_eq!(connection.close_reason(), Some(why));
    assert_eq!(site.of("initialize").len(), 2);
    connection.call_tool("echo", &json!({})).await.unwrap_err();
}

async fn a_server_that_forgets_every_session_is_fatal_t_72<R: OverHttp>() {
    let site = Site::new(|request, answer| match request.what() {
        "tools/call" => answer.status(404, &[], ""),
        _ => legacy(request, answer),
    });
    let connection = R::connect_http(lossy_client(), site.remote()).await.unwrap();
    let mut calls = 0;
    while connection.close_reason().is_none() {
        let outcome = connection.call_tool("echo", &json!({})).await;
        assert!(
            matches!(outcome, Err(Error::Call(CallError::SessionEnded) | Error::Misuse(_))),
            "{outcome:?}"
        );
        calls += 1;
        assert!(calls < 10);
    }
    assert_eq!(connection.close_reason(), Some(CloseReason::Fault(Fault::SessionLost)));
}

async fn subscriptions_continue_in_the_next_session<R: OverHttp>() {
    let (tell, told) = channel();
    let told = Mutex::new(told);
    let gets = AtomicUsize::new(0);
    let (site, forgets) = forgetful(move |request, answer| match request.what() {
        "GET" if gets.fetch_add(1, Ordering::SeqCst) > 0 => {
            let changed = json!({
                "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "note://one"},
            });
            answer.events();
            while told.lock().unwrap().recv().is_ok() {
                answer.event(&changed);
            }
            answer.cut();
        }
        _ => legacy(request, answer),
    });
    let connection = R::connect_http(legacy_client(), site.remote()).await.unwrap();
    let filter = Filter::new().resource("note://one");
    let mut listening = connection.subscribe(&filter).await.unwrap();
    eventually("the first stream is refused", || site.of("GET").len() == 1).await;
    forgets.store(true, Ordering::SeqCst);
    let ended = failed(connection.call_tool("echo", &json!({})).await);
    assert_eq!(ended, CallError::SessionEnded);
    assert!(!ended.to_string().contains("may have acted"), "{ended}");
    eventually("it is asked for again", || site.of("resources/subscribe").len() == 2).await;
    let [first, second] = &site.of("resources/subscribe")[..] else { panic!() };
    assert_ne!(first.field(SESSION), second.field(SESSION));
    // No change arrives before the server has confirmed the subscription.
    let tells = async {
        loop {
            tell.send(()).unwrap();
            timer(Duration::from_millis(5)).await;
        }
    };
    let change = or(listening.next(), tells).await.unwrap();
    assert_eq!(change, Some(Changed::Resource("note://one".into())));
    assert_eq!((listening.ended(), listening.acknowledged()), (None, filter));
    drop(listening);
    eventually("the subscription ends", || site.of("resources/unsubscribe").len() == 1).await;
    drop(tell);
}

async fn closing_deletes_the_session_http_35<R: OverHttp>() {
    for drops in [false, true] {
        let site = Site::new(legacy);
        let connection = R::connect_http(legacy_client(), site.remote()).await.unwrap();
        success(connection.call_tool("echo", &json!({})).await);
        if drops {
            drop(connection);
        } else {
            connection.close().await.unwrap();
        }
        eventually("the session is deleted", || site.of("DELETE").len() == 1).await;
        assert_eq!(site.of("DELETE")[0].field(SESSION), site.of("tools/call")[0].field(SESSION));
        eventually("no connection is left", || site.open() == 0).await;
    }
}

async fn the_delete_is_the_last_request_http_35<R: OverHttp>() {
    let site = Site::new(hanging);
    let connection = R::connect_http(legacy_client(), site.remote()).await.unwrap();
    let open = connection.call_tool("echo", &json!({"text": "hang"})).start().await.unwrap();
    eventually("it hangs", || site.of("tools/call").len() == 1).await;
    drop(open);
    connection.close().await.unwrap();
    let words = site.words();
    assert_eq!(words.last().unwrap(), "DELETE", "{words:?}");
    assert_eq!(words[words.len() - 2], "notifications/cancelled", "{words:?}");
    eventually("no connection is left", || site.open() == 0).await;
}

async fn without_a_session_id_nothing_is_deleted_t_80<R: OverHttp>() {
    let forgets = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&forgets);
    let site = Site::new(move |request, answer| match request.what() {
        "initialize" => {
            let welcome = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "played", "version": "1"}});
            answer.json(&[], &result(request, &welcome));
        }
        "tools/call" if counts.fetch_add(1, Ordering::SeqCst) == 1 => answer.status(404, &[], ""),
        _ => legacy(request, answer),
    });
    let connection = R::connect_http(legacy_client(), site.remote()).await.unwrap();
    success(connection.call_tool("echo", &json!({})).await);
    assert_eq!(
        failed(connection.call_tool("echo", &json!({})).await),
        CallError::Http { status: 404, reason: None }
    );
    success(connection.call_tool("echo", &json!({})).await);
    connection.close().await.unwrap();
    assert!(site.heard().iter().all(|request| request.field(SESSION).is_none()));
    assert_eq!((site.of("DELETE").len(), site.of("initialize").len()), (0, 1));
}

async fn an_unanswered_delete_delays_nothing<R: OverHttp>() {
    let site = Site::new(|request, answer| match request.what() {
        "DELETE" => {
            answer.sees_the_client_leave(SOON);
        }
        _ => legacy(request, answer),
    });
    let connection = R::connect_http(legacy_client().limits(quick()), site.remote()).await.unwrap();
    let began = Instant::now();
    connection.close().await.unwrap();
    assert!(began.elapsed() < SOON / 2, "{:?}", began.elapsed());
    eventually("no connection is left", || site.open() == 0).await;
}

async fn a_server_without_sessions_serves_clients_of_every_revision<R: OverHttp>() {
    let served = Served::with(full_server(), Http::new().without_sessions());
    for revision in Revision::ALL {
        let client = client().revisions(&[revision]);
        let connection = R::connect_http(client, served.remote()).await.unwrap();
        assert_eq!(connection.revision(), revision);
        let echo = connection.call_tool("echo", &json!({"text": "hello"}));
        assert_eq!(success(echo.await), "hello");
        connection.close().await.unwrap();
    }
}
