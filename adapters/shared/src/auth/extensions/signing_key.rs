//! Keys that sign assertions with ES256.

use std::fmt;
use std::io;
use std::sync::Arc;

use base64ct::{Base64, Encoding as _};
use futures_rustls::rustls::pki_types::PrivatePkcs8KeyDer;
use futures_rustls::rustls::pki_types::pem::PemObject as _;
use mcp_proto::Secret;
use mcp_proto::auth::PublicKey;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};

/// The length of an ES256 signature in bytes.
pub const SIGNATURE_BYTES: usize = 64;

/// A private key for ES256: ECDSA with P-256 and SHA-256 ([RFC 7518, section 3.4]).
///
/// With such a key, a client authenticates itself without a shared secret (`private_key_jwt`).
/// `Debug` shows nothing of the key. Clones share it.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::auth::SigningKey;
///
/// // A key in a hardware module:
/// # fn ask_module(input: &[u8]) -> std::io::Result<Vec<u8>> { Ok(input.to_vec()) }
/// let key = SigningKey::external(|input| ask_module(input));
/// # drop(key);
/// ```
///
/// [RFC 7518, section 3.4]: https://www.rfc-editor.org/rfc/rfc7518#section-3.4
#[derive(Clone)]
#[must_use]
pub struct SigningKey(Signer);

#[derive(Clone)]
enum Signer {
    Key(Arc<EcdsaKeyPair>),
    External(Arc<ExternalSigner>),
}

type ExternalSigner = dyn Fn(&[u8]) -> io::Result<Vec<u8>> + Send + Sync;

impl SigningKey {
    /// Reads a private key in PKCS#8, as PEM text: `-----BEGIN PRIVATE KEY-----`.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::InvalidData`] if the text is not such a key. The error contains
    /// nothing of the text.
    pub fn from_pem(pem: impl Into<Secret>) -> io::Result<Self> {
        let pem = pem.into();
        // The parser's own errors would quote the text.
        let key = PrivatePkcs8KeyDer::from_pem_slice(pem.expose().as_bytes())
            .map_err(|_| invalid(unreadable(pem.expose())))?;
        let der = key.secret_pkcs8_der();
        let key =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &SystemRandom::new());
        let key = key.map_err(|error| {
            invalid(&format!("the private key is not usable with ES256 (P-256): {error}"))
        })?;
        Ok(Self(Signer::Key(Arc::new(key))))
    }

    /// Generates a key that lives as long as this process.
    ///
    /// Stored tokens that are bound to such a key are of no use to the next process: see
    /// [`generate_pem`](Self::generate_pem).
    ///
    /// # Errors
    /// Fails if the operating system returns no random bytes.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::auth::SigningKey;
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let key = SigningKey::generate()?;
    /// assert!(key.public_key().is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn generate() -> io::Result<Self> {
        Self::from_pem(Self::generate_pem()?)
    }

    /// Generates a private key as PEM text, to keep and to pass to [`from_pem`](Self::from_pem).
    ///
    /// # Errors
    /// Fails if the operating system returns no random bytes.
    pub fn generate_pem() -> io::Result<Secret> {
        let random = SystemRandom::new();
        let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
        let der = der.map_err(|_| io::Error::other("generating a key for ES256 failed"))?;
        let text = Secret::new(Base64::encode_string(der.as_ref()));
        let mut pem = String::with_capacity(2 * text.len() + 64);
        pem.push_str("-----BEGIN PRIVATE KEY-----\n");
        let mut rest = text.expose();
        while !rest.is_empty() {
            let (line, next) = rest.split_at(rest.len().min(64));
            pem.push_str(line);
            pem.push('\n');
            rest = next;
        }
        pem.push_str("-----END PRIVATE KEY-----\n");
        Ok(Secret::new(pem))
    }

    /// Signs with a function, for a key that cannot be exported.
    ///
    /// `sign` receives the bytes to sign and returns the 64 bytes of the signature: R and S, each
    /// as 32 bytes in big-endian order. It runs on a separate thread and may block.
    pub fn external(sign: impl Fn(&[u8]) -> io::Result<Vec<u8>> + Send + Sync + 'static) -> Self {
        Self(Signer::External(Arc::new(sign)))
    }

    /// Signs `input`. Blocks if the function of [`external`](Self::external) does.
    ///
    /// # Errors
    /// Fails if that function fails or returns anything but 64 bytes, or if the operating system
    /// returns no random bytes.
    pub fn sign(&self, input: &[u8]) -> io::Result<[u8; SIGNATURE_BYTES]> {
        let signature = match &self.0 {
            Signer::Key(key) => {
                let signed = key.sign(&SystemRandom::new(), input);
                let signed = signed.map_err(|_| io::Error::other("signing with ES256 failed"))?;
                signed.as_ref().try_into().ok()
            }
            Signer::External(sign) => {
                let signature = sign(input)?;
                let length = signature.len();
                let signature = signature.try_into().map_err(|_| {
                    invalid(&format!(
                        "the external key returned a signature of {length} bytes: ES256 needs R \
                         and S of 32 bytes each, not DER"
                    ))
                })?;
                Some(signature)
            }
        };
        signature.ok_or_else(|| io::Error::other("signing with ES256 failed"))
    }

    /// Returns the public key as an uncompressed point: the byte 4, then X and Y of 32 bytes each.
    /// `None` for an [external](Self::external) key.
    #[must_use]
    pub fn public_key(&self) -> Option<&[u8]> {
        match &self.0 {
            Signer::Key(key) => Some(key.public_key().as_ref()),
            Signer::External(_) => None,
        }
    }

    /// Returns whether both are one key: external keys are, if one is a clone of the other.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Signer::External(one), Signer::External(two)) => Arc::ptr_eq(one, two),
            _ => self.public_key().is_some() && self.public_key() == other.public_key(),
        }
    }

    /// Returns the coordinates of the public key; `None` for an external key.
    pub(super) fn coordinates(&self) -> Option<PublicKey> {
        let (x, y) = self.public_key()?.strip_prefix(&[4])?.split_at_checked(32)?;
        Some(PublicKey { x: x.try_into().ok()?, y: y.try_into().ok()? })
    }
}

