//! [`AuthLimits`]: every bound of authorization, with its default and its memory cost.

use core::time::Duration;

/// The limits of authorization: sizes of what servers send, and numbers of attempts.
///
/// Byte limits are enforced before the text is parsed. While a flow runs, one document is held at
/// a time; between flows, only tokens and their scopes are.
///
/// ```
/// use mcp_proto::auth::AuthLimits;
///
/// let limits = AuthLimits { token_bytes_max: 8 << 10, ..AuthLimits::default() };
/// assert_eq!(limits.scopes_max, 128); // the other limits keep their defaults
/// ```
///
/// Minor releases add fields: write `..AuthLimits::default()`, and do not destructure without `..`.
#[derive(Clone, Debug, Eq, PartialEq)]
// SEC-19: whatever a peer sends, memory and work are bounded.
pub struct AuthLimits {
    /// Maximum length of a metadata document in bytes. Default: 256 KiB.
    ///
    /// Costs up to this much memory while the document is fetched.
    pub metadata_bytes_max: usize,
    /// Maximum length of the response to a client registration in bytes. Default: 64 KiB.
    pub registration_bytes_max: usize,
    /// Maximum length of a token response in bytes. Default: 128 KiB.
    pub token_response_bytes_max: usize,
    /// Maximum length of one token or authorization code in bytes. Default: 32 KiB.
    ///
    /// Costs up to twice this limit per grant: an access and a refresh token.
    pub token_bytes_max: usize,
    /// Maximum length of a URL that a server names, in bytes. Default: 4 KiB; at most 64 KiB.
    pub uri_bytes_max: usize,
    /// Maximum length of the URL of an authorization request in bytes. Default: 16 KiB.
    pub authorization_uri_bytes_max: usize,
    /// Maximum length of a client id in bytes. Default: 2 KiB.
    pub client_id_bytes_max: usize,
    /// Maximum length of a client secret in bytes. Default: 4 KiB.
    pub client_secret_bytes_max: usize,
    /// Maximum number of scopes in a set. Default: 128.
    pub scopes_max: usize,
    /// Maximum length of one scope in bytes. Default: 256.
    pub scope_bytes_max: usize,
    /// Maximum length of a set of scopes in bytes, separated by spaces. Default: 4 KiB.
    pub scopes_bytes_max: usize,
    /// Maximum length of the query of a redirect in bytes. Default: 32 KiB.
    pub redirect_bytes_max: usize,
    /// Maximum length of a stored record in bytes. Default: 256 KiB.
    pub record_bytes_max: usize,
    /// Maximum nesting depth of a JSON document, at most 128. Default: 16. Costs no memory.
    pub depth_max: u8,
    /// Maximum number of authorization servers tried of one resource. Default: 4.
    ///
    /// Further servers that the resource's metadata lists are ignored.
    pub authorization_servers_max: usize,
    /// Maximum number of HTTP requests in one flow. Default: 24.
    pub requests_max: u32,
    /// Maximum number of redirects that the fetch of a document follows. Default: 3.
    ///
    /// Other requests are never redirected.
    pub redirects_max: u32,
    /// Maximum number of consecutive flows whose tokens the MCP server never accepts. Default: 3.
    pub flows_max: u32,
    /// Time in which a refusal for lack of scopes leads to a new authorization only once per
    /// operation. Default: 10 min.
    pub scope_retry_interval: Duration,
    /// Maximum number of such refusals that lead to a new authorization within this time.
    /// Default: 64.
    ///
    /// Beyond it, further ones end in [`Denial::Loop`](crate::auth::Denial::Loop). Each is
    /// remembered with its operation and scopes.
    pub scope_retries_max: usize,
}

impl Default for AuthLimits {
    fn default() -> Self {
        Self {
            metadata_bytes_max: 256 << 10,
            registration_bytes_max: 64 << 10,
            token_response_bytes_max: 128 << 10,
            token_bytes_max: 32 << 10,
            uri_bytes_max: 4 << 10,
            authorization_uri_bytes_max: 16 << 10,
            client_id_bytes_max: 2 << 10,
            client_secret_bytes_max: 4 << 10,
            scopes_max: 128,
            scope_bytes_max: 256,
            scopes_bytes_max: 4 << 10,
            redirect_bytes_max: 32 << 10,
            record_bytes_max: 256 << 10,
            depth_max: 16,
            authorization_servers_max: 4,
            requests_max: 24,
            redirects_max: 3,
            flows_max: 3,
            scope_retry_interval: Duration::from_secs(600),
            scope_retries_max: 64,
        }
    }
}
