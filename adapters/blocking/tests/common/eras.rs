//! Scripted servers of either era, for clients of all revisions.

use std::io;
use std::thread;

use mcp_blocking::proto::Era;
use mcp_blocking::{Client, Connection, Error};
use serde_json::{Value, json};

use super::Hand;

/// Returns a client connected to a scripted server of `era`.
pub(crate) fn meet(era: Era, client: Client, capabilities: &Value) -> (Connection, Hand) {
    let (connection, (), hand) = meet_by(client, |hand| {
        let question = hand.hear();
        assert_eq!(question["method"], "server/discover", "{question}");
        if era == Era::Modern {
            return hand.answer(&question, &discovered(capabilities));
        }
        hand.refuse(&question, -32601);
        let hello = hand.hear();
        assert_eq!(hello["method"], "initialize", "{hello}");
        hand.answer(&hello, &welcomed(capabilities));
        hand.hear_notification("notifications/initialized");
    });
    (connection.unwrap(), hand)
}

/// Connects a client to a server that `play` scripts until the connection is open.
pub(crate) fn meet_by<T>(
    client: Client,
    play: impl FnOnce(&mut Hand) -> T,
) -> (Result<Connection, Error>, T, Hand) {
    let (from_client, to_server) = io::pipe().unwrap();
    let (from_server, to_client) = io::pipe().unwrap();
    let connecting = thread::spawn(move || client.connect(from_server, to_server).wait());
    let mut hand = Hand::new(from_client, to_client);
    let played = play(&mut hand);
    (connecting.join().unwrap(), played, hand)
}

/// Returns the result of `server/discover`.
pub(crate) fn discovered(capabilities: &Value) -> Value {
    json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities,
        "ttlMs": 0, "cacheScope": "private",
    })
}

/// Returns the result of `initialize`.
pub(crate) fn welcomed(capabilities: &Value) -> Value {
    json!({
        "protocolVersion": "2025-11-25", "capabilities": capabilities,
        "serverInfo": {"name": "hand", "version": "1"},
    })
}

impl<R: io::Read, W: io::Write> Hand<R, W> {
    pub(crate) fn refuse(&mut self, request: &Value, code: i64) {
        let error = json!({"code": code, "message": "no"});
        self.say(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}));
    }

    /// As a modern server: sends a notification of a subscription.
    pub(crate) fn tell(&mut self, subscription: &Value, method: &str, mut params: Value) {
        params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": subscription["id"]});
        self.notify(method, &params);
    }

    /// As a modern server: acknowledges a subscription.
    pub(crate) fn acknowledge(&mut self, subscription: &Value, filter: &Value) {
        let params = json!({"notifications": filter});
        self.tell(subscription, "notifications/subscriptions/acknowledged", params);
    }
}
