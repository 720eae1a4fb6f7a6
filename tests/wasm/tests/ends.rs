//! Connections that one side gives up or closes.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;

use bytes::Bytes;
use http::{Request, Response};
use mcp_wasm::http::{HttpSend, ReceivedBody, Remote, SendError};
use mcp_wasm::proto::{CloseReason, Limits, Revision};
use mcp_wasm::{BoxFuture, Client, Server, block_on, testing};
use mcp_wasm_tests::shop::{json, shop};
use mcp_wasm_tests::world::{Outcome, Route, World};

/// Runs a test on one thread, for at most 20 s.
fn within(test: impl Future<Output = Outcome> + 'static) {
    let world = World { route: Route::Memory, revision: Revision::V2025_11_25 };
    block_on(world.run(Box::pin(test))).unwrap();
}

/// Lets the other tasks run until `is_done`.
async fn until(is_done: impl Fn() -> bool) {
    poll_fn(|cx| {
        if is_done() {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Polls a future once.
async fn once<F: Future + ?Sized>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}

/// A network that sends requests and never receives a response.
struct Silent(Arc<AtomicU32>);

impl HttpSend for Silent {
    fn send(&self, _: Request<Bytes>) -> BoxFuture<'_, Result<Response<ReceivedBody>, SendError>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(pending())
    }
}

#[test]
fn connecting_over_http_ends_when_it_is_given_up() {
    within(async {
        let requests = Arc::new(AtomicU32::new(0));
        let silent = Silent(Arc::clone(&requests));
        let remote = Remote::with_client("http://localhost/mcp", silent).unwrap();
        {
            let mut connecting = pin!(Client::new("a", "1").connect_http(remote));
            assert!(once(connecting.as_mut()).await.is_pending());
            until(|| requests.load(Ordering::Relaxed) > 0).await;
        }
        // The task of the connection, and with it its requests.
        until(|| Arc::strong_count(&requests) == 1).await;
        Ok(())
    });
}

#[test]
fn connecting_in_memory_ends_when_it_is_given_up() {
    within(async {
        let held = Arc::new(());
        let in_handler = Arc::clone(&held);
        let server = Server::new("a", "1").tool("hold", "Holds", move || {
            let _held = &in_handler;
            "held"
        });
        {
            let connecting = pin!(testing::connect(&server, Client::new("a", "1")));
            assert!(once(connecting).await.is_pending());
        }
        drop(server);
        until(|| Arc::strong_count(&held) == 1).await;
        Ok(())
    });
}

#[test]
fn a_client_in_memory_learns_that_its_server_has_closed() {
    within(async {
        let limits =
            Limits { message_bytes_max: 4 << 10, violations_max: Some(0), ..Limits::default() };
        let server = shop().limits(limits);
        let connection = testing::connect(&server, Client::new("a", "1")).await.unwrap();
        // The server ends connections with messages that are too long.
        let text = "x".repeat(8 << 10);
        let call = json(&format!(r#"{{"name":"echo","arguments":{{"text":"{text}"}}}}"#));
        assert!(connection.call_raw("tools/call", call).await.is_err());
        connection.wait_ended().await.unwrap();
        assert_eq!(connection.close_reason(), Some(CloseReason::Peer));
        Ok(())
    });
}

#[test]
fn nothing_blocks_the_thread_of_a_handler() {
    within(async {
        let server = Server::new("a", "1").tool("wait", "Waits", |cx: mcp_wasm::Cx| {
            cx.sleep(std::time::Duration::from_secs(3600)).wait()
        });
        let connection = testing::connect(&server, Client::new("a", "1")).await.unwrap();
        let waited = connection.call_tool("wait", &json("{}")).await.unwrap();
        assert_eq!(waited.content[0].as_text(), Some("false"));
        Ok(())
    });
}
