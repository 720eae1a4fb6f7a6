//! Notifications of clients: the application learns who sent them, and in which session.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use mcp_adapter::http::RequestHead;
use mcp_adapter::proto::Principal;
use mcp_adapter::proto::http::Refusal;
use mcp_blocking::http::Http;
use mcp_http_tests::{PATIENCE, Runtime, Served, initialize, post, rows, server};
use serde_json::json;

rows! {
    a_notification_names_its_principal_and_session,
}

fn user(head: &RequestHead) -> Result<Principal, Refusal> {
    let name = head.headers.get("x-user").and_then(|name| name.to_str().ok());
    name.and_then(Principal::new).ok_or_else(|| Refusal::new(401, "no user"))
}

fn a_notification_names_its_principal_and_session<R: Runtime>() {
    let (says, hears) = channel();
    let says = Mutex::new(says);
    let server = server().on_notification(move |method, _, client| {
        let name = client.peer().map(|peer| peer.info.name.clone());
        let user = client.principal().map(|user| user.id().to_owned());
        let session = client.session_id().map(str::to_owned);
        says.lock().unwrap().send((method.to_owned(), name, user, session)).unwrap();
    });
    let served = Served::on::<R>(server, Http::new().authenticating(user));
    for name in ["ada", "eve"] {
        let opened = initialize().field("x-user", name).send(served.address);
        let session = opened.field("mcp-session-id").unwrap().to_owned();
        for method in ["notifications/initialized", "notifications/roots/list_changed"] {
            let message = post(&json!({"jsonrpc": "2.0", "method": method}))
                .field("x-user", name)
                .field("mcp-session-id", &session);
            assert_eq!(message.send(served.address).status, 202);
        }
        let (method, client, user, id) = hears.recv_timeout(PATIENCE).unwrap();
        assert_eq!(method, "notifications/roots/list_changed");
        assert_eq!(user.as_deref(), Some(name));
        assert_eq!(id, Some(session));
        assert!(client.is_some());
    }
}
