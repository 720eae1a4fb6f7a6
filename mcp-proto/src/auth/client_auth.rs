//! How a client authenticates at a token endpoint.

use alloc::string::String;

use base64ct::{Base64, Encoding};

use super::form::{Form, encode_into};
use crate::secret::Secret;

/// A method of client authentication at the token endpoint.
///
/// ```
/// use mcp_proto::auth::{ClientAuthMethod, ClientAuthMethods, CredentialKind};
///
/// let listed = ClientAuthMethods::of([ClientAuthMethod::Basic, ClientAuthMethod::None]);
/// let choose = |registered, kind| ClientAuthMethod::choose(Some(listed), registered, kind);
/// assert_eq!(choose(None, CredentialKind::Secret), Some(ClientAuthMethod::Basic));
/// assert_eq!(choose(None, CredentialKind::Nothing), Some(ClientAuthMethod::None));
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum ClientAuthMethod {
    /// `none`: a public client, which sends its id alone.
    None,
    /// `client_secret_basic`: the secret in the header `Authorization`.
    Basic,
    /// `client_secret_post`: the secret in the body.
    Post,
    /// `private_key_jwt`: an assertion signed with the client's key.
    PrivateKeyJwt,
}

/// The kind of credential that a client has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CredentialKind {
    /// No credential: only the client id.
    Nothing,
    /// A client secret.
    Secret,
    /// A private key.
    Key,
}

/// A set of methods of client authentication.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ClientAuthMethods(u8);

impl ClientAuthMethod {
    /// All methods.
    const ALL: [Self; 4] = [Self::None, Self::Basic, Self::Post, Self::PrivateKeyJwt];

    /// Returns the registered name, such as `client_secret_basic`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }

    /// Returns the method with a registered name, or `None` for names that are not supported.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// Returns whether a client can use this method.
    #[must_use]
    pub fn works_with(self, kind: CredentialKind) -> bool {
        match self {
            Self::None => true,
            Self::Basic | Self::Post => kind == CredentialKind::Secret,
            Self::PrivateKeyJwt => kind == CredentialKind::Key,
        }
    }

    /// Chooses the method for requests to a token endpoint.
    ///
    /// `listed` is what the authorization server's metadata list, and `registered` the method that
    /// the client is registered with. The registered method is taken if it is listed, or if there
    /// is no list. Otherwise, the order is: private key, basic, post, none. Without a list, the
    /// default is basic for a client with a secret, as RFC 8414 says, and none without one.
    ///
    /// Returns `None` if the client can use none of the methods.
    // AUT-56: exactly one method per request.
    #[must_use]
    pub fn choose(
        listed: Option<ClientAuthMethods>,
        registered: Option<Self>,
        kind: CredentialKind,
    ) -> Option<Self> {
        let is_listed = |method: Self| listed.is_none_or(|listed| listed.contains(method));
        let usable = |method: &Self| is_listed(*method) && method.works_with(kind);
        let order = [Self::PrivateKeyJwt, Self::Basic, Self::Post, Self::None];
        registered.filter(usable).or_else(|| order.into_iter().find(usable))
    }

    /// Chooses the method to register with: the first of none, basic and post that is listed.
    ///
    /// The result is none if nothing is listed, or if nothing that is listed is supported.
    #[must_use]
    pub fn to_register(listed: Option<ClientAuthMethods>) -> Self {
        let order = [Self::None, Self::Basic, Self::Post];
        let listed = order.into_iter().find(|method| listed.is_some_and(|l| l.contains(*method)));
        listed.unwrap_or(Self::None)
    }
}

impl ClientAuthMethods {
    /// Creates a set.
    #[must_use]
    pub fn of(methods: impl IntoIterator<Item = ClientAuthMethod>) -> Self {
        Self(methods.into_iter().fold(0, |bits, method| bits | 1 << method as u8))
    }

    /// Returns whether the set contains a method.
    #[must_use]
    pub const fn contains(self, method: ClientAuthMethod) -> bool {
        self.0 & 1 << method as u8 != 0
    }

    /// Iterates over the methods of the set.
    pub fn iter(self) -> impl Iterator<Item = ClientAuthMethod> {
        ClientAuthMethod::ALL.into_iter().filter(move |method| self.contains(*method))
    }
}

/// The authentication of one request to a token endpoint.
///
/// ```
/// use mcp_proto::Secret;
/// use mcp_proto::auth::{ClientAuthentication, TokenGrant, TokenRequest};
///
/// let secret = Secret::new("s e");
/// let client = ClientAuthentication::Basic { client_id: "app:1", secret: &secret };
/// let request = TokenRequest::new(TokenGrant::ClientCredentials).encode(&client);
/// assert_eq!(request.authorization.unwrap().expose(), "Basic YXBwJTNBMTpzK2U=");
/// assert_eq!(request.body.expose(), "grant_type=client_credentials");
/// ```
#[derive(Clone, Copy, Debug)]
pub enum ClientAuthentication<'a> {
    /// A public client.
    None {
        /// The client id, which is sent in the body.
        client_id: &'a str,
    },
    /// Id and secret in the header `Authorization`.
    Basic {
        /// The client id.
        client_id: &'a str,
        /// The client secret.
        secret: &'a Secret,
    },
    /// Id and secret in the body.
    Post {
        /// The client id.
        client_id: &'a str,
        /// The client secret.
        secret: &'a Secret,
    },
    /// A signed assertion in the body, which names the client.
    PrivateKeyJwt {
        /// The assertion: see [`UnsignedJwt::client_assertion`](super::UnsignedJwt).
        assertion: &'a Secret,
    },
}

impl<'a> ClientAuthentication<'a> {
    /// Returns the value of the header `Authorization`, if the method uses it.
    // AUT-57: id and secret are form-encoded, then joined and encoded in base64.
    pub(super) fn header(&self) -> Option<Secret> {
        let Self::Basic { client_id, secret } = self else { return None };
        let room = 3 * (client_id.len() + secret.len()) + 1;
        let mut pair = String::with_capacity(room);
        encode_into(&mut pair, client_id);
        pair.push(':');
        encode_into(&mut pair, secret.expose());
        let pair = Secret::new(pair);
        let encoded = Secret::new(Base64::encode_string(pair.expose().as_bytes()));
        let mut header = String::with_capacity(6 + encoded.len());
        header.push_str("Basic ");
        header.push_str(encoded.expose());
        Some(Secret::new(header))
    }

    /// Adds the fields of the method to the body.
    pub(super) fn add_to(&self, form: &mut Form<'a>) {
        match self {
            Self::None { client_id } => form.push("client_id", client_id),
            Self::Basic { .. } => {}
            Self::Post { client_id, secret } => {
                form.push("client_id", client_id);
                form.push("client_secret", secret.expose());
            }
            Self::PrivateKeyJwt { assertion } => {
                let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
                form.push("client_assertion_type", kind);
                form.push("client_assertion", assertion.expose());
            }
        }
    }
}

#[cfg(test)]
mod tests;
