//! Access tokens as a verifier describes them, and as the guard has accepted them.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::json::Raw;
use crate::vocabulary::Principal;

/// When an access token expires.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum TokenExpiry {
    /// The verifier did not say. A guard refuses such tokens.
    // AUT-76: what a verifier forgets does not let a token in.
    #[default]
    Unknown,
    /// At this time, in seconds since the Unix epoch.
    At(u64),
    /// Never, or whenever the authorization server revokes the token. Only for verifiers that ask
    /// the authorization server, or that know all tokens.
    Never,
}

/// An access token whose issuer a verifier has confirmed, for example by a signature.
///
/// A [`Guard`](crate::http::Guard) decides whether the token is accepted: it checks the issuer, the
/// audience, the times and the scopes. A verifier that leaves out one of them has its tokens
/// refused. Members have the meaning of the claims of
/// [RFC 9068](https://www.rfc-editor.org/rfc/rfc9068#section-2.2).
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::http::{TokenExpiry, VerifiedToken};
///
/// let claims = r#"{"iss":"https://id.example.com","sub":"ada","scope":"notes:read",
///     "aud":"https://mcp.example.com/mcp","exp":1800000000}"#;
/// let token = VerifiedToken::from_claims(&Raw::from_text(claims).unwrap()).unwrap();
/// assert_eq!(token.subject.as_deref(), Some("ada"));
/// assert_eq!(token.expiry, TokenExpiry::At(1_800_000_000));
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct VerifiedToken {
    /// The authorization server that issued the token.
    pub issuer: Option<Box<str>>,
    /// The user, or the client if it acts for itself; unique at the issuer.
    pub subject: Option<Box<str>>,
    /// The client that the token was issued to.
    pub client_id: Option<Box<str>>,
    /// The resource servers for which the token was issued.
    pub audience: Vec<Box<str>>,
    /// The granted scopes.
    pub scopes: Vec<Box<str>>,
    /// When the token expires.
    pub expiry: TokenExpiry,
    /// When the token becomes valid, in seconds since the Unix epoch.
    pub not_before: Option<u64>,
    /// The key that the client must prove to hold (`cnf`), if the token is bound to one.
    ///
    /// A guard refuses such tokens, because it checks no proofs of possession (DPoP). A verifier
    /// that has checked by itself that the client holds the key sets this to `None`.
    pub confirmation: Option<Raw>,
    /// All claims, as a JSON object, for the application. Must not contain the token.
    pub claims: Option<Raw>,
}

impl VerifiedToken {
    /// Creates the description of a token of this issuer, about which nothing else is known yet.
    #[must_use]
    pub fn new(issuer: &str) -> Self {
        Self { issuer: Some(issuer.into()), ..Self::default() }
    }

    /// Reads the claims of a JSON Web Token, or the response to an introspection request.
    ///
    /// Reads `iss`, `sub`, `client_id` (or else `azp`), `aud`, `scope` (or else `scp`), `exp`,
    /// `nbf` and `cnf`. A missing claim stays unknown. Takes time linear in the length of the
    /// claims.
    ///
    /// # Errors
    /// Fails if `claims` is not an object, or if one of these claims has another type than it must
    /// have.
    pub fn from_claims(claims: &Raw) -> Result<Self, InvalidClaims> {
        if !claims.is_object() {
            return Err(InvalidClaims("claims"));
        }
        let member = |name| claims.member(name).filter(|value| value.as_bytes() != b"null");
        let text = |name| member(name).map(|value| one_text(&value, name)).transpose();
        let number = |name| member(name).map(|value| seconds(&value, name)).transpose();
        let scopes = match (member("scope"), member("scp")) {
            (Some(scope), _) => words(&one_text(&scope, "scope")?),
            (None, Some(scp)) => {
                texts(&scp, "scp")?.iter().flat_map(|scope| words(scope)).collect()
            }
            (None, None) => Vec::new(),
        };
        Ok(Self {
            issuer: text("iss")?,
            subject: text("sub")?,
            client_id: match text("client_id")? {
                Some(client) => Some(client),
                None => text("azp")?,
            },
            audience: member("aud").map_or(Ok(Vec::new()), |value| texts(&value, "aud"))?,
            scopes,
            expiry: number("exp")?.map_or(TokenExpiry::Unknown, TokenExpiry::At),
            not_before: number("nbf")?,
            confirmation: member("cnf"),
            claims: Some(claims.clone()),
        })
    }

