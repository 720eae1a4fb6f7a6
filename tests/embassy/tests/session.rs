//! A client and a server with `Limits::small()`, as two tasks of one executor, over pipes of 16
//! bytes; and a client whose server never responds, which the clock ends.

use std::sync::Mutex;
use std::time::Duration;

use embassy_executor::{Executor, Spawner};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::pipe::Pipe;
use mcp_embassy_example::{drive, now};
use mcp_proto::client::{self, Client};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{CallOptions, Capability, Limits, Raw};

type Port = Pipe<CriticalSectionRawMutex, 16>;

static TO_SERVER: Port = Port::new();
static TO_CLIENT: Port = Port::new();
static SILENCE: Port = Port::new();
static UNREAD: Pipe<CriticalSectionRawMutex, 1024> = Pipe::new();

/// What the clients received.
static RECEIVED: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn receive(text: impl Into<String>) {
    RECEIVED.lock().unwrap().push(text.into());
}

#[embassy_executor::task]
async fn serve() {
    let config = server::Config::new("lamp", "1.0.0").capability(Capability::Tools);
    let mut server = Stdio::new(Server::new(now(), config.limits(Limits::small())));
    drive(&mut server, &TO_SERVER, &TO_CLIENT, |server, event| {
        if let server::Event::Request { incoming, .. } = event {
            let result = Raw::from_text(r#"{"content":[{"type":"text","text":"on"}]}"#).unwrap();
            server.respond(now(), incoming, &result).unwrap();
        }
    })
    .await;
}

#[embassy_executor::task]
async fn ask() {
    let config = client::Config::new("button", "1.0.0").limits(Limits::small());
    let mut client = Stdio::new(Client::new(now(), config));
    drive(&mut client, &TO_CLIENT, &TO_SERVER, |client, event| match event {
        client::Event::Ready(_) => {
            let params = Raw::from_text(r#"{"name":"toggle"}"#).unwrap();
            client.call_raw(now(), "tools/call", Some(&params), CallOptions::default()).unwrap();
        }
        client::Event::Completed { outcome, .. } => {
            receive(outcome.unwrap().as_str());
            client.close(now());
        }
        _ => {}
    })
    .await;
}

#[embassy_executor::task]
async fn wait_in_vain() {
    let timeouts = Limits {
        probe_timeout: Duration::from_millis(5),
        handshake_timeout: Duration::from_millis(5),
        ..Limits::small()
    };
    let config = client::Config::new("button", "1.0.0").limits(timeouts);
    let mut client = Stdio::new(Client::new(now(), config));
    drive(&mut client, &SILENCE, &UNREAD, |_, event| {
        if let client::Event::Closed(reason) = event {
            receive(format!("{reason:?}"));
        }
    })
    .await;
}

#[test]
fn a_client_and_a_server_run_on_embassy() {
    let start = |spawner: Spawner| {
        spawner.spawn(serve().unwrap());
        spawner.spawn(ask().unwrap());
        spawner.spawn(wait_in_vain().unwrap());
    };
    let executor = Box::leak(Box::new(Executor::new()));
    executor.run_until(start, || RECEIVED.lock().unwrap().len() == 2);
    let mut received = RECEIVED.lock().unwrap().clone();
    received.sort();
    assert!(received[0].contains("Handshake"), "{received:?}");
    assert!(received[1].contains(r#"{"content":[{"type":"text","text":"on"}]"#), "{received:?}");
}
