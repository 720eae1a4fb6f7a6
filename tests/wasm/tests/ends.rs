//! Connections that one side abandons, gives up or closes.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::cell::RefCell;
use std::future::{Future, pending, poll_fn, ready};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;

use mcp_wasm::http::{FetchReply, WebBody, WebFetch, WebReply, WebRequest, WebService, connect};
use mcp_wasm::proto::http::client::{ExchangeFailure, HttpRequest};
use mcp_wasm::proto::{CallError, CloseReason, Limits};
use mcp_wasm::{Client, Error, LocalBoxFuture, Platform, Server, StdPlatform, memory};
use mcp_wasm_tests::shop::{json, shop};
use mcp_wasm_tests::world::{Outcome, Route, World};

/// Runs a test on one thread, for at most 20 s.
fn within<F: Future<Output = Outcome> + 'static>(test: impl FnOnce(Rc<dyn Platform>) -> F) {
    let std_platform = StdPlatform::new();
    let platform: Rc<dyn Platform> = Rc::new(std_platform.clone());
    let revision = mcp_wasm::proto::Revision::V2025_11_25;
    let world = World { platform: Rc::clone(&platform), route: Route::Memory, revision };
    std_platform.block_on(world.run(Box::pin(test(platform)))).unwrap();
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

/// Posts a message of a legacy client, in a session if it has one.
async fn post(service: &WebService, session: Option<&str>, message: &str) -> WebReply {
    let mut headers: Vec<(String, String)> = [
        ("host", "localhost"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .into();
    headers.extend(session.map(|session| ("mcp-session-id".into(), session.into())));
    let request = WebRequest { method: "POST".into(), headers };
    service.handle(&request, ready(Some(message.as_bytes().to_vec()))).await
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":
    {"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#;

/// Opens a session, if there is room; returns the status and its id.
async fn open(service: &WebService) -> (u16, Option<String>) {
    let reply = post(service, None, INITIALIZE).await;
    let session = reply.headers.iter().find(|(name, _)| *name == "mcp-session-id");
    let session = session.map(|(_, id)| id.clone());
    // The client has read all of it.
    if let WebBody::Events(mut events) = reply.body {
        while events.next().await.is_some() {}
    }
    if let Some(session) = &session {
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(post(service, Some(session), initialized).await.status, 202);
    }
    (reply.status, session)
}

#[test]
fn an_abandoned_session_makes_room_for_a_new_one() {
    within(|platform| async move {
        let hour = std::time::Duration::from_secs(60 * 60);
        let service = WebService::new(&shop(), &platform).unwrap().sessions(1, hour);
        let first = open(&service).await.1.unwrap();
        let wait = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":
            {"name":"wait","arguments":{}}}"#;
        {
            let mut waiting = pin!(post(&service, Some(&first), wait));
            let _in_flight = once(waiting.as_mut()).await;
            assert_eq!(open(&service).await, (503, None), "the session is in use");
        }
        // The client is gone without ending its session, and its call never ends.
        let (status, second) = open(&service).await;
        assert_eq!(status, 200);
        let list = r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#;
        assert_eq!(post(&service, Some(&first), list).await.status, 404);
        assert_eq!(post(&service, second.as_deref(), list).await.status, 200);
        Ok(())
    });
}

#[test]
fn a_policy_that_matches_nothing_is_refused() {
    within(|platform| async move {
        let service = WebService::new(&shop(), &platform).unwrap();
        assert!(service.clone().policy(|policy| policy.host("mcp.example.com")).is_ok());
        for host in ["https://mcp.example.com", "*", ""] {
            let refused = service.clone().policy(|policy| policy.host(host)).unwrap_err();
            assert!(refused.to_string().contains("any_host"), "{refused}");
        }
        Ok(())
    });
}

/// A network that sends requests and never receives a response.
struct Silent(Rc<RefCell<u32>>);

impl WebFetch for Silent {
    fn fetch(
        &self,
        _: HttpRequest,
    ) -> LocalBoxFuture<'static, Result<FetchReply, ExchangeFailure>> {
        *self.0.borrow_mut() += 1;
        Box::pin(pending())
    }
}

#[test]
fn connecting_over_http_ends_when_it_is_given_up() {
    within(|platform| async move {
        let requests = Rc::<RefCell<u32>>::default();
        let fetch: Rc<dyn WebFetch> = Rc::new(Silent(Rc::clone(&requests)));
        {
            let mut connecting = pin!(connect(Client::new("a", "1"), Rc::clone(&fetch), &platform));
            assert!(once(connecting.as_mut()).await.is_pending());
            until(|| *requests.borrow() > 0).await;
        }
        // The task of the connection, and with it its requests.
        until(|| Rc::strong_count(&fetch) == 1).await;
        Ok(())
    });
}

#[test]
fn connecting_in_memory_ends_when_it_is_given_up() {
    within(|platform| async move {
        let held = Rc::new(());
        let in_handler = Rc::clone(&held);
        let object = json(r#"{"type":"object"}"#);
        let server = Server::new("a", "1").tool_raw("hold", "Holds", object, move |_it, _cx| {
            let _held = &in_handler;
            Ok("held")
        });
        {
            let connecting = pin!(memory::connect(&server, Client::new("a", "1"), &platform));
            assert!(once(connecting).await.is_pending());
        }
        drop(server);
        until(|| Rc::strong_count(&held) == 1).await;
        Ok(())
    });
}

#[test]
fn a_client_in_memory_learns_that_its_server_has_closed() {
    within(|platform| async move {
        let limits =
            Limits { message_bytes_max: 4 << 10, violations_max: Some(0), ..Limits::default() };
        let server = shop().limits(limits);
        let connection = memory::connect(&server, Client::new("a", "1"), &platform).await.unwrap();
        // The server ends connections with messages that are too long.
        let text = "x".repeat(8 << 10);
        let call = connection.call_tool_raw("echo", json(&format!(r#"{{"text":"{text}"}}"#)));
        let failed = call.await.unwrap_err();
        assert!(matches!(failed, Error::Call(CallError::Lost)), "{failed}");
        assert_eq!(connection.closed().await, CloseReason::Peer);
        Ok(())
    });
}
