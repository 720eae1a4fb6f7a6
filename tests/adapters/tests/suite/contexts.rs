//! One client of many servers: its handlers learn which connection asks, and when it stops to.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use mcp_adapter::proto::schema::{ElicitResult, Level};
use mcp_adapter::proto::{Peer, Revision};
use mcp_adapter::{Client, ClientCx, Cx, Server, Tool};
use mcp_adapter_tests::{
    Runtime, call_by_hand, client, connect_by_hand, form, full_server, pair, raw, rows, success,
    tool,
};
use serde_json::{Value, json};
use smol::channel::unbounded;
use smol::unblock;

rows! {
    clones_of_a_client_share_handlers_and_keep_their_labels,
    a_blocking_handler_learns_of_its_cancellation,
    the_metadata_of_a_request_is_available,
    a_callback_knows_its_connection_and_its_end,
    log_messages_have_a_separate_callback,
}

/// Builds a server with this name, which asks its client for a name.
fn asker(name: &str) -> Server {
    Server::new(name, "1.0.0").add(Tool::define(tool("who"), |cx: Cx| {
        let answer: Value = cx.ask("name", form("Who are you?"))?;
        Ok(answer["name"].as_str().ok_or("no name")?.to_owned())
    }))
}

/// Describes the connection that a context belongs to.
fn place(cx: &ClientCx) -> String {
    let peer = cx.peer().map(|peer: std::sync::Arc<Peer>| peer.info.name.clone());
    format!("{:?} {:?}", cx.label(), peer.as_deref())
}

fn answering() -> [Client; 2] {
    let answer = |cx: &ClientCx| ElicitResult::accept(raw(&json!({"name": place(cx)})));
    let later = move |cx: ClientCx| async move {
        cx.sleep(Duration::from_millis(1)).await;
        answer(&cx)
    };
    let plain = Client::new("row", "1.0.0").on_elicitation(move |cx: ClientCx| answer(&cx));
    [plain, Client::new("row", "1.0.0").on_elicitation(later)]
}

async fn clones_of_a_client_share_handlers_and_keep_their_labels<R: Runtime>() {
    for client in answering() {
        let (first, _serving) = pair::<R>(client.clone().label("one"), asker("a")).await;
        let (second, _serving) = pair::<R>(client.clone().label("two"), asker("b")).await;
        let (third, _serving) = pair::<R>(client, asker("c")).await;
        assert_eq!((first.label(), third.label()), (Some("one"), None));
        for (connection, place) in [
            (&first, r#"Some("one") Some("a")"#),
            (&second, r#"Some("two") Some("b")"#),
            (&third, r#"None Some("c")"#),
        ] {
            assert_eq!(success(connection.call_tool("who", &json!({})).await), place);
        }
    }
}

async fn a_blocking_handler_learns_of_its_cancellation<R: Runtime>() {
    for revisions in [&Revision::LEGACY[..], &[Revision::V2026_07_28]] {
        let (asks, asked) = unbounded();
        let (ends, ended) = unbounded();
        let client =
            Client::new("row", "1.0.0").revisions(revisions).on_elicitation(move |cx: ClientCx| {
                asks.try_send(cx.is_cancelled()).unwrap();
                let was_cancelled = cx.sleep(Duration::MAX).wait();
                ends.try_send((was_cancelled, cx.is_cancelled())).unwrap();
                ElicitResult::cancel()
            });
        let (connection, _serving) = pair::<R>(client, full_server()).await;
        let open = connection.call_tool("who", &json!({})).start().await.unwrap();
        assert!(!asked.recv().await.unwrap());
        open.cancel("on purpose");
        assert_eq!(ended.recv().await.unwrap(), (true, true));

        // The end of the connection cancels as well.
        let _open = connection.call_tool("who", &json!({})).start().await.unwrap();
        asked.recv().await.unwrap();
        drop(connection);
        assert_eq!(ended.recv().await.unwrap(), (true, true));
    }
}

async fn the_metadata_of_a_request_is_available<R: Runtime>() {
    let client = Client::new("row", "1.0.0").on_elicitation(|cx: ClientCx| {
        let meta: Value = cx.meta().unwrap().parse().unwrap();
        ElicitResult::accept(raw(&json!({"seen": meta["com.example/ticket"]})))
    });
    let (_connection, hand) = connect_by_hand::<R>(client).await;
    call_by_hand(hand, |hand| {
        hand.say(&json!({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": {
            "message": "?", "requestedSchema": {"type": "object", "properties": {}},
            "_meta": {"com.example/ticket": 42},
        }}));
        assert_eq!(hand.hear()["result"]["content"]["seen"], 42);
    })
    .await;
}

/// Sends the place of a notification, blocks until the connection ends, and sends that it has.
fn report(says: &Sender<String>, cx: &ClientCx) {
    says.send(place(cx)).unwrap();
    assert!(cx.sleep(Duration::MAX).wait());
    says.send("over".into()).unwrap();
}

async fn a_callback_knows_its_connection_and_its_end<R: Runtime>() {
    let (says, hears) = channel();
    let client = client()
        .revisions(&Revision::LEGACY)
        .label("logs")
        .on_notification(move |_, _, cx| report(&says, cx));
    let (connection, _serving) = pair::<R>(client, full_server()).await;
    connection.set_log_level(Level::Debug).await.unwrap();
    success(connection.call_tool("log", &json!({"times": 1})).await);
    let hears = unblock(move || {
        assert_eq!(hears.recv().unwrap(), r#"Some("logs") Some("server")"#);
        hears
    })
    .await;
    connection.clone().close().await.unwrap();
    unblock(move || assert_eq!(hears.recv().unwrap(), "over")).await;
}

async fn log_messages_have_a_separate_callback<R: Runtime>() {
    let (says, heard) = unbounded();
    let other = says.clone();
    let client = client()
        .label("logs")
        .on_log(move |log, cx| {
            let level = log.level.known().map(|level| level.name());
            says.try_send(format!("{level:?} {} {:?}", log.data, cx.label())).unwrap();
        })
        .on_notification(move |method, _, _| other.try_send(method.to_owned()).unwrap());
    let (_connection, hand) = connect_by_hand::<R>(client).await;
    call_by_hand(hand, |hand| {
        for params in [json!({"level": "error", "data": {"a": 1}}), json!({"level": "error"})] {
            let method = "notifications/message";
            hand.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
        }
        hand.say(&json!({"jsonrpc": "2.0", "method": "x/other"}));
    })
    .await;
    assert_eq!(heard.recv().await.unwrap(), r#"Some("error") {"a":1} Some("logs")"#);
    assert_eq!(heard.recv().await.unwrap(), "notifications/message", "malformed: without data");
    assert_eq!(heard.recv().await.unwrap(), "x/other");
}
