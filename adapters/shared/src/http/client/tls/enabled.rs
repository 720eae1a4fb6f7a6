//! TLS connections to servers, with the `tls` feature.

use std::io;
use std::sync::Arc;

use futures_rustls::TlsConnector;
use futures_rustls::rustls::crypto::ring;
use futures_rustls::rustls::pki_types::ServerName;
use futures_rustls::rustls::{ClientConfig, RootCertStore};

use crate::http::client::dial::ByteStream;

/// The TLS configuration of a remote server. By default it trusts the web's root certificates.
#[derive(Clone, Default)]
pub(in crate::http::client) struct TlsConfig(Option<Arc<ClientConfig>>);

impl TlsConfig {
    pub(in crate::http::client) fn new(config: Arc<ClientConfig>) -> Self {
        Self(Some(config))
    }
}

/// Encrypts the connections to a server at an `https` URL.
pub(in crate::http::client) struct Tls(Option<(TlsConnector, ServerName<'static>)>);

impl Tls {
    pub(in crate::http::client) fn new(
        is_secure: bool,
        host: &str,
        config: &TlsConfig,
    ) -> io::Result<Self> {
        if !is_secure {
            return Ok(Self(None));
        }
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let config = match config {
            TlsConfig(Some(config)) => Arc::clone(config),
            TlsConfig(None) => Arc::new(trusting_web_roots()?),
        };
        Ok(Self(Some((TlsConnector::from(config), name))))
    }

    /// Performs the TLS handshake if the URL is `https`.
    pub(in crate::http::client) async fn secure(
        &self,
        stream: Box<dyn ByteStream>,
    ) -> io::Result<Box<dyn ByteStream>> {
        match &self.0 {
            Some((connector, name)) => Ok(Box::new(connector.connect(name.clone(), stream).await?)),
            None => Ok(stream),
        }
    }
}

/// Returns a configuration that trusts the root certificates of the web.
fn trusting_web_roots() -> io::Result<ClientConfig> {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