    /// Returns who sends requests with this token: the subject, or else the client.
    ///
    /// A client without a subject never has the principal of a user whose name equals its id.
    pub(super) fn principal(&self) -> Option<Principal> {
        let issuer = self.issuer.as_deref().filter(|issuer| !issuer.is_empty())?;
        if let Some(subject) = self.subject.as_deref().filter(|subject| !subject.is_empty()) {
            return Principal::of_issuer(issuer, subject);
        }
        Principal::of_client(issuer, self.client_id.as_deref()?)
    }
}

/// The error of [`VerifiedToken::from_claims`]: a claim has the wrong type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InvalidClaims(&'static str);

impl fmt::Display for InvalidClaims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the claim `{}` of the token has the wrong type", self.0)
    }
}

impl core::error::Error for InvalidClaims {}

fn one_text(value: &Raw, name: &'static str) -> Result<Box<str>, InvalidClaims> {
    value.to_text().map(Cow::into_owned).map(Into::into).ok_or(InvalidClaims(name))
}

/// Reads a text, or an array of texts.
fn texts(value: &Raw, name: &'static str) -> Result<Vec<Box<str>>, InvalidClaims> {
    if value.as_bytes().starts_with(b"[") {
        value.elements().map(|element| one_text(&element, name)).collect()
    } else {
        one_text(value, name).map(|text| alloc::vec![text])
    }
}

fn words(text: &str) -> Vec<Box<str>> {
    text.split(' ').filter(|word| !word.is_empty()).map(Into::into).collect()
}

/// Reads a `NumericDate`, which may have a fraction. A time before 1970 counts as 1970.
fn seconds(value: &Raw, name: &'static str) -> Result<u64, InvalidClaims> {
    let number: f64 = value.parse().map_err(|_| InvalidClaims(name))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    Ok(number as u64)
}

/// An access token that a [`Guard`](crate::http::Guard) has accepted, without its text.
///
/// Handlers get it with the request. Cheap to clone.
// AUT-05: without the text, the token cannot be passed on to other services.
#[derive(Clone, Eq, PartialEq)]
pub struct AcceptedToken(Arc<Accepted>);

#[derive(Eq, PartialEq)]
struct Accepted {
    token: VerifiedToken,
    principal: Principal,
    /// The granted scopes and those that they imply.
    scopes: Vec<Box<str>>,
}

impl AcceptedToken {
    pub(super) fn new(token: VerifiedToken, principal: Principal, scopes: Vec<Box<str>>) -> Self {
        Self(Arc::new(Accepted { token, principal, scopes }))
    }

    /// Returns the identity that requests with this token have: the subject of the token at its
    /// issuer, or else its client.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.0.principal
    }

    /// Returns the issuer.
    #[must_use]
    pub fn issuer(&self) -> &str {
        self.0.token.issuer.as_deref().unwrap_or_default()
    }

    /// Returns the user, or the client if it acts for itself.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.0.token.subject.as_deref()
    }

    /// Returns the client that the token was issued to.
    #[must_use]
    pub fn client_id(&self) -> Option<&str> {
        self.0.token.client_id.as_deref()
    }

    /// Returns whether the token has a scope, itself or implied by another.
    ///
    /// Takes time linear in the number of scopes.
    #[must_use]
    pub fn has_scope(&self, scope: &str) -> bool {
        self.0.scopes.iter().any(|known| **known == *scope)
    }

    /// Iterates over the scopes, including the implied ones.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.0.scopes.iter().map(|scope| &**scope)
    }

    /// Returns when the token expires.
    #[must_use]
    pub fn expiry(&self) -> TokenExpiry {
        self.0.token.expiry
    }

    /// Returns all claims as a JSON object, if the verifier passed them on.
    #[must_use]
    pub fn claims(&self) -> Option<&Raw> {
        self.0.token.claims.as_ref()
    }
}

