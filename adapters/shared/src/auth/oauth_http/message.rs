//! The requests and responses of authorization.

use std::borrow::Cow;

use http::HeaderMap;
use mcp_proto::Secret;
use mcp_proto::auth::{AuthLimits, Fetch, InvalidUri, Reach, Uri};
use mcp_proto::http::client::HttpMethod;
use zeroize::Zeroizing;

/// A request to an authorization server, or for metadata.
///
/// `Debug` shows neither the query of the URL nor credentials nor the body.
#[derive(Clone)]
pub struct OAuthRequest {
    /// The method. Only a GET is redirected.
    pub method: HttpMethod,
    /// The URL.
    pub uri: Uri,
    /// The headers, without `Host`, `Content-Length` and `Authorization`.
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// The value of the `Authorization` header. Redirects to another origin do not get it.
    pub authorization: Option<Secret>,
    /// The body; empty for none.
    pub body: Secret,
    /// The most private address that the request may be sent to.
    pub reach: Reach,
    /// How many redirects are followed; with 0, a redirect is returned like any other response.
    pub redirects_max: u32,
    /// Whether a redirect may lead to another origin. [`reach`](Self::reach) limits it as well.
    pub cross_origin: bool,
}

impl OAuthRequest {
    /// Creates the request that an authorization asks for.
    ///
    /// # Errors
    /// Fails if the URL is not valid within these limits.
    pub fn of(fetch: &Fetch, limits: &AuthLimits) -> Result<Self, InvalidUri> {
        Ok(Self {
            method: fetch.method,
            uri: Uri::parse(&fetch.url, limits)?,
            headers: fetch.headers.clone(),
            authorization: fetch.authorization.clone(),
            body: fetch.body.clone(),
            reach: fetch.reach,
            redirects_max: fetch.redirects_max,
            cross_origin: fetch.cross_origin,
        })
    }

    /// Creates a GET without redirects.
    #[must_use]
    pub fn get(uri: Uri, reach: Reach) -> Self {
        Self {
            method: HttpMethod::Get,
            uri,
            headers: Vec::new(),
            authorization: None,
            body: Secret::new(""),
            reach,
            redirects_max: 0,
            cross_origin: false,
        }
    }
}

opaque_debug!(OAuthRequest, it =>
    method: it.method,
    uri: format_args!("{}{}", it.uri.origin(), it.uri.path()),
    authorization: it.authorization,
    body: it.body,
    reach: it.reach,
    redirects_max: it.redirects_max,
    cross_origin: it.cross_origin
);

/// The response to an [`OAuthRequest`].
///
/// `Debug` shows the status only.
pub struct OAuthResponse {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, which may contain tokens. `None` if it is too long or has a content coding.
    pub body: Option<Zeroizing<Vec<u8>>>,
}

opaque_debug!(OAuthResponse, it => status: it.status);
