//! TLS connections to servers, with the `tls` feature.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

#[cfg(feature = "auth")]
use base64ct::{Base64UrlUnpadded, Encoding as _};
use futures_rustls::TlsConnector;
#[cfg(feature = "auth")]
use futures_rustls::rustls::SignatureScheme;
use futures_rustls::rustls::client::Resumption;
use futures_rustls::rustls::crypto::ring;
use futures_rustls::rustls::pki_types::pem::PemObject as _;
use futures_rustls::rustls::pki_types::{CertificateDer, ServerName};
use futures_rustls::rustls::{ClientConfig, RootCertStore};

#[cfg(feature = "auth")]
use ::ring::digest::{SHA256, digest};

use super::identity::ClientIdentity;
use crate::http::dial::ByteStream;

/// The signatures that a certificate may be asked for with.
#[cfg(feature = "auth")]
const SCHEMES: [SignatureScheme; 7] = [
    SignatureScheme::ECDSA_NISTP256_SHA256,
    SignatureScheme::ECDSA_NISTP384_SHA384,
    SignatureScheme::ED25519,
    SignatureScheme::RSA_PSS_SHA256,
    SignatureScheme::RSA_PSS_SHA384,
    SignatureScheme::RSA_PSS_SHA512,
    SignatureScheme::RSA_PKCS1_SHA256,
];

/// The TLS configuration of a remote server. By default it trusts the web's root certificates.
#[derive(Clone, Default)]
pub(crate) struct TlsConfig {
    config: Option<Arc<ClientConfig>>,
    /// The certificates that `config` trusts in addition to the default, if it was made of them.
    roots: Vec<CertificateDer<'static>>,
    identity: Option<ClientIdentity>,
}

impl TlsConfig {
    #[cfg(feature = "auth")]
    pub(crate) fn new(config: Arc<ClientConfig>) -> Self {
        Self { config: Some(config), ..Self::default() }
    }

    pub(in crate::http::client) fn add_roots(&mut self, pem: &[u8]) -> io::Result<()> {
        self.roots.extend(certificates(pem)?);
        self.config = Some(Arc::new(trusting(default_roots()?, &self.roots)?));
        Ok(())
    }

    pub(in crate::http::client) fn set_config(&mut self, config: Arc<ClientConfig>) {
        self.config = Some(config);
        self.roots.clear();
    }

    pub(in crate::http::client) fn set_identity(&mut self, identity: ClientIdentity) {
        self.identity = Some(identity);
    }

    pub(in crate::http::client) const fn has_identity(&self) -> bool {
        self.identity.is_some()
    }

    /// Returns the configuration for other servers, which do not receive the client's certificate.
    #[cfg(feature = "auth")]
    pub(in crate::http::client) fn without_identity(&self) -> Self {
        Self { identity: None, ..self.clone() }
    }

    /// Returns the fingerprint of the certificate that the client presents, if it has one.
    #[cfg(feature = "auth")]
    pub(in crate::http::client) fn certificate(&self) -> Option<String> {
        let certified = match (&self.identity, &self.config) {
            (Some(identity), _) => Arc::clone(identity.certified()),
            (None, Some(config)) => config.client_auth_cert_resolver.resolve(&[], &SCHEMES)?,
            (None, None) => return None,
        };
        let digest = digest(&SHA256, certified.cert.first()?);
        Some(Base64UrlUnpadded::encode_string(digest.as_ref()))
    }

    /// Returns whether both are the default, or one object.
    #[cfg(feature = "auth")]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.config, &other.config) {
            (None, None) => true,
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            _ => false,
        }
    }

    /// Returns the configuration with the identity, and with the protocols to offer.
    fn whole(&self, offers_http2: bool) -> io::Result<Arc<ClientConfig>> {
        let base = match &self.config {
            Some(config) => Arc::clone(config),
            None => default_config()?,
        };
        let is_http2 = |protocol: &Vec<u8>| protocol == b"h2";
        let mut protocols = base.alpn_protocols.clone();
        if !offers_http2 {
            protocols.retain(|protocol| !is_http2(protocol));
        } else if protocols.is_empty() {
            protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        }
        if self.identity.is_none() && protocols == base.alpn_protocols {
            return Ok(base);
        }
        let mut config = ClientConfig::clone(&base);
        config.alpn_protocols = protocols;
        if let Some(identity) = &self.identity {
            config.client_auth_cert_resolver = identity.resolver();
            // No session of one identity is resumed by another.
            config.resumption = Resumption::default();
        }
        Ok(Arc::new(config))
    }
}

