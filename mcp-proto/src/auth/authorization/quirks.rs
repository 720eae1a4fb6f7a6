//! [`Quirks`]: deviations from the specification that single servers need.

use alloc::string::String;
use alloc::vec::Vec;

/// Deviations from the specification that a server needs; all are off by default.
///
/// Each use is reported by [`AuthEvent::Deviated`](super::AuthEvent::Deviated). The validation of
/// issuers and resources cannot be turned off.
///
/// ```
/// use mcp_proto::auth::Quirks;
///
/// let quirks = Quirks { issuer_slash: true, ..Quirks::default() };
/// assert!(!quirks.unadvertised_pkce);
/// ```
///
/// Minor releases add fields: write `..Quirks::default()`, and do not destructure without `..`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches, off by default")]
pub struct Quirks {
    /// Uses PKCE at an authorization server whose metadata do not mention PKCE, as with Microsoft
    /// Entra ID and Amazon Cognito.
    // A-20.
    pub unadvertised_pkce: bool,
    /// Accepts an issuer that differs from the expected one by a final slash.
    // A-19.
    pub issuer_slash: bool,
    /// Sends no `resource` parameter to the authorization server, as Microsoft Entra ID demands.
    // A-21.
    pub without_resource: bool,
    /// Further parameters of the authorization request, such as `("prompt", "consent")`.
    ///
    /// Parameters that the client sets itself are not accepted: the flow then fails.
    pub authorize_params: Vec<(String, String)>,
    /// Follows redirects of metadata requests to other origins, within the reach of the server.
    pub cross_origin_redirects: bool,
    /// Lets URLs that the server names lead to any private address.
    pub any_reach: bool,
}

/// A deviation from the specification: a field of [`Quirks`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Quirk {
    /// [`Quirks::unadvertised_pkce`].
    UnadvertisedPkce,
    /// [`Quirks::issuer_slash`].
    IssuerSlash,
    /// [`Quirks::without_resource`].
    WithoutResource,
    /// [`Quirks::authorize_params`].
    AuthorizeParams,
}
