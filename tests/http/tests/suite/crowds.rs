//! Many concurrent connections and requests, and handlers that panic.

use std::thread;

use mcp_http_tests::{Runtime, Served, Session, modern, post, rows, text};
use serde_json::json;

rows! {
    a_handler_that_panics_answers_with_an_error,
    many_connections_are_served_concurrently,
    a_connection_serves_one_request_after_another,
}

fn a_handler_that_panics_answers_with_an_error<R: Runtime>() {
    let served = Served::echo::<R>();
    let session = Session::open(served.address);
    for name in ["panic", "panic_async"] {
        let alone = modern("tools/call", json!({"name": name, "arguments": {}}))
            .send(served.address)
            .answer();
        let within = session.call(1, name, &json!({})).reply().answer();
        for answer in [alone, within] {
            assert_eq!(
                (&answer["id"], &answer["error"]["code"]),
                (&json!(1), &json!(-32603)),
                "{name}"
            );
            assert!(!answer.to_string().contains("secret"));
        }
    }
    assert_eq!(session.ping(), 200);
}

/// The number of clients on each runtime. Fewer on Windows: one process of wine handles all
/// operations on sockets, and 40 clients keep it busy for minutes.
const CLIENTS: u64 = if cfg!(windows) { 10 } else { 40 };

fn many_connections_are_served_concurrently<R: Runtime>() {
    let served = Served::echo::<R>();
    let shared = Session::open(served.address);
    let threads: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let (address, shared) = (served.address, shared.clone());
            thread::spawn(move || {
                let own = Session::open(address);
                let standing = own.listen(None);
                for turn in 0..5 {
                    let says = format!("{number} {turn}");
                    let arguments = json!({"text": says});
                    let id = number * 10 + turn;
                    let call =
                        modern("tools/call", json!({"name": "echo", "arguments": arguments}));
                    let (call, own, shared) = (
                        call.start(address),
                        own.call(id, "echo", &arguments),
                        shared.call(id, "echo", &arguments),
                    );
                    for pending in [shared, own, call] {
                        assert_eq!(text(&pending.reply().answer()), says);
                    }
                }
                drop(standing);
                assert_eq!(own.delete(), 204);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(shared.ping(), 200);
}

fn a_connection_serves_one_request_after_another<R: Runtime>() {
    let served = Served::echo::<R>();
    let session = Session::open(served.address);
    let ping =
        |id: u64| session.within(post(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"})));
    let mut connection = ping(0).start(served.address);
    for id in 1..10 {
        let reply = connection.reply();
        assert_eq!(reply.status, 200);
        connection = reply.again();
        connection.send(&ping(id));
    }
    assert_eq!(connection.reply().answer()["id"], 9);
}