/// Encrypts the connections to a server at an `https` URL.
pub(crate) struct Tls(Option<(TlsConnector, ServerName<'static>)>);

impl Tls {
    pub(crate) fn new(
        is_secure: bool,
        host: &str,
        config: &TlsConfig,
        offers_http2: bool,
    ) -> io::Result<Self> {
        if !is_secure {
            return Ok(Self(None));
        }
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(Self(Some((TlsConnector::from(config.whole(offers_http2)?), name))))
    }

    /// Performs the TLS handshake if the URL is `https`.
    #[cfg(feature = "auth")]
    pub(crate) async fn secure(
        &self,
        stream: Box<dyn ByteStream>,
    ) -> io::Result<Box<dyn ByteStream>> {
        Ok(self.negotiate(stream).await?.0)
    }

    /// Performs the TLS handshake if the URL is `https`. Returns also whether the server has chosen
    /// HTTP/2.
    pub(crate) async fn negotiate(
        &self,
        stream: Box<dyn ByteStream>,
    ) -> io::Result<(Box<dyn ByteStream>, bool)> {
        let Some((connector, name)) = &self.0 else { return Ok((stream, false)) };
        let stream = connector.connect(name.clone(), stream).await.map_err(with_remedy)?;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok((Box::new(stream), is_http2))
    }
}

/// Returns the default configuration, which is built once: it holds all root certificates, and the
/// sessions to resume.
fn default_config() -> io::Result<Arc<ClientConfig>> {
    static DEFAULT: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = DEFAULT.get() {
        return Ok(Arc::clone(config));
    }
    let config = Arc::new(trusting(default_roots()?, &[])?);
    Ok(Arc::clone(DEFAULT.get_or_init(|| config)))
}

/// Returns the root certificates in the file that `SSL_CERT_FILE` names, or those of the web.
fn default_roots() -> io::Result<RootCertStore> {
    roots_of(std::env::var_os("SSL_CERT_FILE").map(PathBuf::from))
}

fn roots_of(file: Option<PathBuf>) -> io::Result<RootCertStore> {
    let Some(file) = file.filter(|file| !file.as_os_str().is_empty()) else {
        return Ok(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() });
    };
    let read = std::fs::read(&file).and_then(|pem| certificates(&pem));
    let read = read.map_err(|error| {
        let why = format!("cannot read the certificates of `SSL_CERT_FILE`, {}", file.display());
        io::Error::new(error.kind(), format!("{why}: {error}"))
    })?;
    let mut roots = RootCertStore::empty();
    // Systems also list certificates that are of no use here.
    roots.add_parsable_certificates(read);
    Ok(roots)
}

/// Reads certificates in PEM, at least one.
fn certificates(pem: &[u8]) -> io::Result<Vec<CertificateDer<'static>>> {
    let invalid = |why| io::Error::new(io::ErrorKind::InvalidInput, why);
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let read = read.map_err(|_| invalid("the certificates are not valid PEM"))?;
    if read.is_empty() { Err(invalid("there is no certificate in PEM")) } else { Ok(read) }
}

/// Adds how to trust the issuer of a server's certificate to the error that it is unknown.
fn with_remedy(error: io::Error) -> io::Error {
    use futures_rustls::rustls::{CertificateError, Error};
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<Error>());
    match cause {
        // A bad signature: another authority has the name of the issuer.
        Some(Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        )) => {
            let why = format!(
                "{error}: trust the certificate of the issuer with `Remote::root_certificate` or \
                 in the file that `SSL_CERT_FILE` names"
            );
            io::Error::new(error.kind(), why)
        }
        _ => error,
    }
}

/// Returns a configuration that trusts these root certificates and `more`.
fn trusting(
    mut roots: RootCertStore,
    more: &[CertificateDer<'static>],
) -> io::Result<ClientConfig> {
    for certificate in more {
        roots.add(certificate.clone()).map_err(|error| {
            let why = format!("invalid root certificate: {error}");
            io::Error::new(io::ErrorKind::InvalidInput, why)
        })?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use base64ct::{Base64, Encoding as _};

    use super::*;

    #[test]
    fn the_default_configuration_is_built_once() {
        let config = || default_config().unwrap();
        assert!(Arc::ptr_eq(&config(), &config()));
    }

    #[test]
    fn roots_come_from_the_named_file_or_the_web() {
        let web = webpki_roots::TLS_SERVER_ROOTS.len();
        for unset in [None, Some(PathBuf::new())] {
            assert_eq!(roots_of(unset).unwrap().len(), web);
        }
        let directory = std::env::temp_dir();
        let file = |name: &str| directory.join(format!("mcp-roots-{}-{name}", std::process::id()));
        let made = rcgen::generate_simple_self_signed(["ca".to_owned()]).unwrap();
        let (good, empty, missing) = (file("good"), file("empty"), file("missing"));
        let (label, text) = ("CERTIFICATE-----", Base64::encode_string(made.cert.der()));
        let pem = format!("# The CA\n-----BEGIN {label}\n{text}\n-----END {label}\n");
        std::fs::write(&good, pem).unwrap();
        std::fs::write(&empty, "nothing").unwrap();
        let read = roots_of(Some(good.clone()));
        let errors = [&empty, &missing].map(|file| roots_of(Some(file.clone())).unwrap_err());
        std::fs::remove_file(good).unwrap();
        std::fs::remove_file(&empty).unwrap();
        assert_eq!(read.unwrap().len(), 1);
        for (error, file) in errors.iter().zip([empty, missing]) {
            let error = error.to_string();
            assert!(error.contains("SSL_CERT_FILE"), "{error}");
            assert!(error.contains(&*file.to_string_lossy()), "{error}");
        }
    }
}
