//! JSON Web Tokens in their compact form, before their signatures are verified.
//!
//! <https://www.rfc-editor.org/rfc/rfc7515#section-7.1>

use std::borrow::Cow;

use base64ct::{Base64UrlUnpadded, Encoding};
use mcp_proto::Raw;

use super::algorithm::Algorithm;
use super::key_set::KeySet;

/// A token whose header is acceptable.
#[derive(Debug)]
pub(super) struct SignedToken<'a> {
    algorithm: Algorithm,
    key_id: Option<String>,
    /// The header and the claims, still encoded.
    message: &'a str,
    claims: &'a str,
    signature: Vec<u8>,
}

impl<'a> SignedToken<'a> {
    /// Reads a token; `None` if it is malformed or says that it is something else.
    ///
    /// The header chooses among algorithms that are all acceptable. The type must be absent, `JWT`
    /// or `at+jwt`, or the latter only, and no extension may be critical.
    pub(super) fn read(token: &'a str, at_jwt_only: bool) -> Option<Self> {
        let (message, signature) = token.rsplit_once('.')?;
        let (header, claims) = message.split_once('.')?;
        let header = decode_json(header)?;
        let text = |name| header.member(name)?.to_text().map(Cow::into_owned);
        let is_string = |name| header.member(name).is_none_or(|it| it.to_text().is_some());
        if header.member("crit").is_some() || !is_string("typ") || !is_string("kid") {
            return None;
        }
        let kind = text("typ").unwrap_or_else(|| "JWT".into()).to_ascii_lowercase();
        let is_access_token = match kind.strip_prefix("application/").unwrap_or(&kind) {
            "at+jwt" => true,
            "jwt" => !at_jwt_only,
            _ => false,
        };
        if !is_access_token {
            return None;
        }
        Some(Self {
            algorithm: Algorithm::from_name(&text("alg")?)?,
            key_id: text("kid"),
            message,
            claims,
            signature: Base64UrlUnpadded::decode_vec(signature).ok()?,
        })
    }

    /// Returns whether there is a key for the token.
    pub(super) fn has_key(&self, keys: &KeySet) -> bool {
        keys.find(self.key_id.as_deref(), self.algorithm).is_some()
    }

    /// Returns the claims, if one of the keys has signed them.
    pub(super) fn verified_claims(&self, keys: &KeySet) -> Option<Raw> {
        let key = keys.find(self.key_id.as_deref(), self.algorithm)?;
        if !key.verify(self.algorithm, self.message.as_bytes(), &self.signature) {
            return None;
        }
        decode_json(self.claims)
    }
}

fn decode_json(part: &str) -> Option<Raw> {
    let bytes = Base64UrlUnpadded::decode_vec(part).ok()?;
    Raw::from_text(std::str::from_utf8(&bytes).ok()?).ok().filter(Raw::is_object)
}
