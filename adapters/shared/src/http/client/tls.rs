//! TLS for connections to servers; knows nothing of HTTP.

use std::io;
use std::sync::Arc;

use futures_rustls::TlsConnector;
use futures_rustls::rustls::crypto::ring;
use futures_rustls::rustls::pki_types::ServerName;
use futures_rustls::rustls::{ClientConfig, RootCertStore};

use super::dial::Duplex;
use super::remote::Remote;

pub(super) struct Tls {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl Tls {
    pub(super) fn new(remote: &Remote) -> io::Result<Self> {
        let name = ServerName::try_from(remote.host.clone()).map_err(io::Error::other)?;
        let config = match &remote.tls {
            Some(config) => Arc::clone(config),
            None => Arc::new(the_webs()?),
        };
        Ok(Self { connector: TlsConnector::from(config), name })
    }

    pub(super) async fn secure(&self, stream: Box<dyn Duplex>) -> io::Result<Box<dyn Duplex>> {
        Ok(Box::new(self.connector.connect(self.name.clone(), stream).await?))
    }
}

/// Trusts whom browsers trust.
fn the_webs() -> io::Result<ClientConfig> {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
