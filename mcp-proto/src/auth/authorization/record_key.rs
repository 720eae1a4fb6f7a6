//! [`RecordKey`]: the name of a stored record.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use base64ct::{Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};

/// The name of a stored record: what it holds and for whom.
///
/// ```
/// use mcp_proto::auth::RecordKey;
///
/// let key = RecordKey::grant("https://mcp.example.com/mcp", "default", ["My app"]);
/// assert_eq!(key.kind(), "grant");
/// assert_eq!(key.file_name().len(), "grant-".len() + 43);
/// assert_ne!(key, RecordKey::grant("https://mcp.example.com/mcp", "work", ["My app"]));
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RecordKey {
    kind: &'static str,
    parts: Vec<Box<str>>,
}

impl RecordKey {
    /// Returns the key of the grant for an MCP server under a profile, to a client that `client`
    /// names.
    ///
    /// The key of a configuration is [`AuthConfig::grant_key`](super::AuthConfig::grant_key).
    // AUT-06: no client finds the tokens for another server, or those of another client.
    #[must_use]
    pub fn grant<'a>(
        server: &'a str,
        profile: &'a str,
        client: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let parts = [server, profile].into_iter().chain(client).map(Box::from).collect();
        Self { kind: "grant", parts }
    }

    /// Returns the key of a client's registration at an authorization server.
    ///
    /// `redirect` is the kind of redirect: registrations for different kinds are kept apart.
    #[must_use]
    pub fn client(issuer: &str, name: &str, redirect: &str) -> Self {
        Self { kind: "client", parts: vec![issuer.into(), name.into(), redirect.into()] }
    }

    /// Returns what the record holds: `grant` or `client`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the parts of the name: of a grant, the server, the profile and what names the
    /// client; of a client, the issuer, name and redirect.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|part| &**part)
    }

    /// Returns a name of up to 50 ASCII letters, digits, `-` and `_`, unique to this key.
    #[must_use]
    pub fn file_name(&self) -> String {
        let mut hash = Sha256::new();
        for part in self.parts() {
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(part);
        }
        let mut name = String::from(self.kind);
        name.push('-');
        name.push_str(&Base64UrlUnpadded::encode_string(&hash.finalize()));
        name
    }
}
