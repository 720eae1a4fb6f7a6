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
/// let key = RecordKey::grant("https://mcp.example.com/mcp", "default");
/// assert_eq!(key.kind(), "grant");
/// assert_eq!(key.file_name().len(), "grant-".len() + 43);
/// assert_ne!(key, RecordKey::grant("https://mcp.example.com/mcp", "work"));
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RecordKey {
    kind: &'static str,
    parts: Vec<Box<str>>,
}

impl RecordKey {
    /// Returns the key of the grant of a user for an MCP server under a profile.
    // AUT-06: tokens for one server are never found for another.
    #[must_use]
    pub fn grant(server: &str, profile: &str) -> Self {
        Self { kind: "grant", parts: vec![server.into(), profile.into(), "".into()] }
    }

    /// Returns the key of a grant that no user gave in a browser: of the kind `kind`, to `owner`.
    ///
    /// No client finds the tokens of another one, nor those of a user.
    pub(super) fn grant_of<'a>(
        server: &'a str,
        profile: &'a str,
        kind: &'a str,
        owner: impl Iterator<Item = &'a str>,
    ) -> Self {
        let parts = [server, profile, kind].into_iter().chain(owner).map(Box::from).collect();
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

    /// Returns the parts of the name: of a grant, the server, the profile and, unless a user gave
    /// it in a browser, the kind of grant and its clients; of a client, the issuer, name and
    /// redirect.
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