/// Returns why a PEM text has no private key, and what to do.
fn unreadable(pem: &str) -> &'static str {
    if pem.contains("BEGIN EC PRIVATE KEY") {
        "the private key is not in PKCS#8: convert it with `openssl pkcs8 -topk8 -nocrypt`"
    } else if pem.contains("BEGIN ENCRYPTED PRIVATE KEY") {
        "the private key is encrypted: decrypt it with `openssl pkcs8`"
    } else {
        "no private key found: PEM text that begins with `-----BEGIN PRIVATE KEY-----` is required"
    }
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.0 {
            Signer::Key(_) => "ES256",
            Signer::External(_) => "external",
        };
        f.debug_tuple("SigningKey").field(&kind).finish()
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    /// A key that nothing else uses.
    const KEY: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJhBSHUu8PrvCS2l2
SqIADBKkOrj4ZuqESk0ImXMAF+2hRANCAARQNvs+aleU0G5T06/Xma+mMxadqSHp
ze/r4iDtwRlVAOf8p+Lx/ROooKyMNutSV5R9VQ2J1KrxoU8d8JV22/Mx
-----END PRIVATE KEY-----
";

    #[test]
    fn signatures_verify_with_the_public_key() {
        let key = SigningKey::from_pem(KEY).unwrap();
        let public = key.public_key().unwrap();
        assert_eq!((public.len(), public.first()), (65, Some(&4)));
        let signature = key.sign(b"input").unwrap();
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public);
        public.verify(b"input", &signature).unwrap();
        public.verify(b"other", &signature).unwrap_err();
    }

    #[test]
    fn generated_keys_differ_and_are_read_back() {
        let pem = SigningKey::generate_pem().unwrap();
        let [one, two] = [pem.clone(), pem].map(|pem| SigningKey::from_pem(pem).unwrap());
        assert_eq!(one.public_key(), two.public_key());
        assert_ne!(one.public_key(), SigningKey::generate().unwrap().public_key());
        let point = one.coordinates().unwrap();
        let joined = [&[4][..], &point.x, &point.y].concat();
        assert_eq!(one.public_key(), Some(&*joined));
    }

    #[test]
    fn an_external_key_returns_64_bytes() {
        let key = SigningKey::external(|input| Ok(vec![7; input.len()]));
        assert_eq!(key.sign(&[0; SIGNATURE_BYTES]).unwrap(), [7; SIGNATURE_BYTES]);
        let error = key.sign(&[0; 71]).unwrap_err().to_string();
        assert!(error.contains("71 bytes"), "{error}");
        let broken = SigningKey::external(|_| Err(io::Error::other("no token in the reader")));
        assert_eq!(broken.sign(b"input").unwrap_err().to_string(), "no token in the reader");
        assert!(broken.public_key().is_none());
    }

    // AUT-34
    #[test]
    fn errors_and_debug_contain_nothing_of_the_key() {
        let secret = "MIGHAgEAMBMGhunter2";
        for (pem, expected) in [
            (secret.to_owned(), "no private key found"),
            (format!("-----BEGIN {secret}\n"), "no private key found"),
            (format!("-----BEGIN EC PRIVATE KEY-----\n{secret}\n"), "openssl pkcs8 -topk8"),
            (format!("-----BEGIN ENCRYPTED PRIVATE KEY-----\n{secret}\n"), "is encrypted"),
            (
                format!("-----BEGIN PRIVATE KEY-----\n{secret}?\n-----END PRIVATE KEY-----\n"),
                "no private key found",
            ),
            (
                "-----BEGIN PRIVATE KEY-----\naHVudGVyMg==\n-----END PRIVATE KEY-----\n".into(),
                "not usable with ES256",
            ),
        ] {
            let error = SigningKey::from_pem(pem).unwrap_err();
            let shown = format!("{error} {error:?}");
            assert!(shown.contains(expected), "{shown}");
            assert!(!shown.contains("hunter2") && !shown.contains("MIG"), "{shown}");
        }
        let key = SigningKey::from_pem(KEY).unwrap();
        assert_eq!(format!("{key:?}"), "SigningKey(\"ES256\")");
    }
}
