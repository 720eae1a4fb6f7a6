//! TLS connections to servers, with the `tls` feature.

use std::io;
use std::sync::{Arc, OnceLock};

use futures_rustls::TlsConnector;
use futures_rustls::rustls::crypto::ring;
use futures_rustls::rustls::pki_types::ServerName;
use futures_rustls::rustls::{ClientConfig, RootCertStore};

use crate::http::client::dial::ByteStream;

/// The TLS configuration of a remote server. By default it trusts the web's root certificates.
#[derive(Clone, Default)]
pub(crate) struct TlsConfig(Option<Arc<ClientConfig>>);

impl TlsConfig {
    pub(crate) fn new(config: Arc<ClientConfig>) -> Self {
        Self(Some(config))
    }

    /// Returns whether both are the default, or one object.
    #[cfg(feature = "auth")]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            _ => false,
        }
    }
}

/// Encrypts the connections to a server at an `https` URL.
pub(crate) struct Tls(Option<(TlsConnector, ServerName<'static>)>);

impl Tls {
    pub(crate) fn new(is_secure: bool, host: &str, config: &TlsConfig) -> io::Result<Self> {
        if !is_secure {
            return Ok(Self(None));
        }
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let config = match config {
            TlsConfig(Some(config)) => Arc::clone(config),
            TlsConfig(None) => default_config()?,
        };
        Ok(Self(Some((TlsConnector::from(config), name))))
    }

    /// Performs the TLS handshake if the URL is `https`.
    pub(crate) async fn secure(
        &self,
        stream: Box<dyn ByteStream>,
    ) -> io::Result<Box<dyn ByteStream>> {
        match &self.0 {
            Some((connector, name)) => Ok(Box::new(connector.connect(name.clone(), stream).await?)),
            None => Ok(stream),
        }
    }
}

/// Returns the default configuration, which is built once: it holds all root certificates, and the
/// sessions to resume.
fn default_config() -> io::Result<Arc<ClientConfig>> {
    static DEFAULT: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = DEFAULT.get() {
        return Ok(Arc::clone(config));
    }
    let config = Arc::new(trusting_web_roots()?);
    Ok(Arc::clone(DEFAULT.get_or_init(|| config)))
}

/// Returns a configuration that trusts the root certificates of the web.
fn trusting_web_roots() -> io::Result<ClientConfig> {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_configuration_is_built_once() {
        let config = || default_config().unwrap();
        assert!(Arc::ptr_eq(&config(), &config()));
    }
}
