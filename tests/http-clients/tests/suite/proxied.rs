//! Connections through an HTTP proxy, which resolves the names of hosts.

use std::net::{Ipv4Addr, TcpListener};

use mcp_adapter::Error;
use mcp_adapter::auth::{Auth, Browser, MemoryStore};
use mcp_adapter::http::{Proxy, ProxyError, Remote};
use mcp_adapter_tests::{rows, success};
use mcp_http_client_tests::{
    ForwardProxy, Guarded, OverHttp, PLANTED, Site, Trust, agreed, browse, legacy, modern,
};
use serde_json::json;

use crate::{legacy_client, modern_client};

rows! {
    http_requests_are_forwarded,
    https_requests_pass_through_a_tunnel,
    authorization_uses_the_proxy_aut_34,
    a_proxy_that_wants_other_credentials_is_named,
    a_proxy_that_opens_no_tunnel_is_named,
    a_response_of_a_proxy_is_bounded,
    exceptions_are_connected_to_directly,
    this_machine_is_connected_to_directly,
    an_unusable_proxy_of_the_environment_is_named,
}

/// The field for the user `ada` with the password `PLANTED`.
const ADA: &str = "Basic YWRhOlBMQU5URUQ=";

/// Returns a proxy that lets in `ada` only, as the environment names it.
fn environment(proxy: &ForwardProxy, no_proxy: &str) -> Proxy {
    let url = proxy.url("ada:PLANTED@");
    Proxy::from_lookup(|name| match name {
        "all_proxy" => Some(url.clone()),
        "no_proxy" => Some(no_proxy.to_owned()),
        _ => None,
    })
}

/// Returns why a connection through a proxy was not opened.
async fn refused<R: OverHttp>(remote: Remote) -> ProxyError {
    let error = R::connect_http(modern_client(), remote).await.unwrap_err();
    assert!(!format!("{error} {error:?}").contains(PLANTED), "{error:?}");
    let cause = match error {
        Error::Start { http: Some(http), .. } => http.cause.unwrap(),
        Error::Io(cause) => cause,
        other => panic!("{other:?}"),
    };
    cause.get_ref().and_then(|cause| cause.downcast_ref::<ProxyError>()).unwrap().clone()
}

async fn http_requests_are_forwarded<R: OverHttp>() {
    let site = Site::new(legacy);
    let proxy = ForwardProxy::guarded(site.port(), ADA);
    let remote = Remote::new("http://mcp.example/mcp?key=1").unwrap();
    let remote = remote.proxy(environment(&proxy, ""));
    assert!(!format!("{remote:?}").contains(PLANTED));
    let connection = R::connect_http(legacy_client(), remote).await.unwrap();
    for _ in 0..3 {
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "a"})).await), "a");
    }
    connection.close().await.unwrap();
    assert_eq!(site.of("tools/call").len(), 3);
    assert_eq!(site.of("DELETE").len(), 1);
    for request in site.heard() {
        assert_eq!(
            (request.path.as_str(), request.field("host")),
            ("/mcp?key=1", Some("mcp.example"))
        );
    }
    let lines = proxy.request_lines();
    let target = " http://mcp.example/mcp?key=1 HTTP/1.1";
    assert!(lines.iter().all(|line| line.ends_with(target)), "{lines:?}");
}

async fn https_requests_pass_through_a_tunnel<R: OverHttp>() {
    let trust = Trust::new();
    let site = trust.site(modern);
    let proxy = ForwardProxy::guarded(site.port(), ADA);
    let remote = Remote::new("https://mcp.example:8443/mcp").unwrap().tls(trust.client());
    let remote = remote.proxy(environment(&proxy, "")).authorization(|| Some("Bearer t".into()));
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    for _ in 0..3 {
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "a"})).await), "a");
    }
    connection.close().await.unwrap();
    let heads = proxy.heads();
    assert_eq!(heads.len(), 1, "{heads:?}");
    assert!(heads[0].starts_with("CONNECT mcp.example:8443 HTTP/1.1\r\n"), "{heads:?}");
    assert!(heads[0].contains("host: mcp.example:8443\r\n"), "{heads:?}");
    assert!(!heads[0].contains("\r\nauthorization:"), "{heads:?}");
    for request in site.heard() {
        assert_eq!(request.field("proxy-authorization"), None);
        assert_eq!(request.field("authorization"), Some("Bearer t"));
    }
    // The proxy cannot stand in for the server.
    let remote = Remote::new("https://other.example/mcp").unwrap().tls(trust.client());
    let remote = remote.proxy(environment(&proxy, ""));
    let error = R::connect_http(modern_client(), remote).await.unwrap_err();
    assert!(error.to_string().contains("certificate"), "{error}");
}

