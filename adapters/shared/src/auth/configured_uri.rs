//! URLs of authorization servers that the application has configured.

use std::io;

use mcp_proto::auth::{AuthLimits, InvalidUri, Reach, Uri, UriPolicy};

/// Checks the URL of an authorization server that the application has configured.
///
/// # Errors
/// Fails if it is malformed, or neither `https` nor `http` on a loopback host.
pub(super) fn configured_uri(url: &str) -> io::Result<Uri> {
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
    let uri = Uri::parse(url, &AuthLimits::default())
        .map_err(|why: InvalidUri| invalid(format!("the URL {url:?} is malformed: {why}")))?;
    let checked = UriPolicy::of_server(Reach::Loopback).check(&uri);
    checked.map_err(|why| invalid(format!("the URL {url:?} is refused: {why}")))?;
    Ok(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_and_loopback_urls_are_accepted() {
        for (url, is_accepted) in [
            ("https://id.example.com/tenant", true),
            ("https://10.0.0.1", true),
            ("http://localhost:9000", true),
            ("http://id.example.com", false),
            ("https://169.254.169.254/", false),
            ("https://user@id.example.com", false),
            ("id.example.com", false),
        ] {
            assert_eq!(configured_uri(url).is_ok(), is_accepted, "{url}");
        }
    }
}
