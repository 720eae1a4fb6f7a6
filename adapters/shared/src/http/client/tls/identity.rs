//! [`ClientIdentity`]: the certificate with which a client authenticates itself.

use std::io;
use std::sync::Arc;

use futures_rustls::rustls::crypto::ring;
use futures_rustls::rustls::pki_types::pem::PemObject as _;
use futures_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use futures_rustls::rustls::sign::{CertifiedKey, SingleCertAndKey};

/// A certificate of the client and its private key, for
/// [`Remote::client_identity`](crate::http::Remote::client_identity) (feature `tls`).
///
/// Cheap to clone: all clones share the key, which is never shown.
///
/// ```no_run
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::http::{ClientIdentity, Remote};
///
/// # fn main() -> std::io::Result<()> {
/// let (chain, key) = (std::fs::read("client.pem")?, std::fs::read("client.key")?);
/// let identity = ClientIdentity::from_pem(&chain, &key)?;
/// let remote = Remote::new("https://mcp.example.com/mcp")?.client_identity(identity);
/// # drop(remote);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ClientIdentity(Arc<CertifiedKey>);

impl ClientIdentity {
    /// Reads an identity in PEM: the client's certificate and those that lead to its root, in this
    /// order, and the private key in PKCS #8, PKCS #1 or SEC 1. Both arguments may be one file.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::InvalidInput`] if there is no certificate or no key, or as
    /// [`new`](Self::new) does. The error contains no part of the key.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> io::Result<Self> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
        let chain = chain.map_err(|_| invalid("the certificates are not valid PEM"))?;
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|_| invalid("there is no private key in valid PEM"))?;
        Self::new(chain, key)
    }

    /// Creates an identity from a chain of certificates, the client's first, and its key.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::InvalidInput`] if the chain is empty, if the key is not an RSA
    /// key of at least 2048 bits, an ECDSA key on P-256 or P-384, or an Ed25519 key, or if it does
    /// not belong to the first certificate.
    pub fn new(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> io::Result<Self> {
        if chain.is_empty() {
            return Err(invalid("a client identity needs a certificate"));
        }
        let certified = CertifiedKey::from_der(chain, key, &ring::default_provider())
            .map_err(|error| invalid(&format!("invalid client identity: {error}")))?;
        Ok(Self(Arc::new(certified)))
    }

    /// Returns the certificates and their key.
    #[cfg(feature = "auth")]
    pub(super) const fn certified(&self) -> &Arc<CertifiedKey> {
        &self.0
    }

    /// Returns what presents the certificate to each server that asks for one.
    pub(super) fn resolver(&self) -> Arc<SingleCertAndKey> {
        Arc::new(SingleCertAndKey::from(Arc::clone(&self.0)))
    }
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

// Shows neither the key nor the certificates.
opaque_debug!(ClientIdentity);

#[cfg(test)]
mod tests {
    use base64ct::{Base64, Encoding as _};

    use super::ClientIdentity;

    fn pem() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(["client".to_owned()]).unwrap();
        let key = made.signing_key.serialize_der();
        (encoded("CERTIFICATE", made.cert.der()), encoded("PRIVATE KEY", &key))
    }

    fn encoded(label: &str, der: &[u8]) -> String {
        let lines = Base64::encode_string(der);
        let lines: Vec<_> = lines.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
        format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
    }

    #[test]
    fn certificate_and_key_may_be_one_file() {
        let (chain, key) = pem();
        let both = format!("{key}{chain}");
        for (chain, key) in [(&chain, &key), (&both, &both)] {
            let identity = ClientIdentity::from_pem(chain.as_bytes(), key.as_bytes()).unwrap();
            assert_eq!(format!("{identity:?}"), "ClientIdentity { .. }");
        }
    }

    #[test]
    fn unusable_identities_are_refused_without_their_key() {
        let ((chain, key), (other, _)) = (pem(), pem());
        let cut = key.replace("-----END", "-----EN");
        for (chain, key, expected) in [
            ("", &*key, "certificate"),
            (&*chain, "", "private key"),
            (&chain, &chain, "private key"),
            (&chain, &cut, "private key"),
            (&other, &key, "invalid client identity"),
        ] {
            let error = ClientIdentity::from_pem(chain.as_bytes(), key.as_bytes()).unwrap_err();
            let error = format!("{error} {error:?}");
            assert!(error.contains(expected), "{error}");
            assert!(key.lines().all(|line| line.len() < 32 || !error.contains(line)), "{error}");
        }
    }
}
