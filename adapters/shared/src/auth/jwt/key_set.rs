//! The public keys of an issuer, from a JSON Web Key Set.
//!
//! <https://www.rfc-editor.org/rfc/rfc7517>

use base64ct::{Base64UrlUnpadded, Encoding};
use mcp_proto::Raw;
use ring::signature::{self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey};

use super::algorithm::Algorithm;

/// The maximum number of keys that are kept of a set.
const KEYS_MAX: usize = 32;

/// A set of keys, of which only those for signatures of known algorithms are kept.
#[derive(Debug, Default)]
pub(super) struct KeySet(Vec<Key>);

/// A public key.
#[derive(Debug)]
pub(super) struct Key {
    id: Option<String>,
    /// The only algorithm that the key is for, if the set names one.
    algorithm: Option<Algorithm>,
    material: Material,
}

#[derive(Debug)]
enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl KeySet {
    /// Reads a set; `None` if it is malformed. Keys of other kinds are left out.
    pub(super) fn read(text: &str) -> Option<Self> {
        let keys = Raw::from_text(text).ok()?.member("keys")?;
        if !keys.as_bytes().starts_with(b"[") {
            return None;
        }
        Some(Self(keys.elements().filter_map(|key| Key::read(&key)).take(KEYS_MAX).collect()))
    }

    /// Returns the only key for a signature, by its id or else by its algorithm.
    pub(super) fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<&Key> {
        let fits = |key: &&Key| {
            key.algorithm.is_none_or(|only| only == algorithm)
                && key.material.fits(algorithm)
                && id.is_none_or(|id| key.id.as_deref() == Some(id))
        };
        let mut found = self.0.iter().filter(fits);
        found.next().filter(|_| found.next().is_none())
    }
}

impl Key {
    fn read(key: &Raw) -> Option<Self> {
        let text = |name| Some(key.member(name)?.to_text()?.into_owned());
        // A member of the wrong type is not taken for a missing one.
        if key.member("use").is_some() && text("use")? != "sig" {
            return None;
        }
        if let Some(operations) = key.member("key_ops")
            && !operations.elements().any(|it| it.to_text().as_deref() == Some("verify"))
        {
            return None;
        }
        let algorithm = match key.member("alg") {
            Some(_) => Some(Algorithm::from_name(&text("alg")?)?),
            None => None,
        };
        let bytes = |name| Base64UrlUnpadded::decode_vec(&text(name)?).ok();
        let point = |len: usize| {
            let (x, y) = (bytes("x")?, bytes("y")?);
            (x.len() == len && y.len() == len).then(|| [&[4][..], &x, &y].concat())
        };
        let material = match (&*text("kty")?, text("crv").as_deref()) {
            ("RSA", _) => Material::Rsa { n: bytes("n")?, e: bytes("e")? },
            ("EC", Some("P-256")) => Material::P256(point(32)?),
            ("EC", Some("P-384")) => Material::P384(point(48)?),
            ("OKP", Some("Ed25519")) => Material::Ed25519(bytes("x")?),
            _ => return None,
        };
        Some(Self { id: text("kid"), algorithm, material })
    }

    /// Returns whether the signature of `message` is valid.
    pub(super) fn verify(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let by = |curve, key: &[u8]| {
            UnparsedPublicKey::new(curve, key).verify(message, signature).is_ok()
        };
        match (&self.material, algorithm) {
            (Material::Rsa { n, e }, Algorithm::Rs256) => {
                verify_rsa(&signature::RSA_PKCS1_2048_8192_SHA256, n, e, message, signature)
            }
            (Material::Rsa { n, e }, Algorithm::Ps256) => {
                verify_rsa(&signature::RSA_PSS_2048_8192_SHA256, n, e, message, signature)
            }
            (Material::P256(key), Algorithm::Es256) => by(
                &signature::ECDSA_P256_SHA256_FIXED as &dyn signature::VerificationAlgorithm,
                key,
            ),
            (Material::P384(key), Algorithm::Es384) => by(&signature::ECDSA_P384_SHA384_FIXED, key),
            (Material::Ed25519(key), Algorithm::EdDsa) => by(&signature::ED25519, key),
            _ => false,
        }
    }
}

impl Material {
    /// Returns whether the key is of the kind that an algorithm needs.
    const fn fits(&self, algorithm: Algorithm) -> bool {
        matches!(
            (self, algorithm),
            (Self::Rsa { .. }, Algorithm::Rs256 | Algorithm::Ps256)
                | (Self::P256(_), Algorithm::Es256)
                | (Self::P384(_), Algorithm::Es384)
                | (Self::Ed25519(_), Algorithm::EdDsa)
        )
    }
}

fn verify_rsa(
    parameters: &'static RsaParameters,
    n: &[u8],
    e: &[u8],
    message: &[u8],
    signature: &[u8],
) -> bool {
    RsaPublicKeyComponents { n, e }.verify(parameters, message, signature).is_ok()
}
