//! Everything a client does, in both eras, against our own server.

use std::time::Duration;

use mcp_adapter::proto::schema::Level;
use mcp_adapter::proto::{CallError, Era, Filter};
use mcp_adapter::{Changed, Client, Recovery};
use mcp_adapter_tests::{eventually, failure, full_server, rows, success};
use mcp_http_client_tests::{OverHttp, Proxy, Served};
use serde_json::json;
use smol::channel::unbounded;

use crate::{legacy_client, modern_client};

rows! {
    tools_answer_fail_ask_and_report_progress,
    log_messages_arrive_if_requested,
    changes_arrive_until_the_subscription_ends,
    a_modern_subscription_reports_a_cut_stream_and_can_be_reopened_stl_37,
    a_hundred_concurrent_calls_are_each_answered,
    a_reconnect_keeps_subscriptions_frm_22,
}

fn clients() -> [(Client, Era); 2] {
    [(legacy_client(), Era::Legacy), (modern_client(), Era::Modern)]
}

// STL-08: each modern POST has its own server, also a retry with input.
async fn tools_answer_fail_ask_and_report_progress<R: OverHttp>() {
    let served = Served::new(full_server());
    for (client, era) in clients() {
        let connection = R::connect_http(client, served.remote()).await.unwrap();
        assert_eq!(connection.era(), era);
        assert!(connection.list_tools().await.unwrap().len() > 10);
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
        assert_eq!(failure(connection.call_tool("fail", &json!({})).await), "it failed");
        assert_eq!(success(connection.call_tool("who", &json!({})).await), "Ada");
        assert_eq!(success(connection.call_tool("who_plain", &json!({})).await), "Ada");
        let mut heard = Vec::new();
        let count = connection
            .call_tool("count", &json!({}))
            .progress(|update| heard.push(update.progress));
        assert_eq!(success(count.await), "100");
        assert_eq!(heard.last(), Some(&100.0));
        assert!(heard.is_sorted(), "{heard:?}");
        connection.close().await.unwrap();
    }
}

async fn log_messages_arrive_if_requested<R: OverHttp>() {
    let served = Served::new(full_server());
    for (client, _) in clients() {
        let (says, logged) = unbounded();
        let client =
            client.on_notification(move |method, _, _| says.try_send(method.to_owned()).unwrap());
        let connection = R::connect_http(client, served.remote()).await.unwrap();
        connection.set_log_level(Level::Info).await.unwrap();
        success(connection.call_tool("log", &json!({"times": 20})).await);
        for _ in 0..20 {
            assert_eq!(logged.recv().await.unwrap(), "notifications/message");
        }
        connection.close().await.unwrap();
    }
}

async fn changes_arrive_until_the_subscription_ends<R: OverHttp>() {
    let mut server = full_server();
    let changes = server.changes();
    let served = Served::new(server);
    for (client, _) in clients() {
        let connection = R::connect_http(client, served.remote()).await.unwrap();
        let filter = Filter::new().tools().resource("note://one");
        let mut listening = connection.subscribe(&filter).await.unwrap();
        assert_eq!(listening.acknowledged(), filter);
        success(connection.call_tool("change", &json!({})).await);
        assert_eq!(listening.next().await.unwrap(), Some(Changed::Resource("note://one".into())));
        // In the legacy era, changes arrive on a stream that may not be open yet.
        changes.tools_list_changed().unwrap();
        assert_eq!(listening.next().await.unwrap(), Some(Changed::Tools));
        drop(listening);
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
        connection.close().await.unwrap();
    }
}

async fn a_modern_subscription_reports_a_cut_stream_and_can_be_reopened_stl_37<R: OverHttp>() {
    let mut server = full_server();
    let changes = server.changes();
    let served = Served::new(server);
    let proxy = Proxy::new(served.address());
    let client = modern_client().recovery(Recovery::off());
    let connection = R::connect_http(client, proxy.remote()).await.unwrap();
    let filter = Filter::new().resource("note://one");
    let mut listening = connection.subscribe(&filter).await.unwrap();
    proxy.cut_after(1);
    changes.resource_updated("note://one").unwrap();
    assert_eq!(listening.next().await.unwrap(), None);
    assert_eq!(listening.ended(), Some(Err(CallError::Lost)));
    let mut listening = connection.subscribe(&filter).await.unwrap();
    changes.resource_updated("note://one").unwrap();
    assert_eq!(listening.next().await.unwrap(), Some(Changed::Resource("note://one".into())));
}

async fn a_hundred_concurrent_calls_are_each_answered<R: OverHttp>() {
    let served = Served::new(full_server());
    for (client, _) in clients() {
        let connection = R::connect_http(client, served.remote()).await.unwrap();
        let mut open = Vec::new();
        for number in 0..100 {
            let text = number.to_string();
            let tool = ["echo", "echo_plain", "who", "count"][number % 4];
            open.push((
                number,
                connection.call_tool(tool, &json!({"text": text})).start().await.unwrap(),
            ));
        }
        for (number, pending) in open {
            let expected =
                [&*number.to_string(), &*number.to_string(), "Ada", "100"][number % 4].to_owned();
            assert_eq!(success(pending.await), expected);
        }
        connection.close().await.unwrap();
    }
}

async fn a_reconnect_keeps_subscriptions_frm_22<R: OverHttp>() {
    let mut server = full_server();
    let changes = server.changes();
    let served = Served::new(server);
    for (client, era) in clients() {
        let proxy = Proxy::new(served.address());
        let remote =
            proxy.remote().reconnect(Duration::from_millis(50), Duration::from_millis(100));
        let connection = R::connect_http(client, remote).await.unwrap();
        let mut listening =
            connection.subscribe(&Filter::new().resource("note://one")).await.unwrap();
        let again = connection.reconnect().await.unwrap();
        assert_eq!((again.era(), listening.ended()), (era, None));
        eventually("the old one is over", || connection.close_reason().is_some()).await;
        // Changes may have been missed.
        assert_eq!(listening.next().await.unwrap(), Some(Changed::Resource("note://one".into())));
        changes.resource_updated("note://one").unwrap();
        assert_eq!(listening.next().await.unwrap(), Some(Changed::Resource("note://one".into())));
        assert_eq!(success(again.call_tool("echo", &json!({"text": "on"})).await), "on");
        again.close().await.unwrap();
        assert_eq!(listening.next().await.unwrap(), None);
        assert_eq!(listening.ended(), Some(Err(CallError::Lost)));
    }
}
