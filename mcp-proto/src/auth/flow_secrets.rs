//! [`FlowSecrets`]: the PKCE verifier, `state` and other unpredictable values of one flow.

use alloc::string::String;

use base64ct::{Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::secret::Secret;

/// The unpredictable values of one authorization flow, derived from 32 random bytes.
///
/// Each value is the SHA-256 of its own label and the random bytes, in base64url: 43 characters
/// that reveal nothing about the other values. A new flow needs new random bytes.
///
/// ```
/// use mcp_proto::auth::FlowSecrets;
///
/// let flow = FlowSecrets::new([7; 32]); // from the operating system's generator
/// assert_eq!(flow.verifier().len(), 43);
/// assert_ne!(flow.state(), flow.verifier());
/// assert_eq!(format!("{flow:?}"), "FlowSecrets");
/// ```
pub struct FlowSecrets(Zeroizing<[u8; 32]>);

impl FlowSecrets {
    /// Creates the secrets of a flow from random bytes, which must not be used again.
    #[must_use]
    pub fn new(random: [u8; 32]) -> Self {
        Self(Zeroizing::new(random))
    }

    /// Returns the PKCE verifier (RFC 7636).
    // AUT-15.
    #[must_use]
    pub fn verifier(&self) -> Secret {
        Secret::new(self.derive(b"pkce verifier", 0))
    }

    /// Returns the PKCE challenge of the verifier, for the method `S256`.
    #[must_use]
    pub fn challenge(&self) -> String {
        hash_text(self.verifier().expose())
    }

    /// Returns the `state` of the authorization request.
    // AUT-16.
    #[must_use]
    pub fn state(&self) -> Secret {
        Secret::new(self.derive(b"state", 0))
    }

    /// Returns the unique id of an assertion or proof (`jti`). Each `number` gives another id.
    #[must_use]
    pub fn jti(&self, number: u64) -> String {
        self.derive(b"jti", number)
    }

    /// Returns a number that is random enough to spread renewals over time.
    #[must_use]
    pub fn jitter(&self) -> u32 {
        let [a, b, c, d, ..] = self.digest(b"jitter", 0);
        u32::from_be_bytes([a, b, c, d])
    }

    fn derive(&self, label: &[u8], number: u64) -> String {
        Base64UrlUnpadded::encode_string(&self.digest(label, number))
    }

    /// Hashes a label, a number and the random bytes. Their lengths make the input unambiguous.
    fn digest(&self, label: &[u8], number: u64) -> [u8; 32] {
        let hash = Sha256::new()
            .chain_update(b"mcp-proto authorization v1\0")
            .chain_update((label.len() as u64).to_be_bytes())
            .chain_update(label)
            .chain_update(number.to_be_bytes())
            .chain_update(*self.0);
        hash.finalize().into()
    }
}

/// Omits the values.
impl core::fmt::Debug for FlowSecrets {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("FlowSecrets")
    }
}

/// Returns the SHA-256 of a text in base64url, without padding.
pub(super) fn hash_text(text: &str) -> String {
    Base64UrlUnpadded::encode_string(&Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    // The example of RFC 7636, appendix B.
    #[test]
    fn the_challenge_is_the_hash_of_the_verifier() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(hash_text(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        let flow = FlowSecrets::new([1; 32]);
        assert_eq!(flow.challenge(), hash_text(flow.verifier().expose()));
    }

    // AUT-15, AUT-16: 43 characters of the unreserved set.
    #[test]
    fn values_differ_from_each_other_and_between_flows() {
        let flows = [FlowSecrets::new([1; 32]), FlowSecrets::new([2; 32])];
        let mut values: alloc::vec::Vec<String> = flows
            .iter()
            .flat_map(|flow| {
                let (verifier, state) = (flow.verifier(), flow.state());
                [verifier.expose().into(), state.expose().into(), flow.jti(0), flow.jti(1)]
            })
            .collect();
        for value in &values {
            assert_eq!(value.len(), 43);
            assert!(value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)));
        }
        values.sort();
        values.dedup();
        assert_eq!(values.len(), 8);
    }

    // AUT-34.
    #[test]
    fn debug_shows_nothing() {
        assert_eq!(format!("{:?}", FlowSecrets::new([3; 32])), "FlowSecrets");
    }
}
