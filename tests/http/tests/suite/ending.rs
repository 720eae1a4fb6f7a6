//! Servers that are told to end.

use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use mcp_blocking::http::Http;
use mcp_http_tests::{PATIENCE, Runtime, Served, Session, modern, rows, server, text, tool};
use serde_json::{Value, json};

rows! {
    who_listens_is_told_that_it_is_over,
    what_is_being_answered_is_answered,
    what_never_ends_is_not_waited_for,
    a_server_without_clients_ends_at_once,
}

/// What an end may take, at most: what is being answered has two seconds, and machines are slow.
const END: Duration = Duration::from_secs(20);

/// What it takes if nothing has to be waited for.
const AT_ONCE: Duration = Duration::from_millis(1500);

fn who_listens_is_told_that_it_is_over<R: Runtime>() {
    let served = Served::echo::<R>();
    let session = Session::open(served.address);
    let mut standing = session.listen(None);
    let mut alone =
        modern("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))
            .send(served.address);
    assert_eq!(alone.message().unwrap()["method"], "notifications/subscriptions/acknowledged");
    served.stop.stop();
    let result = alone.message().expect("a result");
    assert_eq!(result["id"], 1);
    assert!(result["result"].is_object());
    assert_eq!((alone.message(), standing.message()), (None, None));
    served.ends_within(AT_ONCE);
    assert!(TcpStream::connect(served.address).is_err(), "nobody listens");
}

fn what_is_being_answered_is_answered<R: Runtime>() {
    let (begins, begun) = channel();
    let (go, goes) = channel::<()>();
    let begins = Mutex::new((begins, goes));
    let server = server().tool_with(tool("wait"), move |_: Value, _| {
        let told = begins.lock().unwrap();
        told.0.send(())?;
        told.1.recv_timeout(PATIENCE)?;
        Ok("done")
    });
    let served = Served::on::<R>(server, Http::new());
    let call = modern("tools/call", json!({"name": "wait", "arguments": {}})).start(served.address);
    begun.recv_timeout(PATIENCE).unwrap();
    served.stop.stop();
    go.send(()).unwrap();
    assert_eq!(text(&call.reply().answer()), "done");
    served.ends_within(AT_ONCE);
}

fn what_never_ends_is_not_waited_for<R: Runtime>() {
    let (begins, begun) = channel();
    let begins = Mutex::new(begins);
    let server = server().tool_with(tool("hang"), move |_: Value, cx| {
        begins.lock().unwrap().send(())?;
        let _cancelled = cx.sleep(Duration::from_secs(3600));
        Ok("never heard")
    });
    let served = Served::on::<R>(server, Http::new());
    let session = Session::open(served.address);
    let alone =
        modern("tools/call", json!({"name": "hang", "arguments": {}})).start(served.address);
    let within = session.call(1, "hang", &json!({}));
    begun.recv_timeout(PATIENCE).unwrap();
    begun.recv_timeout(PATIENCE).unwrap();
    served.stop.stop();
    served.ends_within(END);
    drop((alone, within));
}

fn a_server_without_clients_ends_at_once<R: Runtime>() {
    let served = Served::echo::<R>();
    let session = Session::open(served.address);
    // A connection that is open and says nothing.
    let idle = TcpStream::connect(served.address).unwrap();
    assert_eq!(session.ping(), 200);
    served.stop.stop();
    served.ends_within(AT_ONCE);
    drop(idle);
}
