//! Streams that end before the answer came, and go on.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mcp_adapter::Server;
use mcp_adapter::proto::{CallError, Progress};
use mcp_adapter_tests::{rows, server, success, tool};
use mcp_http_client_tests::{OverHttp, Proxy, Request, Served, Site, legacy, said};
use serde_json::{Value, json};

use crate::{failed, legacy_client};

rows! {
    a_call_whose_stream_is_cut_off_goes_on_where_it_was_and_ends_once_http_17_sse_16,
    a_call_whose_stream_ends_well_goes_on_as_well_sse_20,
    a_stream_that_cannot_be_resumed_ends_its_call_and_no_other_http_28,
    wherever_a_connection_is_cut_off_each_call_is_made_once_and_answered_at_most_once,
}

const RETRY: u64 = 150;

/// A server whose streams end before the answer; it comes with a GET.
fn ending(end: fn(&mut mcp_http_client_tests::Answer<'_>)) -> (Site, Arc<Mutex<Option<Instant>>>) {
    let ended = Arc::new(Mutex::new(None));
    let when = Arc::clone(&ended);
    let asked: Mutex<Option<Request>> = Mutex::default();
    let site = Site::new(move |request, answer| match request.what() {
        "tools/call" => {
            *asked.lock().unwrap() = Some(request.clone());
            answer.events().resumable("e-1", RETRY);
            *when.lock().unwrap() = Some(Instant::now());
            end(answer);
        }
        "GET" if request.field("last-event-id").is_some() => {
            let asked = asked.lock().unwrap().clone().unwrap();
            let word = said(&asked, asked.text());
            answer.events().event_with_id("e-2", &word).event_with_id("e-3", &word).end();
        }
        _ => legacy(request, answer),
    });
    (site, ended)
}

async fn goes_on<R: OverHttp>(end: fn(&mut mcp_http_client_tests::Answer<'_>)) {
    let (site, ended) = ending(end);
    let connection = R::connect_http(legacy_client(), site.remote()).await.unwrap();
    let outcome = connection.call_tool("echo", &json!({"text": "on"})).await;
    assert_eq!(success(outcome), "on");
    let waited = ended.lock().unwrap().unwrap().elapsed();
    assert!(waited >= Duration::from_millis(RETRY), "{waited:?}");
    assert_eq!(site.of("tools/call").len(), 1);
    let resumed: Vec<_> =
        site.of("GET").into_iter().filter(|get| get.field("last-event-id").is_some()).collect();
    assert_eq!(resumed.len(), 1);
    assert_eq!(resumed[0].field("last-event-id"), Some("e-1"));
    assert_eq!(
        resumed[0].field("mcp-session-id"),
        site.of("tools/call")[0].field("mcp-session-id")
    );
    connection.closes().await.unwrap();
}

async fn a_call_whose_stream_is_cut_off_goes_on_where_it_was_and_ends_once_http_17_sse_16<
    R: OverHttp,
>() {
    goes_on::<R>(|answer| answer.cut()).await;
}

async fn a_call_whose_stream_ends_well_goes_on_as_well_sse_20<R: OverHttp>() {
    goes_on::<R>(|answer| answer.end()).await;
}

async fn a_stream_that_cannot_be_resumed_ends_its_call_and_no_other_http_28<R: OverHttp>() {
    let site = Site::new(|request, answer| match request.text() {
        "cut" => {
            answer.events();
            answer.cut();
        }
        _ => legacy(request, answer),
    });
    let connection = R::connect_http(legacy_client(), site.remote()).await.unwrap();
    let cut = connection.call_tool("echo", &json!({"text": "cut"})).await;
    assert_eq!(failed(cut), CallError::Lost);
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
    assert_eq!(site.of("tools/call").len(), 2);
    assert_eq!(site.of("initialize").len(), 1);
}

/// A server that counts how often it works.
fn working() -> (Server, Arc<AtomicUsize>) {
    let worked = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&worked);
    let server = server().tool_with(tool("work"), move |said: Value, cx| {
        counts.fetch_add(1, Ordering::SeqCst);
        cx.progress(Progress::new(1.0))?;
        cx.progress(Progress::new(2.0))?;
        Ok(said["text"].as_str().unwrap_or_default().to_owned())
    });
    (server, worked)
}

/// So many are cut off at a time, each after other bytes: all that they do is wait.
const LANES: usize = 8;

/// A cut comes after so many bytes at most, and in these steps.
const LAST: usize = 1200;
const STEP: usize = 29;

async fn wherever_a_connection_is_cut_off_each_call_is_made_once_and_answered_at_most_once<
    R: OverHttp,
>() {
    let answered: usize = thread::scope(|scope| {
        let cut = |lane: usize| (1 + lane * STEP..LAST).step_by(LANES * STEP);
        let lanes: Vec<_> = (0..LANES)
            .map(|lane| scope.spawn(move || R::block_on(cut_off::<R>(cut(lane)))))
            .collect();
        lanes.into_iter().map(|lane| lane.join().unwrap()).sum()
    });
    assert!(answered * 2 > LAST / STEP, "{answered} were answered");
}

/// Cuts connections off after so many bytes each; how many of the calls on them were answered.
async fn cut_off<R: OverHttp>(cuts: impl Iterator<Item = usize>) -> usize {
    let (server, worked) = working();
    let served = Served::new(server);
    let (mut made, mut answered) = (0, 0);
    for bytes in cuts {
        let proxy = Proxy::new(served.address());
        let remote = proxy
            .remote()
            .reconnect(Duration::from_millis(50), Duration::from_millis(100))
            .without_stream();
        let connection = R::connect_http(legacy_client(), remote).await.unwrap();
        proxy.cut_after(bytes);
        let text = format!("after {bytes}");
        let mut progress = 0.0;
        let call = connection.call_tool("work", &json!({"text": text}));
        let outcome = call.progress(|news| progress = news.progress).await;
        made += 1;
        match outcome {
            Ok(result) => {
                answered += 1;
                assert_eq!(success(Ok(result)), text);
            }
            // Nothing to resume after had come.
            Err(error) => assert_eq!(failed::<()>(Err(error)), CallError::Lost),
        }
        assert_eq!(worked.load(Ordering::SeqCst), made, "after {bytes}");
        assert!(proxy.cuts() <= 1);
        let again = connection.call_tool("work", &json!({"text": "again"})).await;
        made += 1;
        // What was not cut off by now, may be now.
        if proxy.cuts() == 1 && again.is_err() {
            continue;
        }
        assert_eq!(success(again), "again");
    }
    answered
}
