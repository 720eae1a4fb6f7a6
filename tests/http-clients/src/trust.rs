//! A self-signed certificate, for servers and for the clients that trust it.

use std::net::TcpStream;
use std::sync::Arc;

use futures_rustls::rustls::crypto::ring;
use futures_rustls::rustls::pki_types::PrivateKeyDer;
use futures_rustls::rustls::{
    ClientConfig, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
};

use crate::answer::{Answer, Wire};
use crate::request::Request;
use crate::site::Site;

/// A certificate for `localhost` and `mcp.example`.
#[derive(Debug)]
pub struct Trust {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
}

impl Trust {
    /// Creates a certificate.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "each certificate differs")]
    pub fn new() -> Self {
        let names = ["localhost", "mcp.example"].map(str::to_owned);
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        let certificate = made.cert.der().clone();
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).unwrap();
        let client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        Self { client: Arc::new(client), server: Arc::new(server) }
    }

    /// Returns a client configuration that trusts the certificate.
    #[must_use]
    pub fn client(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.client)
    }

    /// Starts a site with the certificate.
    pub fn site(&self, play: impl Fn(&Request, &mut Answer<'_>) + Send + Sync + 'static) -> Site {
        let config = Arc::clone(&self.server);
        let secure = move |socket: TcpStream| {
            let session = ServerConnection::new(Arc::clone(&config)).ok()?;
            Some(Box::new(StreamOwned::new(session, socket)) as Box<dyn Wire>)
        };
        Site::listening(Arc::new(secure), Arc::new(play))
    }
}
