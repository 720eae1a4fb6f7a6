//! [`ClientRecord`] and [`GrantRecord`]: the forms in which clients and tokens are stored.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::client_auth::ClientAuthMethod;
use super::document::Document;
use super::invalid_record::{InvalidRecord, VERSION};
use super::limits::AuthLimits;
use super::reach::UriPolicy;
use super::registration::{RegisteredClient, is_client_id};
use super::scopes::Scopes;
use super::server_metadata::{AuthorizationServerMetadata, ExpectedIssuer};
use super::token_response::TokenType;
use super::uri::Uri;
use crate::json::{Object, write_u64};
use crate::secret::Secret;

/// A client that is registered with an authorization server, as it is stored.
///
/// ```
/// use mcp_proto::auth::{
///     AuthLimits, ClientAuthMethod, ClientRecord, InvalidRecord, RegisteredClient,
/// };
///
/// let limits = AuthLimits::default();
/// let response = br#"{"client_id":"c1"}"#;
/// let record = ClientRecord {
///     issuer: "https://as.example".into(),
///     redirect_uri: "http://127.0.0.1:8000/callback".into(),
///     client: RegisteredClient::parse(201, response, ClientAuthMethod::None, &limits).unwrap(),
///     is_doubtful: false,
/// };
/// let stored = record.to_json();
/// assert_eq!(ClientRecord::parse(stored.expose().as_bytes(), &limits), Ok(record));
/// assert_eq!(ClientRecord::parse(b"{}", &limits), Err(InvalidRecord::Version));
/// ```
// AUT-23: registrations are bound to their issuer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ClientRecord {
    /// The issuer that knows the client.
    pub issuer: Box<str>,
    /// The redirect URI that is registered, with its port.
    pub redirect_uri: Box<str>,
    /// The client.
    pub client: RegisteredClient,
    /// Whether a flow with this client was started and no redirect has arrived since; the next flow
    /// then registers a new client.
    // AUT-47.
    pub is_doubtful: bool,
}

/// A grant for one MCP server, with everything that its renewal needs, as it is stored.
///
/// ```
/// use mcp_proto::auth::{
///     AuthLimits, AuthorizationServerMetadata, ClientAuthMethod, GrantRecord, Reach,
///     RegisteredClient, Scopes, Uri, UriPolicy,
/// };
///
/// let limits = AuthLimits::default();
/// let policy = UriPolicy::of_server(Reach::Public);
/// let url = Uri::parse("https://mcp.example/mcp", &limits).unwrap();
/// let response = br#"{"client_id":"c1"}"#;
/// let record = GrantRecord {
///     resource: Some("https://mcp.example".into()),
///     server: AuthorizationServerMetadata::legacy_default(&url, &policy, &limits).unwrap(),
///     server_read_at: 1_790_000_000,
///     client: RegisteredClient::parse(201, response, ClientAuthMethod::None, &limits).unwrap(),
///     subject: None,
///     requested: Scopes::new(),
///     generation: 0,
///     tokens: None,
/// };
/// let stored = record.to_json();
/// assert_eq!(GrantRecord::parse(stored.expose().as_bytes(), &policy, &limits), Ok(record));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GrantRecord {
    /// The identifier of the MCP server; `None` for servers of revision 2025-03-26.
    pub resource: Option<Box<str>>,
    /// The authorization server, which issued the tokens.
    pub server: AuthorizationServerMetadata,
    /// When the metadata of the server were read, in seconds since the Unix epoch.
    pub server_read_at: u64,
    /// The client that received the tokens.
    pub client: RegisteredClient,
    /// A digest of the user or workload whose identity assertion the tokens were issued for; `None`
    /// if there was no assertion.
    // AUT-06: compared before the tokens are used.
    pub subject: Option<Box<str>>,
    /// All scopes that were requested so far.
    pub requested: Scopes,
    /// The number of the grant, which grows with each renewal.
    pub generation: u64,
    /// The tokens, unless they were discarded.
    pub tokens: Option<StoredTokens>,
}

/// The tokens of a [`GrantRecord`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoredTokens {
    /// The access token.
    pub access_token: Secret,
    /// How the access token is used.
    pub token_type: TokenType,
    /// The thumbprint of the key that the tokens are bound to; `None` for bearer tokens.
    pub key_thumbprint: Option<Box<str>>,
    /// When the access token was issued, in seconds since the Unix epoch.
    pub issued_at: u64,
    /// When the access token expires, in seconds since the Unix epoch; `None` if unknown.
    pub expires_at: Option<u64>,
    /// The refresh token, if there is one.
    pub refresh_token: Option<Secret>,
    /// The granted scopes.
    pub granted: Scopes,
}

