//! Calls cancelled by dropping, by losing a race and by a timeout, and what happens to their
//! handlers.

use std::future::pending;
use std::time::Duration;

use mcp_adapter::proto::CallError;
use mcp_adapter::{Cx, Error, Server, Tool};
use mcp_adapter_tests::{
    Hand, Runtime, call_by_hand, client, connect_by_hand, full_server, pair, rows, serve_by_hand,
    server, success, tool,
};
use serde_json::json;
use smol::channel::{Receiver, Sender, unbounded};
use smol::future::or;

rows! {
    a_dropped_call_is_cancelled_on_the_wire,
    a_call_that_loses_a_race_is_cancelled_on_the_wire,
    an_unsent_call_is_not_cancelled,
    a_call_that_takes_too_long_times_out_and_is_cancelled,
    a_cancelled_async_handler_is_dropped,
    a_cancelled_plain_handler_is_notified,
    handlers_end_with_their_connection,
    a_handler_that_sleeps_in_a_loop_ends_with_its_connection,
}

/// Expects a call and its cancellation.
fn hears_it_cancelled(hand: &mut Hand) {
    let call = hand.hear();
    assert_eq!(call["method"], "tools/call", "{call}");
    let cancelled = hand.hear_notification("notifications/cancelled");
    assert_eq!(cancelled["requestId"], call["id"]);
}

async fn a_dropped_call_is_cancelled_on_the_wire<R: Runtime>() {
    let (connection, hand) = connect_by_hand::<R>(client()).await;
    drop(connection.call_tool("any", &json!({})).start().await.unwrap());
    call_by_hand(hand, hears_it_cancelled).await;
}

async fn a_call_that_loses_a_race_is_cancelled_on_the_wire<R: Runtime>() {
    let (connection, hand) = connect_by_hand::<R>(client()).await;
    let call = async {
        let _never = connection.call_tool("any", &json!({})).await;
        panic!("the hand does not answer");
    };
    // The race is decided only once the call is on the wire.
    let (hand, call_id) = or(call, async {
        let (says, heard) = unbounded();
        let hand =
            call_by_hand(hand, move |hand| says.try_send(hand.hear()["id"].clone()).unwrap()).await;
        (hand, heard.recv().await.unwrap())
    })
    .await;
    call_by_hand(hand, move |hand| {
        assert_eq!(hand.hear_notification("notifications/cancelled")["requestId"], call_id);
    })
    .await;
}

async fn an_unsent_call_is_not_cancelled<R: Runtime>() {
    let (connection, hand) = connect_by_hand::<R>(client()).await;
    drop(connection.call_tool("never", &json!({})));
    drop(connection.call_tool("never", &json!({})).into_future());
    let pending = connection.call_tool("first", &json!({})).start().await.unwrap();
    let hand = call_by_hand(hand, |hand| {
        let first = hand.hear();
        assert_eq!(first["params"]["name"], "first");
        hand.answer(&first, &json!({"content": [{"type": "text", "text": "done"}]}));
    })
    .await;
    // A finished call is not cancelled either.
    assert_eq!(success(pending.await), "done");
    connection.clone().close().await.unwrap();
    call_by_hand(hand, |hand| assert_eq!(hand.hear_or_end(), None)).await;
}

async fn a_call_that_takes_too_long_times_out_and_is_cancelled<R: Runtime>() {
    let (connection, hand) = connect_by_hand::<R>(client()).await;
    for call in [
        connection.call_tool("any", &json!({})).timeout(Duration::from_millis(20)),
        connection.call_tool("any", &json!({})).timeout_max(Duration::from_millis(20)),
    ] {
        let outcome = call.await;
        assert!(matches!(outcome, Err(Error::Call(CallError::TimedOut))), "{outcome:?}");
    }
    call_by_hand(hand, |hand| {
        hears_it_cancelled(hand);
        hears_it_cancelled(hand);
    })
    .await;
}

/// Sends a message when dropped.
struct Guard(Sender<&'static str>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ignored = self.0.try_send("over");
    }
}

/// Builds a server whose handlers report their start and their end.
fn waiting_room() -> (Server, Receiver<&'static str>) {
    let (says, heard) = unbounded();
    let plain = says.clone();
    let server = server()
        .add(Tool::define(tool("hang"), move || {
            let says = says.clone();
            async move {
                let _guard = Guard(says.clone());
                says.send("begun").await?;
                pending::<()>().await;
                Ok("never")
            }
        }))
        .add(Tool::define(tool("hang_plain"), move |cx: Cx| {
            plain.try_send("begun")?;
            assert!(cx.sleep(Duration::from_secs(3600)).wait() && cx.is_cancelled());
            plain.try_send("over")?;
            Ok("never heard")
        }));
    (server, heard)
}

async fn begins_and_ends<R: Runtime>(tool: &str) {
    let (server, heard) = waiting_room();
    let (connection, _serving) = pair::<R>(client(), server).await;
    let pending = connection.call_tool(tool, &json!({})).start().await.unwrap();
    assert_eq!(heard.recv().await.unwrap(), "begun");
    pending.cancel("a test cancels");
    assert_eq!(heard.recv().await.unwrap(), "over");
}

async fn a_cancelled_async_handler_is_dropped<R: Runtime>() {
    begins_and_ends::<R>("hang").await;
}

async fn a_cancelled_plain_handler_is_notified<R: Runtime>() {
    begins_and_ends::<R>("hang_plain").await;
}

async fn handlers_end_with_their_connection<R: Runtime>() {
    let (server, heard) = waiting_room();
    let (hand, serving) = serve_by_hand::<R>(server).await;
    let hand = call_by_hand(hand, |hand| {
        hand.call_tool(1, "hang", &json!({}));
        hand.call_tool(2, "hang_plain", &json!({}));
    })
    .await;
    assert_eq!((heard.recv().await.unwrap(), heard.recv().await.unwrap()), ("begun", "begun"));
    drop(hand);
    assert_eq!((heard.recv().await.unwrap(), heard.recv().await.unwrap()), ("over", "over"));
    serving.ends_well().await;
    // The end of one connection leaves the handlers of others running.
    let (connection, _serving) = pair::<R>(client(), full_server()).await;
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
}

/// The handler used to spin in one poll, and the server did not end.
async fn a_handler_that_sleeps_in_a_loop_ends_with_its_connection<R: Runtime>() {
    for nap in [Duration::from_millis(1), Duration::ZERO] {
        let (says, heard) = unbounded();
        let server = server().add(Tool::define(tool("poll"), move |cx: Cx| {
            let says = says.clone();
            async move {
                let _guard = Guard(says.clone());
                says.send("begun").await?;
                loop {
                    cx.sleep(nap).await;
                }
                #[expect(unreachable_code, reason = "gives the result a type")]
                Ok("never")
            }
        }));
        let (hand, serving) = serve_by_hand::<R>(server).await;
        let hand = call_by_hand(hand, |hand| hand.call_tool(1, "poll", &json!({}))).await;
        assert_eq!(heard.recv().await.unwrap(), "begun");
        drop(hand);
        assert_eq!(heard.recv().await.unwrap(), "over");
        serving.ends_well().await;
    }
}
