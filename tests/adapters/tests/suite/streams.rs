//! Other kinds of sockets as streams, and how they end.

use std::io::Write;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};

use mcp_adapter::Error;
use mcp_adapter::proto::{CallError, CloseReason};
use mcp_adapter_tests::{
    Runtime, call_by_hand, client, connect_by_hand, full_server, pair, rows, serve, serve_by_hand,
    socket_pair, success,
};
use serde_json::json;
use smol::channel::bounded;
use smol::future::or;
use smol::unblock;

rows! {
    tcp_is_a_stream,
    connections_of_a_server_end_independently,
    #[cfg_attr(not(unix), ignore = "writes to a TCP socket do not fail immediately")]
    a_client_that_reads_no_more_ends_its_connection_cleanly,
    dropping_a_server_closes_its_connection,
    a_closed_peer_is_an_error,
    garbage_is_a_fault_or_the_end,
    an_unreadable_request_is_answered_under_its_id,
    an_unreadable_response_ends_its_call_immediately,
    an_unreadable_list_entry_is_reported_beside_the_list,
}

async fn tcp_is_a_stream<R: Runtime>() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let serving = serve::<R>(full_server(), listener.accept().unwrap().0);
    let connection = R::connect(client(), ours.into()).await.unwrap();
    let text = "x".repeat(500_000);
    assert!(success(connection.call_tool("echo", &json!({"text": text})).await) == text);
    assert_eq!(success(connection.call_tool("who", &json!({})).await), "Ada");
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

async fn connections_of_a_server_end_independently<R: Runtime>() {
    let server = full_server();
    let mut connections = Vec::new();
    for _ in 0..20 {
        connections.push(pair::<R>(client(), server.clone()).await);
    }
    while let Some((connection, serving)) = connections.pop() {
        drop(connection);
        serving.ends_well().await;
        for (connection, _) in &connections {
            let echo = connection.call_tool("echo", &json!({"text": "on"}));
            assert_eq!(success(echo.await), "on");
        }
    }
}

async fn a_client_that_reads_no_more_ends_its_connection_cleanly<R: Runtime>() {
    let (hand, serving) = serve_by_hand::<R>(full_server()).await;
    hand.writer.shutdown(Shutdown::Read).unwrap();
    // The response fails with EPIPE; the client's sending direction stays open.
    let hand =
        call_by_hand(hand, |hand| hand.call_tool(1, "echo", &json!({"text": "hello"}))).await;
    serving.ends_well().await;
    drop(hand);
}

async fn dropping_a_server_closes_its_connection<R: Runtime>() {
    if !R::IS_ASYNC {
        // A blocking server cannot be dropped.
        return;
    }
    let (ours, theirs) = socket_pair();
    let (stop, stopped) = bounded::<()>(1);
    R::run(async move {
        let dropped = async {
            stopped.recv().await.unwrap();
            Ok(())
        };
        or(R::serve(full_server(), theirs.into()), dropped).await.unwrap();
    });
    let connection = R::connect(client(), ours.into()).await.unwrap();
    let open = connection.call_tool("hang", &json!({})).start().await.unwrap();
    stop.send(()).await.unwrap();
    let outcome = open.await;
    assert!(matches!(outcome, Err(Error::Call(CallError::Lost))), "{outcome:?}");
    connection.wait_ended().await.unwrap();
    assert_eq!(connection.close_reason(), Some(CloseReason::Peer));
    connection.call_tool("echo", &json!({})).await.unwrap_err();
}

async fn a_closed_peer_is_an_error<R: Runtime>() {
    let (ours, theirs) = socket_pair();
    drop(theirs);
    let outcome = R::connect(client(), ours.into()).await.map(|_| ());
    assert!(matches!(outcome, Err(Error::Start { why: CloseReason::Peer, .. })), "{outcome:?}");
}

