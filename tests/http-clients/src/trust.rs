//! A self-signed certificate, for servers and for the clients that trust it.

use std::net::TcpStream;
use std::sync::Arc;

use base64ct::{Base64, Encoding as _};
use futures_rustls::rustls::crypto::ring;
use futures_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use futures_rustls::rustls::server::WebPkiClientVerifier;
use futures_rustls::rustls::{
    ClientConfig, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
};

use mcp_adapter::http::ClientIdentity;

use crate::answer::{Answer, Wire};
use crate::request::Request;
use crate::site::Site;

/// A certificate for `localhost` and `mcp.example`.
#[derive(Debug)]
pub struct Trust {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
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
        let der = made.signing_key.serialize_der();
        let client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let key = PrivateKeyDer::Pkcs8(der.clone().into());
        let server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .unwrap();
        Self { client: Arc::new(client), server: Arc::new(server), certificate, key: der }
    }

    /// Returns a client configuration that trusts the certificate.
    #[must_use]
    pub fn client(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.client)
    }

    /// Returns the certificate in PEM.
    #[must_use]
    pub fn pem(&self) -> String {
        let (label, text) = ("CERTIFICATE-----", Base64::encode_string(&self.certificate));
        format!("-----BEGIN {label}\n{text}\n-----END {label}\n")
    }

    /// Starts a site with the certificate.
    pub fn site(&self, play: impl Fn(&Request, &mut Answer<'_>) + Send + Sync + 'static) -> Site {
        Self::site_with(Arc::clone(&self.server), play)
    }

    /// Starts a site with the certificate, whose clients need a certificate that `clients` has
    /// issued, which is the one of `clients` itself.
    pub fn guarded_site(
        &self,
        clients: &Self,
        play: impl Fn(&Request, &mut Answer<'_>) + Send + Sync + 'static,
    ) -> Site {
        let mut roots = RootCertStore::empty();
        roots.add(clients.certificate.clone()).unwrap();
        let provider = Arc::new(ring::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                .build()
                .unwrap();
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![self.certificate.clone()], self.private_key())
            .unwrap();
        Self::site_with(Arc::new(config), play)
    }

    /// Returns the certificate as the identity of a client.
    #[must_use]
    pub fn identity(&self) -> ClientIdentity {
        ClientIdentity::new(vec![self.certificate.clone()], self.private_key()).unwrap()
    }

    /// Returns a server configuration that chooses among these protocols.
    #[must_use]
    pub fn server(&self, protocols: &[&str]) -> Arc<ServerConfig> {
        let mut config = ServerConfig::clone(&self.server);
        config.alpn_protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
        Arc::new(config)
    }

    fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::Pkcs8(self.key.clone().into())
    }

    fn site_with(
        config: Arc<ServerConfig>,
        play: impl Fn(&Request, &mut Answer<'_>) + Send + Sync + 'static,
    ) -> Site {
        let secure = move |socket: TcpStream| {
            let session = ServerConnection::new(Arc::clone(&config)).ok()?;
            Some(Box::new(StreamOwned::new(session, socket)) as Box<dyn Wire>)
        };
        Site::listening(Arc::new(secure), Arc::new(play))
    }
}
