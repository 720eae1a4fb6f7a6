//! Servers that are stopped.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use mcp_adapter::{Cx, Error, Server, Tool, on_runtime};
use mcp_blocking::http::{Http, Stop};
use mcp_http_tests::{
    PATIENCE, Runtime, Served, Session, eventually, modern, rows, server, text, tool,
};
use serde_json::json;

rows! {
    subscribers_learn_of_the_end,
    requests_in_flight_are_answered,
    endless_handlers_do_not_delay_the_end,
    a_server_without_clients_ends_immediately,
}

/// The longest acceptable shutdown: requests in flight have two seconds, and machines may be slow.
const END: Duration = Duration::from_secs(20);

/// The longest acceptable shutdown with nothing in flight.
const END_MAX: Duration = Duration::from_millis(1500);

fn subscribers_learn_of_the_end<R: Runtime>() {
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
    served.ends_within(END_MAX);
    assert!(TcpStream::connect(served.address).is_err(), "the port is closed");
}

fn requests_in_flight_are_answered<R: Runtime>() {
    let (begins, begun) = channel();
    let (go, goes) = channel::<()>();
    let begins = Mutex::new((begins, goes));
    let server = server().add(Tool::define(tool("wait"), move || {
        let told = begins.lock().unwrap();
        told.0.send(())?;
        told.1.recv_timeout(PATIENCE)?;
        Ok("done")
    }));
    let served = Served::on::<R>(server, Http::new());
    let call = modern("tools/call", json!({"name": "wait", "arguments": {}})).start(served.address);
    begun.recv_timeout(PATIENCE).unwrap();
    served.stop.stop();
    go.send(()).unwrap();
    assert_eq!(text(&call.reply().answer()), "done");
    served.ends_within(END_MAX);
}

fn endless_handlers_do_not_delay_the_end<R: Runtime>() {
    let (begins, begun) = channel();
    let begins = Mutex::new(begins);
    let server = server().add(Tool::define(tool("hang"), move |cx: Cx| {
        begins.lock().unwrap().send(())?;
        let _cancelled = cx.sleep(Duration::from_secs(3600)).wait();
        Ok("never heard")
    }));
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

/// Serves with `serve` until told to drop its future, and checks that nothing is left of it.
fn dropping_ends_everything(
    name: &str,
    serve: impl FnOnce(Server, TcpListener, Http, Receiver<()>) + Send + 'static,
) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let options = Http::new();
    let stats = options.stats();
    let (drops, dropped) = channel();
    let serving = thread::spawn(move || serve(server(), listener, options, dropped));
    let session = Session::open(address);
    let mut standing = session.listen(None);
    let mut alone =
        modern("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))
            .send(address);
    assert!(standing.event().is_some() && alone.event().is_some());
    drops.send(()).unwrap();
    eventually(name, || (stats.connections() == 0 && stats.sessions() == 0).then_some(()));
    assert!(standing.is_closed() && alone.is_closed());
    drop(drops);
    serving.join().unwrap();
}

/// Waits for a signal, and then until the test is over.
async fn race(serving: impl Future<Output = Result<(), Error>>, dropped: Receiver<()>) {
    let (drops, over) = (smol::channel::bounded(1), smol::channel::bounded(1));
    thread::spawn(move || {
        for sender in [drops.0, over.0] {
            let _test_is_over = (dropped.recv(), sender.send_blocking(()));
        }
    });
    smol::future::or(
        async {
            let _stopped = serving.await;
        },
        async {
            let _told = drops.1.recv().await;
        },
    )
    .await;
    let _told = over.1.recv().await;
}

#[test]
fn dropping_the_future_on_tokio_closes_connections_and_sessions() {
    dropping_ends_everything("tokio", |server, listener, options, dropped| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            listener.set_nonblocking(true).unwrap();
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let server: mcp_tokio::Server = on_runtime::server(server);
            let stop = Stop::new();
            let serving = server.serve_http(listener, options, &stop);
            race(serving, dropped).await;
        });
    });
}

#[test]
fn dropping_the_future_on_smol_closes_connections_and_sessions() {
    dropping_ends_everything("smol", |server, listener, options, dropped| {
        smol::block_on(async {
            let server: mcp_smol::Server = on_runtime::server(server);
            let stop = Stop::new();
            let serving = server.serve_http(listener, options, &stop);
            race(serving, dropped).await;
        });
    });
}

fn a_server_without_clients_ends_immediately<R: Runtime>() {
    let served = Served::echo::<R>();
    let session = Session::open(served.address);
    // An open connection without traffic.
    let idle = TcpStream::connect(served.address).unwrap();
    assert_eq!(session.ping(), 200);
    served.stop.stop();
    served.ends_within(END_MAX);
    drop(idle);
}