async fn garbage_is_a_fault_or_the_end<R: Runtime>() {
    let (mut ours, theirs) = socket_pair();
    let serving = serve::<R>(full_server(), theirs);
    ours.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n\0\xff\n").unwrap();
    ours.shutdown(Shutdown::Write).unwrap();
    serving.ends_well().await;
    let output = unblock(move || std::io::read_to_string(ours).unwrap()).await;
    assert!(output.lines().all(|line| line.contains("\"error\"")), "{output}");
}

// JSON-13
async fn an_unreadable_request_is_answered_under_its_id<R: Runtime>() {
    let (hand, serving) = serve_by_hand::<R>(full_server()).await;
    let hand = call_by_hand(hand, |hand| {
        for bad in ["NaN", "\"\u{1}\"", "[1", "'a'"] {
            writeln!(hand.writer, r#"{{"jsonrpc":"2.0","params":{{"a":{bad}}},"id":7,"method":"ping"}}"#)
                .unwrap();
            let id = hand.hear()["id"].clone();
            assert!(id == 7 || bad == "[1" && id.is_null(), "{bad}: {id}");
            writeln!(hand.writer, r#"{{"jsonrpc":"2.0","id":"q","method":"ping","params":{bad}}}"#)
                .unwrap();
            let refused = hand.hear();
            assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!("q"), &json!(-32700)));
        }
        for lone in [r"\ud83d", r"\ude00", r"\ud83d\ud83d"] {
            writeln!(
                hand.writer,
                r#"{{"jsonrpc":"2.0","id":"{lone}","method":"tools/call","params":{{"name":"echo","arguments":{{"text":"a{lone}"}}}}}}"#
            )
            .unwrap();
            let mut line = String::new();
            std::io::BufRead::read_line(&mut hand.reader, &mut line).unwrap();
            assert!(line.contains(&format!(r#""id":"{lone}""#)), "{line}");
            assert!(line.contains("a\u{fffd}") || line.contains(r"a\ufffd"), "{line}");
        }
    })
    .await;
    drop(hand);
    serving.ends_well().await;
}

// JSON-07, T-16
async fn an_unreadable_response_ends_its_call_immediately<R: Runtime>() {
    let (connection, mut hand) = connect_by_hand::<R>(client()).await;
    for bad in ["NaN", "\"\u{1}\"", "-"] {
        let answering = unblock(move || {
            let asked = hand.hear();
            let id = &asked["id"];
            writeln!(hand.writer, r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":{bad}}}}}"#)
                .unwrap();
            hand
        });
        let call = connection.call_tool("x", &json!({})).into_future();
        let (outcome, back) = smol::future::zip(call, answering).await;
        let text = outcome.unwrap_err().to_string();
        assert!(text.contains("invalid response") && text.contains("at byte"), "{bad}: {text}");
        hand = back;
    }
}

// PAG-04
async fn an_unreadable_list_entry_is_reported_beside_the_list<R: Runtime>() {
    let (connection, mut hand) = connect_by_hand::<R>(client()).await;
    let answering = unblock(move || {
        let tools = json!([
            {"name": "a", "inputSchema": null}, {"name": "b"}, {"name": "c", "inputSchema": []},
        ]);
        let asked = hand.hear();
        hand.answer(&asked, &json!({"tools": tools, "nextCursor": "x"}));
        let asked = hand.hear();
        let tools = json!([{"name": "d", "inputSchema": true}, {"name": "e", "inputSchema": {}}]);
        hand.answer(&asked, &json!({"tools": tools, "nextCursor": ""}));
        hand
    });
    let (list, _hand) = smol::future::zip(connection.list_tools(), answering).await;
    let list = list.unwrap();
    assert_eq!(list.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["a", "b", "e"]);
    assert_eq!(list[0].input_schema.as_str(), r#"{"type":"object"}"#);
    let broken: Vec<_> = list.broken.iter().map(|error| &*error.pointer).collect();
    assert_eq!(broken, ["/2/inputSchema", "/3/inputSchema"]);
}
