//! The owner of a grant: the name of its record, and the data compared before its tokens are used.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;

use base64ct::{Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};

use super::config::{AuthConfig, GrantKind};
use super::record_key::RecordKey;
use crate::auth::document::Document;
use crate::auth::{AuthLimits, GrantRecord};
use crate::secret::Secret;

impl AuthConfig {
    /// Returns the key of the record that the store keeps the tokens in.
    ///
    /// Configurations share a record if their servers, profiles, kinds of grant and clients are
    /// equal. When the record is read, the subject of the identity assertion is compared, too.
    // AUT-06, AUT-23.
    #[must_use]
    pub fn grant_key(&self) -> RecordKey {
        let (kind, provider) = match &self.grant {
            GrantKind::User => ("user", None),
            GrantKind::ClientCredentials => ("client_credentials", None),
            GrantKind::Enterprise(provider) => ("enterprise", Some(provider)),
            GrantKind::Workload => ("workload", None),
        };
        let document = self.document.as_deref().unwrap_or_default();
        let certificate = self.certificate.as_deref().unwrap_or_default();
        // A user keeps the login with another key of the client.
        let key = self.signing_key.filter(|_| self.grant == GrantKind::ClientCredentials);
        let key = key.map(|key| key.thumbprint()).unwrap_or_default();
        let mut client = vec![kind, &self.name, document, certificate, &key];
        if let Some(provider) = provider {
            client.extend([provider.token_endpoint.as_str(), &provider.client.id]);
        }
        client.extend(self.clients.iter().flat_map(|client| [&*client.issuer, &*client.id]));
        RecordKey::grant(self.server.as_str(), &self.profile, client)
    }
}

/// Returns whether tokens are issued for an identity assertion, which names their user.
pub(super) const fn has_subject(config: &AuthConfig) -> bool {
    matches!(config.grant, GrantKind::Enterprise(_) | GrantKind::Workload)
}

/// Returns whether a stored grant is that of the client and the subject in use.
///
/// A client that acts for itself must have the credential that the tokens were issued for: the
/// store may be shared with others, who know its id.
pub(super) fn is_own(record: &GrantRecord, config: &AuthConfig, subject: Option<&str>) -> bool {
    match config.grant {
        GrantKind::User => true,
        GrantKind::Enterprise(_) | GrantKind::Workload => {
            subject.is_some() && record.subject.as_deref() == subject
        }
        GrantKind::ClientCredentials => config.clients.iter().any(|known| {
            // The record's name contains the key.
            let has_credential = match known.key {
                Some(_) => config.signing_key.is_some(),
                None => known.secret == record.client.secret,
            };
            has_credential
                && known.issuer == record.server.issuer.as_str()
                && *known.id == *record.client.client_id
        }),
    }
}

/// Returns a digest of the user or workload that an identity assertion describes.
///
/// Of a JWT, its issuer and subject count, so that the digest of later assertions for this user is
/// equal. Any other token counts as a whole. Signatures are not verified: only the authorization
/// server can.
pub(super) fn subject_of(token: &Secret, limits: &AuthLimits) -> Box<str> {
    let mut hash = Sha256::new();
    let mut add = |part: &str| {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    };
    match claims_of(token.expose(), limits) {
        Some((issuer, subject)) => [&*issuer, &*subject].into_iter().for_each(add),
        None => add(token.expose()),
    }
    Base64UrlUnpadded::encode_string(&hash.finalize()).into()
}

/// Returns `iss` and `sub` of a signed JWT.
fn claims_of(token: &str, limits: &AuthLimits) -> Option<(String, String)> {
    let mut parts = token.split('.');
    let (_, claims, _) = (parts.next()?, parts.next()?, parts.next()?);
    let claims = Base64UrlUnpadded::decode_vec(claims).ok().filter(|_| parts.next().is_none())?;
    let claims = Document::parse(&claims, limits.token_bytes_max, limits).ok()?;
    let claim = |name| claims.required(name).ok().filter(|claim| !claim.is_empty());
    Some((claim("iss")?.into_owned(), claim("sub")?.into_owned()))
}
