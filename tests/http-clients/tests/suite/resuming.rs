//! Streams that end before the response, and continue.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mcp_adapter::proto::{CallError, Progress};
use mcp_adapter::{Cx, Server, Tool};
use mcp_adapter_tests::{rows, server, success, tool};
use mcp_http_client_tests::{OverHttp, Proxy, Request, Served, Site, legacy, said};
use serde_json::{Value, json};

use crate::{failed, legacy_client};

rows! {
    a_cut_stream_is_resumed_and_the_call_ends_once_http_17_sse_16,
    a_stream_that_ends_early_is_resumed_sse_20,
    a_stream_that_cannot_be_resumed_ends_its_call_and_no_other_http_28,
    a_cut_at_any_byte_never_repeats_a_call,
}

const RETRY: u64 = 150;

/// Starts a server whose streams end before the response, which arrives on a GET.
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

async fn resumes<R: OverHttp>(end: fn(&mut mcp_http_client_tests::Answer<'_>)) {
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
    connection.close().await.unwrap();
}

async fn a_cut_stream_is_resumed_and_the_call_ends_once_http_17_sse_16<R: OverHttp>() {
    resumes::<R>(|answer| answer.cut()).await;
}

async fn a_stream_that_ends_early_is_resumed_sse_20<R: OverHttp>() {
    resumes::<R>(|answer| answer.end()).await;
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

/// Builds a server that counts its calls.
fn working() -> (Server, Arc<AtomicUsize>) {
    let worked = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&worked);
    let server = server().add(Tool::define(tool("work"), move |said: Value, cx: Cx| {
        counts.fetch_add(1, Ordering::SeqCst);
        cx.progress(Progress::new(1.0))?;
        cx.progress(Progress::new(2.0))?;
        Ok(said["text"].as_str().unwrap_or_default().to_owned())
    }));
    (server, worked)
}

/// The number of connections cut concurrently; each at another byte.
const LANES: usize = 8;

/// The latest byte to cut at, and the step between cuts.
const LAST: usize = 1200;
const STEP: usize = 29;

async fn a_cut_at_any_byte_never_repeats_a_call<R: OverHttp>() {
    let answered: usize = thread::scope(|scope| {
        let cut = |lane: usize| (1 + lane * STEP..LAST).step_by(LANES * STEP);
        let lanes: Vec<_> = (0..LANES)
            .map(|lane| scope.spawn(move || R::block_on(cut_off::<R>(cut(lane)))))
            .collect();
        lanes.into_iter().map(|lane| lane.join().unwrap()).sum()
    });
    assert!(answered * 2 > LAST / STEP, "{answered} were answered");
}

/// Cuts connections after the given numbers of bytes; returns how many calls on them succeeded.
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
        let outcome = call.progress(|update| progress = update.progress).await;
        made += 1;
        match outcome {
            Ok(result) => {
                answered += 1;
                assert_eq!(success(Ok(result)), text);
            }
            // The cut came before an event id to resume from.
            Err(error) => assert_eq!(failed::<()>(Err(error)), CallError::Lost),
        }
        assert_eq!(worked.load(Ordering::SeqCst), made, "after {bytes}");
        assert!(proxy.cuts() <= 1);
        let again = connection.call_tool("work", &json!({"text": "again"})).await;
        made += 1;
        // Connections not cut yet may be cut now.
        if proxy.cuts() == 1 && again.is_err() {
            continue;
        }
        assert_eq!(success(again), "again");
    }
    answered
}
