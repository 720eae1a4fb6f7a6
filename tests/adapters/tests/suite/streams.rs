//! Other kinds of sockets as streams, and how they end.

use std::io::Write;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};

use mcp_adapter::Error;
use mcp_adapter::proto::{CallError, CloseReason};
use mcp_adapter_tests::{
    Runtime, call_by_hand, client, pair, rows, serve, serve_by_hand, shop, socket_pair, success,
};
use serde_json::json;
use smol::channel::bounded;
use smol::future::or;
use smol::unblock;

rows! {
    tcp_is_a_stream,
    connections_of_a_server_end_independently,
    #[cfg_attr(not(unix), ignore = "writes to a TCP socket do not fail at once")]
    a_client_that_reads_no_more_ends_its_connection_cleanly,
    dropping_a_server_closes_its_connection,
    a_closed_peer_is_an_error,
    garbage_is_a_fault_or_the_end,
}

async fn tcp_is_a_stream<R: Runtime>() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let serving = serve::<R>(shop(), listener.accept().unwrap().0);
    let connection = R::connect(client(), ours.into()).await.unwrap();
    let text = "x".repeat(500_000);
    assert!(success(connection.call_tool("echo", &json!({"text": text})).await) == text);
    assert_eq!(success(connection.call_tool("who", &json!({})).await), "Ada");
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

async fn connections_of_a_server_end_independently<R: Runtime>() {
    let server = shop();
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
    let (hand, serving) = serve_by_hand::<R>(shop()).await;
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
        or(R::serve(shop(), theirs.into()), dropped).await.unwrap();
    });
    let connection = R::connect(client(), ours.into()).await.unwrap();
    let open = connection.call_tool("hang", &json!({})).start().await.unwrap();
    stop.send(()).await.unwrap();
    let outcome = open.await;
    assert!(matches!(outcome, Err(Error::Call(CallError::Lost))), "{outcome:?}");
    connection.wait_ended().await;
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
    let serving = serve::<R>(shop(), theirs);
    ours.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n\0\xff\n").unwrap();
    ours.shutdown(Shutdown::Write).unwrap();
    serving.ends_well().await;
    let said = unblock(move || std::io::read_to_string(ours).unwrap()).await;
    assert!(said.lines().all(|line| line.contains("\"error\"")), "{said}");
}
