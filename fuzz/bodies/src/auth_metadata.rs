//! Metadata of resources and authorization servers, and challenges.

use mcp_proto::auth::{
    AuthLimits, AuthorizationServerMetadata, ExpectedIssuer, ProtectedResourceMetadata, Reach,
    TokenChallenge, Uri, UriPolicy,
};

/// A document is used only if it is about the URL that was asked for, and names only URLs that the
/// policy accepts.
///
/// The first byte picks the reach and the kind of the document, the rest of the first line is the
/// URL, and the document follows.
pub fn auth_metadata(data: &[u8]) {
    let Some((pick, rest)) = data.split_first() else { return };
    let limits = AuthLimits::default();
    let reach = [Reach::Public, Reach::Private, Reach::Loopback][usize::from(pick % 3)];
    let policy = UriPolicy::of_server(reach);
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let (line, body) = rest.split_at(end);
    let body = body.get(1..).unwrap_or_default();
    let Ok(url) = Uri::parse(&String::from_utf8_lossy(line), &limits) else { return };
    match pick / 3 % 4 {
        0 => resource(body, &url, &policy, &limits),
        1 => server(body, ExpectedIssuer::Exact(&url), &url, &policy, &limits),
        2 => server(body, ExpectedIssuer::AnyFinalSlash(&url), &url, &policy, &limits),
        _ => challenge(body, &limits),
    }
}

fn resource(body: &[u8], url: &Uri, policy: &UriPolicy, limits: &AuthLimits) {
    for location in ProtectedResourceMetadata::locations(url, limits) {
        assert!(location.is_same_origin(url) && location.path().starts_with("/.well-known/oauth-"));
    }
    let metadata = match ProtectedResourceMetadata::parse(body, url, policy, limits) {
        Ok(metadata) => metadata,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    assert!(metadata.resource.covers(url));
    let servers = &metadata.authorization_servers;
    assert!((1..=limits.authorization_servers_max).contains(&servers.len()));
    assert!(servers.iter().all(|uri| policy.check(uri).is_ok()), "{servers:?}");
    if let Some(scopes) = metadata.scopes_supported {
        assert!(scopes.to_string().len() <= limits.scopes_bytes_max);
    }
}

fn server(
    body: &[u8],
    expected: ExpectedIssuer<'_>,
    url: &Uri,
    policy: &UriPolicy,
    limits: &AuthLimits,
) {
    let locations = AuthorizationServerMetadata::locations(url, limits);
    assert!(locations.len() <= 3 && locations.iter().all(|uri| uri.is_same_origin(url)));
    let metadata = match AuthorizationServerMetadata::parse(body, expected, policy, limits) {
        Ok(metadata) => metadata,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let (found, wanted) = (metadata.issuer.as_str(), url.as_str());
    let is_equal = found == wanted;
    let slash = found.trim_end_matches('/') == wanted.trim_end_matches('/');
    assert!(is_equal || matches!(expected, ExpectedIssuer::AnyFinalSlash(_)) && slash);
    let endpoints =
        [metadata.authorization_endpoint, metadata.token_endpoint, metadata.registration_endpoint];
    assert!(endpoints.into_iter().flatten().all(|uri| policy.check(&uri).is_ok()));
}

fn challenge(body: &[u8], limits: &AuthLimits) {
    let values: Vec<&[u8]> = body.split(|byte| *byte == b'\n').collect();
    let Some(challenge) = TokenChallenge::parse(values, limits) else { return };
    if let Some(error) = challenge.error {
        assert!(error.code().len() <= 64 && error.code().bytes().all(|b| b.is_ascii_graphic()));
    }
    if let Some(Ok(uri)) = challenge.resource_metadata {
        assert!(uri.as_str().len() <= limits.uri_bytes_max);
    }
}