async fn authorization_uses_the_proxy_aut_34<R: OverHttp>() {
    let trust = Trust::new();
    let server = Guarded::secure(&trust);
    let proxy = ForwardProxy::guarded(server.site.port(), ADA);
    let browser = Browser::custom(|url| browse(&agreed(url.expose())).map(drop));
    let auth = Auth::user("row").store(MemoryStore::new()).browser(browser);
    let remote = Remote::new("https://mcp.example/mcp").unwrap().tls(trust.client());
    let remote = remote.proxy(environment(&proxy, "")).authorized(auth);
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "a"})).await), "a");
    connection.close().await.unwrap();
    assert_eq!((server.count("/register"), server.count("/token")), (1, 1));
    for request in server.site.heard() {
        assert_eq!(request.field("proxy-authorization"), None);
    }
    let heads = proxy.heads();
    // A tunnel for the MCP server, and one for each of two documents, a client and a token.
    assert_eq!(heads.len(), 5, "{heads:?}");
    for head in heads {
        assert!(head.starts_with("CONNECT mcp.example:443 HTTP/1.1\r\n"), "{head}");
        assert!(!head.contains(PLANTED), "{head}");
    }
}

async fn a_proxy_that_wants_other_credentials_is_named<R: OverHttp>() {
    let site = Site::new(modern);
    let proxy = ForwardProxy::guarded(site.port(), ADA);
    for scheme in ["http", "https"] {
        for (user, had_credentials) in [("", false), ("bob:PLANTED@", true)] {
            let remote = Remote::new(&format!("{scheme}://mcp.example/mcp")).unwrap();
            let remote = remote.proxy(Proxy::all(&proxy.url(user)).unwrap());
            let error = refused::<R>(remote).await;
            let name = proxy.address().to_string();
            assert_eq!(error, ProxyError::CredentialsRequired { proxy: name, had_credentials });
        }
    }
    assert!(site.heard().is_empty());
}

async fn a_proxy_that_opens_no_tunnel_is_named<R: OverHttp>() {
    let remote = |proxy: &str| {
        let remote = Remote::new("https://mcp.example/mcp").unwrap();
        remote.proxy(Proxy::all(proxy).unwrap())
    };
    let proxy = ForwardProxy::scripted("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
    let error = refused::<R>(remote(&proxy.url(""))).await;
    let (name, target) = (proxy.address().to_string(), "mcp.example:443".to_owned());
    assert_eq!(error, ProxyError::Refused { proxy: name, target, status: 403 });
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let closed = listener.local_addr().unwrap().to_string();
    drop(listener);
    match refused::<R>(remote(&closed)).await {
        ProxyError::Unreachable { proxy, .. } => assert_eq!(proxy, closed),
        other => panic!("{other}"),
    }
}

async fn a_response_of_a_proxy_is_bounded<R: OverHttp>() {
    let endless = format!("HTTP/1.1 200 OK\r\nx: {}", "a".repeat(64 << 10));
    let early = "HTTP/1.1 200 OK\r\n\r\nearly".to_owned();
    for response in [endless, early, "SSH-2.0-x\r\n".to_owned()] {
        let proxy = ForwardProxy::scripted(response);
        let remote = Remote::new("https://mcp.example/mcp").unwrap();
        let remote = remote.proxy(Proxy::all(&proxy.url("")).unwrap());
        let error = refused::<R>(remote).await;
        assert!(matches!(error, ProxyError::Unreachable { .. }), "{error}");
    }
}

async fn exceptions_are_connected_to_directly<R: OverHttp>() {
    let site = Site::new(modern);
    let proxy = ForwardProxy::guarded(site.port(), ADA);
    // This address leads to this machine, but is not one of its addresses.
    let url = format!("http://0.0.0.0:{}/mcp", site.port());
    for (no_proxy, uses_proxy) in [("mcp.example,0.0.0.0/8", false), ("mcp.example", true)] {
        let remote = Remote::new(&url).unwrap().proxy(environment(&proxy, no_proxy));
        let connection = R::connect_http(modern_client(), remote).await.unwrap();
        connection.close().await.unwrap();
        assert_eq!(!proxy.heads().is_empty(), uses_proxy, "{no_proxy}");
    }
}

async fn this_machine_is_connected_to_directly<R: OverHttp>() {
    let site = Site::new(modern);
    let proxy = ForwardProxy::new(site.port());
    let remote = site.remote().proxy(environment(&proxy, ""));
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    connection.close().await.unwrap();
    assert!(proxy.heads().is_empty());
}

async fn an_unusable_proxy_of_the_environment_is_named<R: OverHttp>() {
    let proxy = Proxy::from_lookup(|name| {
        (name == "HTTPS_PROXY").then(|| "socks5://ada:PLANTED@proxy.example".to_owned())
    });
    let error = refused::<R>(Remote::new("https://mcp.example/mcp").unwrap().proxy(proxy)).await;
    assert!(matches!(&error, ProxyError::UnsupportedScheme { .. }), "{error}");
    assert!(error.to_string().contains("`HTTPS_PROXY`"), "{error}");
}
