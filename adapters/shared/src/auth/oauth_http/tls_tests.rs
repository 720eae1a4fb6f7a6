//! Tests of requests over TLS.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread;

use futures_lite::future::block_on;
use futures_rustls::rustls::crypto::ring;
use futures_rustls::rustls::pki_types::PrivateKeyDer;
use futures_rustls::rustls::{
    ClientConfig, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
};
use mcp_proto::auth::Reach;

use super::tests::{TestRuntime, uri};
use super::*;

/// Starts a server with a certificate for `as.example`, and returns a client's trust in it.
fn secure_server() -> (SocketAddr, Arc<ClientConfig>) {
    let made = rcgen::generate_simple_self_signed(["as.example".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let provider = Arc::new(ring::default_provider());
    let client = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let server = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let server = Arc::new(server);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let session = ServerConnection::new(Arc::clone(&server)).unwrap();
            let mut stream = StreamOwned::new(session, socket);
            let mut request = [0; 1024];
            if stream.read(&mut request).is_ok_and(|read| read > 0) {
                let response = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecure";
                let _gone = stream.write_all(response.as_bytes());
            }
        }
    });
    (address, Arc::new(client))
}

// AUT-29
#[test]
fn only_a_server_with_a_trusted_certificate_of_its_name_is_asked() {
    let (address, trust) = secure_server();
    let mut runtime = TestRuntime::default();
    runtime.names.insert("as.example", vec![address]);
    runtime.names.insert("other.example", vec![address]);
    let runtime = Arc::new(runtime);
    let (_, stranger) = secure_server();
    let send = |host: &str, trust: Option<&Arc<ClientConfig>>| {
        let remote = Remote::new("https://mcp.example/").unwrap();
        let remote = match trust {
            Some(trust) => remote.tls(Arc::clone(trust)),
            None => remote,
        };
        let http = OAuthHttp::new(Arc::clone(&runtime) as _, &remote, AuthLimits::default());
        let url = uri(&format!("https://{host}:{}/token", address.port()));
        block_on(http.send(&OAuthRequest::get(url, Reach::Loopback)))
    };
    assert_eq!(**send("as.example", Some(&trust)).unwrap().body.unwrap(), *b"secure");
    for (host, trust) in [
        ("other.example", Some(&trust)),
        ("127.0.0.1", Some(&trust)),
        ("as.example", Some(&stranger)),
        ("as.example", None),
    ] {
        let failure = send(host, trust).unwrap_err();
        assert!(matches!(failure, OAuthFailure::Unreached(_)), "{failure}");
        assert!(failure.to_string().contains("certificate"), "{failure}");
    }
}