impl ClientRecord {
    /// Writes the record as JSON.
    #[must_use]
    pub fn to_json(&self) -> Secret {
        let mut out = Vec::new();
        let mut object = begin(&mut out, "client");
        object.str("issuer", &self.issuer);
        object.str("redirect_uri", &self.redirect_uri);
        object.bool("doubtful", self.is_doubtful);
        write_client(object.key("client"), &self.client);
        object.end();
        finish(out)
    }

    /// Reads a record.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidRecord`] for anything but a complete record of this version, within the
    /// limits. The record should then be treated as missing.
    pub fn parse(bytes: &[u8], limits: &AuthLimits) -> Result<Self, InvalidRecord> {
        let record =
            open(bytes, "client", &["issuer", "redirect_uri", "doubtful", "client"], limits)?;
        Ok(Self {
            issuer: uri_text(&record, "issuer", limits)?,
            redirect_uri: short_text(&record, "redirect_uri", limits)?,
            client: read_client(&record, limits)?,
            is_doubtful: record.flag("doubtful")?,
        })
    }
}

impl GrantRecord {
    /// Writes the record as JSON.
    #[must_use]
    pub fn to_json(&self) -> Secret {
        let mut out = Vec::new();
        let mut object = begin(&mut out, "grant");
        object.opt_str("resource", self.resource.as_deref());
        self.server.write(object.key("server"));
        write_u64(object.key("server_read_at"), self.server_read_at);
        object.opt_str("requested", self.requested.to_param().as_deref());
        write_u64(object.key("generation"), self.generation);
        write_client(object.key("client"), &self.client);
        object.opt_str("subject", self.subject.as_deref());
        if let Some(tokens) = &self.tokens {
            tokens.write(object.key("tokens"));
        }
        object.end();
        finish(out)
    }

    /// Reads a record. The URLs in it are checked by `policy` as in a document from a server.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidRecord`] for anything but a complete record of this version, within the
    /// limits. The record should then be treated as missing.
    pub fn parse(
        bytes: &[u8],
        policy: &UriPolicy,
        limits: &AuthLimits,
    ) -> Result<Self, InvalidRecord> {
        let names = [
            "resource",
            "server",
            "server_read_at",
            "requested",
            "generation",
            "client",
            "subject",
            "tokens",
        ];
        let record = open(bytes, "grant", &names, limits)?;
        let resource = match record.text("resource")? {
            None => None,
            Some(_) => Some(uri_text(&record, "resource", limits)?),
        };
        let server = record.object("server")?.ok_or(InvalidRecord::Member("server"))?;
        let issuer = Uri::parse(&server.required("issuer")?, limits)
            .map_err(|_| InvalidRecord::Member("issuer"))?;
        let expected = ExpectedIssuer::Exact(&issuer);
        let server = AuthorizationServerMetadata::read(&server, expected, policy, limits)
            .map_err(|_| InvalidRecord::Member("server"))?;
        let tokens = record.object("tokens")?;
        Ok(Self {
            resource,
            server,
            server_read_at: integer(&record, "server_read_at")?,
            client: read_client(&record, limits)?,
            subject: record.text("subject")?.map(Box::from),
            requested: scopes(&record, "requested", limits)?,
            generation: integer(&record, "generation")?,
            tokens: tokens.map(|tokens| StoredTokens::read(&tokens, limits)).transpose()?,
        })
    }
}

impl StoredTokens {
    fn write(&self, out: &mut Vec<u8>) {
        reserve(out, &[Some(&self.access_token), self.refresh_token.as_ref()]);
        let mut object = Object::begin(out);
        object.str("token_type", self.token_type.scheme());
        object.opt_str("key_thumbprint", self.key_thumbprint.as_deref());
        write_u64(object.key("issued_at"), self.issued_at);
        if let Some(time) = self.expires_at {
            write_u64(object.key("expires_at"), time);
        }
        object.opt_str("granted", self.granted.to_param().as_deref());
        object.str("access_token", self.access_token.expose());
        object.opt_str("refresh_token", self.refresh_token.as_ref().map(Secret::expose));
        object.end();
    }

    fn read(tokens: &Document<'_>, limits: &AuthLimits) -> Result<Self, InvalidRecord> {
        let names = [
            "token_type",
            "key_thumbprint",
            "issued_at",
            "expires_at",
            "granted",
            "access_token",
            "refresh_token",
        ];
        if !tokens.has_only(&names) {
            return Err(InvalidRecord::Member("tokens"));
        }
        let token_type = TokenType::by_name(&tokens.required("token_type")?)
            .ok_or(InvalidRecord::Member("token_type"))?;
        let key_thumbprint = tokens.text("key_thumbprint")?.map(Box::from);
        if (token_type == TokenType::Dpop) != key_thumbprint.is_some() {
            return Err(InvalidRecord::Member("key_thumbprint"));
        }
        let access_token = tokens.secret("access_token", limits.token_bytes_max)?;
        Ok(Self {
            access_token: access_token
                .filter(|token| !token.is_empty())
                .ok_or(InvalidRecord::Member("access_token"))?,
            token_type,
            key_thumbprint,
            issued_at: integer(tokens, "issued_at")?,
            expires_at: tokens.integer("expires_at")?,
            refresh_token: tokens.secret("refresh_token", limits.token_bytes_max)?,
            granted: scopes(tokens, "granted", limits)?,
        })
    }
}

