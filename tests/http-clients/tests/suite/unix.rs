//! Connections to Unix domain sockets.

use mcp_adapter::Error;
use mcp_adapter::auth::{Auth, MemoryStore};
use mcp_adapter::http::{Proxy, Remote};
use mcp_adapter_tests::{eventually, rows, success};
use mcp_http_client_tests::{ForwardProxy, LocalSocket, OverHttp, Site, legacy, modern};
use serde_json::json;

use crate::{legacy_client, modern_client, quick};

rows! {
    a_server_at_a_socket_is_used_and_its_connections_pooled,
    credentials_are_sent_and_no_proxy_is_used,
    a_socket_that_does_not_exist_is_named,
    a_socket_has_no_authorization_server,
}

async fn a_server_at_a_socket_is_used_and_its_connections_pooled<R: OverHttp>() {
    let site = Site::new(legacy);
    let socket = LocalSocket::new(site.port());
    let remote = Remote::unix(socket.path(), "/mcp?key=1").unwrap();
    let connection = R::connect_http(legacy_client(), remote).await.unwrap();
    for _ in 0..20 {
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
    }
    connection.close().await.unwrap();
    assert_eq!(site.of("DELETE").len(), 1);
    for request in site.heard() {
        let head = (request.path.as_str(), request.field("host"));
        assert_eq!(head, ("/mcp?key=1", Some("localhost")));
    }
    // One for the stream of messages from the server, and a few for the requests.
    assert!(socket.accepted() <= 4, "{}", socket.accepted());
    eventually("no connection is left", || site.open() == 0).await;
}

async fn credentials_are_sent_and_no_proxy_is_used<R: OverHttp>() {
    let site = Site::new(modern);
    let socket = LocalSocket::new(site.port());
    let proxy = ForwardProxy::new(site.port());
    let remote = Remote::unix(socket.path(), "/mcp").unwrap();
    let remote = remote.proxy(Proxy::all(&proxy.url("")).unwrap());
    let remote = remote.authorization(|| Some("Bearer t".into()));
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    connection.close().await.unwrap();
    assert!(site.heard().iter().all(|it| it.field("authorization") == Some("Bearer t")));
    assert!(proxy.heads().is_empty());
}

async fn a_socket_that_does_not_exist_is_named<R: OverHttp>() {
    let remote = Remote::unix("/nonexistent/mcp.sock", "/mcp").unwrap();
    let error = R::connect_http(modern_client().limits(quick()), remote).await.unwrap_err();
    let Error::Start { http: Some(http), .. } = error else { panic!("{error:?}") };
    let cause = http.cause.unwrap();
    assert_eq!(cause.kind(), std::io::ErrorKind::NotFound);
    assert!(cause.to_string().contains("/nonexistent/mcp.sock"), "{cause}");
}

async fn a_socket_has_no_authorization_server<R: OverHttp>() {
    let auth = Auth::user("row").store(MemoryStore::new());
    let remote = Remote::unix("/nonexistent/mcp.sock", "/mcp").unwrap().authorized(auth);
    match R::connect_http(modern_client(), remote).await.unwrap_err() {
        Error::Io(error) => assert!(error.to_string().contains("Unix domain socket"), "{error}"),
        other => panic!("{other:?}"),
    }
}
