//! TLS: certificate verification.

use mcp_adapter::http::Remote;
use mcp_adapter_tests::{eventually, rows, success};
use mcp_http_client_tests::{OverHttp, Trust, legacy, modern};
use serde_json::json;

use crate::{legacy_client, modern_client, quick};

rows! {
    a_trusted_server_is_used,
    a_private_authority_is_trusted_by_its_certificate,
    an_untrusted_server_receives_nothing,
    a_client_presents_its_certificate,
    a_client_without_an_accepted_certificate_is_refused,
}

async fn a_trusted_server_is_used<R: OverHttp>() {
    let trust = Trust::new();
    let site = trust.site(modern);
    let remote =
        Remote::new(&format!("https://localhost:{}/mcp", site.port())).unwrap().tls(trust.client());
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    for _ in 0..10 {
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
    }
    connection.close().await.unwrap();
    assert_eq!(site.accepted(), 1);

    let site = trust.site(legacy);
    let remote =
        Remote::new(&format!("https://localhost:{}/mcp", site.port())).unwrap().tls(trust.client());
    let connection = R::connect_http(legacy_client(), remote).await.unwrap();
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
    connection.close().await.unwrap();
    assert_eq!(site.of("DELETE").len(), 1);
    eventually("no connection is left", || site.open() == 0).await;
}

async fn a_private_authority_is_trusted_by_its_certificate<R: OverHttp>() {
    let (trust, other) = (Trust::new(), Trust::new());
    let site = trust.site(modern);
    let remote = Remote::new(&format!("https://localhost:{}/mcp", site.port())).unwrap();
    let both = format!("{}{}", other.pem(), trust.pem());
    for remote in [
        remote.clone().root_certificate(trust.pem().as_bytes()).unwrap(),
        remote.clone().root_certificate(both.as_bytes()).unwrap(),
        // One after the other, and instead of another configuration.
        remote
            .clone()
            .tls(other.client())
            .root_certificate(trust.pem().as_bytes())
            .and_then(|remote| remote.root_certificate(other.pem().as_bytes()))
            .unwrap(),
    ] {
        let connection = R::connect_http(modern_client(), remote).await.unwrap();
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
        connection.close().await.unwrap();
    }
    for remote in [remote.clone(), remote.clone().root_certificate(other.pem().as_bytes()).unwrap()]
    {
        let error = R::connect_http(modern_client().limits(quick()), remote).await.unwrap_err();
        let error = error.to_string();
        for remedy in ["Remote::root_certificate", "SSL_CERT_FILE"] {
            assert!(error.contains(remedy), "{error}");
        }
    }
    for pem in ["", "nothing", "-----BEGIN CERTIFICATE-----\n?\n-----END CERTIFICATE-----\n"] {
        let error = remote.clone().root_certificate(pem.as_bytes()).err().unwrap();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{error}");
    }
}

async fn an_untrusted_server_receives_nothing<R: OverHttp>() {
    let trust = Trust::new();
    let site = trust.site(modern);
    let at = |host: &str| Remote::new(&format!("https://{host}:{}/mcp", site.port())).unwrap();
    let stranger = Trust::new().client();
    for (remote, expected) in [
        (at("localhost"), "certificate"),
        (at("localhost").tls(stranger), "certificate"),
        (at("127.0.0.1").tls(trust.client()), "certificate"),
    ] {
        let error =
            R::connect_http(modern_client().limits(quick()), remote).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(site.heard().is_empty());
    // A server without TLS.
    let plain = mcp_http_client_tests::Site::new(modern);
    let remote = Remote::new(&format!("https://localhost:{}/mcp", plain.port()))
        .unwrap()
        .tls(trust.client());
    R::connect_http(modern_client().limits(quick()), remote).await.unwrap_err();
}

async fn a_client_presents_its_certificate<R: OverHttp>() {
    let (trust, clients) = (Trust::new(), Trust::new());
    let site = trust.guarded_site(&clients, modern);
    let remote = Remote::new(&format!("https://localhost:{}/mcp", site.port())).unwrap();
    let remotes = [
        remote.clone().tls(trust.client()).client_identity(clients.identity()),
        remote.client_identity(clients.identity()).tls(trust.client()),
    ];
    for remote in remotes {
        let connection = R::connect_http(modern_client(), remote).await.unwrap();
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
        connection.close().await.unwrap();
    }
}

async fn a_client_without_an_accepted_certificate_is_refused<R: OverHttp>() {
    let (trust, clients) = (Trust::new(), Trust::new());
    let site = trust.guarded_site(&clients, modern);
    let remote = Remote::new(&format!("https://localhost:{}/mcp", site.port())).unwrap();
    let remote = remote.tls(trust.client());
    for remote in [remote.clone(), remote.client_identity(Trust::new().identity())] {
        R::connect_http(modern_client().limits(quick()), remote).await.unwrap_err();
    }
    assert!(site.heard().is_empty());
}