// Claims can contain personal data.
impl fmt::Debug for AcceptedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcceptedToken")
            .field("principal", &self.0.principal)
            .field("scopes", &self.0.scopes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(claims: &str) -> Result<VerifiedToken, InvalidClaims> {
        VerifiedToken::from_claims(&Raw::from_text(claims).unwrap())
    }

    #[test]
    fn claims_are_read_in_the_spellings_of_common_servers() {
        let token = read(
            r#"{"iss":"https:\/\/i","sub":"s","azp":"c","aud":["a","b"],"scp":["x","y z"],
                "exp":1.9e3,"nbf":-5,"cnf":{"jkt":"k"},"more":1}"#,
        );
        let token = token.unwrap();
        assert_eq!(token.issuer.as_deref(), Some("https://i"));
        assert_eq!((token.subject.as_deref(), token.client_id.as_deref()), (Some("s"), Some("c")));
        assert_eq!(token.audience, ["a".into(), "b".into()]);
        assert_eq!(token.scopes, ["x".into(), "y".into(), "z".into()]);
        assert_eq!((token.expiry, token.not_before), (TokenExpiry::At(1900), Some(0)));
        assert_eq!(token.confirmation.unwrap().as_str(), r#"{"jkt":"k"}"#);
        assert_eq!(token.claims.unwrap().member("more").unwrap().as_str(), "1");

        let token = read(r#"{"aud":"a","scope":" x  y ","client_id":"c","azp":"d","exp":null}"#);
        let token = token.unwrap();
        assert_eq!((token.audience, token.scopes), (words("a"), words("x y")));
        assert_eq!((token.client_id.as_deref(), token.expiry), (Some("c"), TokenExpiry::Unknown));
    }

    #[test]
    fn claims_of_a_wrong_type_are_errors() {
        for claims in [
            "1",
            "[]",
            r#"{"iss":1}"#,
            r#"{"sub":["a"]}"#,
            r#"{"aud":{}}"#,
            r#"{"aud":["a",1]}"#,
            r#"{"exp":"1800000000"}"#,
            r#"{"nbf":true}"#,
            r#"{"scope":["a"]}"#,
            r#"{"scp":1}"#,
        ] {
            assert!(read(claims).is_err(), "{claims}");
        }
    }

    #[test]
    fn a_client_is_never_the_principal_of_a_user_with_its_name() {
        let user = read(r#"{"iss":"i","sub":"ada","client_id":"c"}"#).unwrap().principal();
        let client = read(r#"{"iss":"i","client_id":"ada"}"#).unwrap().principal();
        assert_eq!(user, Principal::of_issuer("i", "ada"));
        assert_eq!(client.as_ref().map(Principal::id), Some(r#"["i",null,"ada"]"#));
        assert_ne!(user, client);
        let [other_user, other_client] =
            [r#"{"iss":"j","sub":"ada"}"#, r#"{"iss":"j","client_id":"ada"}"#]
                .map(|claims| read(claims).unwrap().principal().unwrap());
        assert!(Some(&other_user) != user.as_ref() && Some(&other_client) != client.as_ref());
        for unnamed in [r#"{"iss":"i"}"#, r#"{"sub":"ada"}"#, r#"{"iss":"","sub":"ada"}"#, "{}"] {
            assert_eq!(read(unnamed).unwrap().principal(), None, "{unnamed}");
        }
    }
}
