//! Two peers in one process, joined by a socket: both ours, or one scripted.

use std::io;
use std::thread;

use mcp_adapter::proto::Revision;
use mcp_adapter::{Client, Connection, Server};
use serde_json::json;
use smol::channel::{Receiver, bounded};
use smol::unblock;

use crate::{Hand, Runtime, Stream, socket_pair};

/// The outcome of a server in the background.
#[derive(Debug)]
pub struct Serving(Receiver<io::Result<()>>);

impl Serving {
    /// Waits for the server to end.
    pub async fn ends(self) -> io::Result<()> {
        self.0.recv().await.expect("what serves was dropped")
    }

    /// Waits for the server to end without error.
    pub async fn ends_well(self) {
        self.ends().await.unwrap();
    }
}

/// Serves in the background.
pub fn serve<R: Runtime>(server: Server, stream: impl Into<Stream>) -> Serving {
    let (over, ended) = bounded(1);
    let stream = stream.into();
    R::run(async move {
        let outcome = R::serve(server, stream).await;
        let _ignored = over.send(outcome).await;
    });
    Serving(ended)
}

/// Connects a client and a server.
pub async fn pair<R: Runtime>(client: Client, server: Server) -> (Connection, Serving) {
    let (ours, theirs) = socket_pair();
    let serving = serve::<R>(server, theirs);
    (R::connect(client, ours.into()).await.unwrap(), serving)
}

/// Starts a server whose client is scripted and has opened a legacy session.
pub async fn serve_by_hand<R: Runtime>(server: Server) -> (Hand, Serving) {
    let (ours, theirs) = socket_pair();
    let serving = serve::<R>(server, theirs);
    let hand = call_by_hand(Hand::of(ours), |hand| hand.greet(&json!({}))).await;
    (hand, serving)
}

/// Connects a client whose server is scripted, legacy, and offers tools and log messages.
pub async fn connect_by_hand<R: Runtime>(client: Client) -> (Connection, Hand) {
    let (ours, theirs) = socket_pair();
    let greeting = thread::spawn(move || {
        let mut hand = Hand::of(ours);
        let hello = hand.hear();
        hand.answer(
            &hello,
            &json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}},
                "serverInfo": {"name": "hand", "version": "1"},
            }),
        );
        hand.hear_notification("notifications/initialized");
        hand
    });
    let connection = R::connect(client.revisions(&Revision::LEGACY), theirs.into()).await.unwrap();
    (connection, greeting.join().unwrap())
}

/// Runs a blocking operation on a scripted peer while the runtime continues.
pub async fn call_by_hand<H: Send + 'static>(
    mut hand: H,
    act: impl FnOnce(&mut H) + Send + 'static,
) -> H {
    unblock(move || {
        act(&mut hand);
        hand
    })
    .await
}