/// Starts a record.
fn begin<'a>(out: &'a mut Vec<u8>, kind: &str) -> Object<'a> {
    let mut object = Object::begin(out);
    write_u64(object.key("version"), VERSION);
    object.str("kind", kind);
    object
}

fn finish(out: Vec<u8>) -> Secret {
    // A writer of JSON writes UTF-8.
    Secret::new(String::from_utf8(out).unwrap_or_default())
}

/// Makes room for secrets, so that the buffer does not grow while it holds some: growing would
/// leave copies in memory.
fn reserve(out: &mut Vec<u8>, secrets: &[Option<&Secret>]) {
    // An escape takes two bytes; everything else of a record is short.
    let secrets: usize = secrets.iter().flatten().map(|secret| 2 * secret.len()).sum();
    out.reserve(secrets + (8 << 10));
}

/// Validates a record of this version and kind.
fn open<'a>(
    bytes: &'a [u8],
    kind: &str,
    names: &[&str],
    limits: &AuthLimits,
) -> Result<Document<'a>, InvalidRecord> {
    let record = Document::parse(bytes, limits.record_bytes_max, limits)?;
    if record.integer("version")? != Some(VERSION) {
        return Err(InvalidRecord::Version);
    }
    if record.required("kind")? != kind {
        return Err(InvalidRecord::Member("kind"));
    }
    if record.has_only(&[&["version", "kind"], names].concat()) {
        Ok(record)
    } else {
        Err(InvalidRecord::Json)
    }
}

fn write_client(out: &mut Vec<u8>, client: &RegisteredClient) {
    reserve(out, &[client.secret.as_ref()]);
    let mut object = Object::begin(out);
    object.str("client_id", &client.client_id);
    object.str("auth_method", client.auth_method.name());
    if let Some(time) = client.secret_expires_at {
        write_u64(object.key("secret_expires_at"), time);
    }
    object.opt_str("client_secret", client.secret.as_ref().map(Secret::expose));
    object.end();
}

fn read_client(
    record: &Document<'_>,
    limits: &AuthLimits,
) -> Result<RegisteredClient, InvalidRecord> {
    let client = record.object("client")?.ok_or(InvalidRecord::Member("client"))?;
    let client_id = client.required("client_id")?;
    let names = ["client_id", "auth_method", "secret_expires_at", "client_secret"];
    if !client.has_only(&names) || !is_client_id(&client_id, limits) {
        return Err(InvalidRecord::Member("client"));
    }
    let auth_method = ClientAuthMethod::by_name(&client.required("auth_method")?)
        .ok_or(InvalidRecord::Member("auth_method"))?;
    Ok(RegisteredClient {
        client_id: client_id.into(),
        secret: client.secret("client_secret", limits.client_secret_bytes_max)?,
        secret_expires_at: client.integer("secret_expires_at")?,
        auth_method,
    })
}

fn uri_text(
    record: &Document<'_>,
    name: &'static str,
    limits: &AuthLimits,
) -> Result<Box<str>, InvalidRecord> {
    let text = record.required(name)?;
    Uri::parse(&text, limits).map_err(|_| InvalidRecord::Member(name))?;
    Ok(text.into())
}

/// Returns a text that is at most as long as a URL.
fn short_text(
    record: &Document<'_>,
    name: &'static str,
    limits: &AuthLimits,
) -> Result<Box<str>, InvalidRecord> {
    let text = record.required(name)?;
    if text.len() > limits.uri_bytes_max {
        return Err(InvalidRecord::Member(name));
    }
    Ok(text.into())
}

fn integer(record: &Document<'_>, name: &'static str) -> Result<u64, InvalidRecord> {
    record.integer(name)?.ok_or(InvalidRecord::Member(name))
}

fn scopes(
    record: &Document<'_>,
    name: &'static str,
    limits: &AuthLimits,
) -> Result<Scopes, InvalidRecord> {
    let text = record.text(name)?.unwrap_or(Cow::Borrowed(""));
    Scopes::parse(&text, limits).map_err(|_| InvalidRecord::Member(name))
}

#[cfg(test)]
mod tests;
