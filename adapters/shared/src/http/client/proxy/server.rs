//! [`ProxyServer`]: the address of a proxy and the credentials for it.

use std::fmt;

use base64ct::{Base64, Encoding as _};
use http::HeaderValue;
use http::uri::Authority;

use super::error::ProxyError;

/// The port of a proxy whose URL names none.
const DEFAULT_PORT: u16 = 80;

/// A proxy: its address, and the credentials for it.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct ProxyServer {
    pub(super) host: String,
    pub(super) port: u16,
    /// The field `Proxy-Authorization`, which no `Debug` shows.
    credentials: Option<HeaderValue>,
}

impl ProxyServer {
    /// Parses the URL of a proxy, which is from this environment variable.
    pub(super) fn parse(url: &str, variable: Option<&'static str>) -> Result<Self, ProxyError> {
        let invalid = || ProxyError::InvalidUrl { variable };
        let url = url.trim();
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        if !scheme.eq_ignore_ascii_case("http") {
            // Anything else that precedes `://` may be part of a password.
            let is_scheme = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
            let scheme = Some(scheme.to_owned()).filter(|_| is_scheme).ok_or_else(invalid)?;
            return Err(ProxyError::UnsupportedScheme { scheme, variable });
        }
        let (authority, after) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if after.contains('@') {
            // What precedes it may be part of a password.
            return Err(invalid());
        }
        let (user, address) = match authority.rsplit_once('@') {
            Some((user, address)) => (Some(user), address),
            None => (None, authority),
        };
        let address: Authority = address.parse().map_err(|_| invalid())?;
        let host = address.host().trim_start_matches('[').trim_end_matches(']');
        let port = address.as_str().strip_prefix(address.host()).unwrap_or_default();
        let port = match port {
            "" | ":" => DEFAULT_PORT,
            _ => address.port_u16().ok_or_else(invalid)?,
        };
        if host.is_empty() {
            return Err(invalid());
        }
        let credentials = user.map(|user| credentials(user).ok_or_else(invalid)).transpose()?;
        Ok(Self { host: host.to_owned(), port, credentials })
    }

    /// Returns the field `Proxy-Authorization` of requests to the proxy itself.
    pub(crate) const fn credentials(&self) -> Option<&HeaderValue> {
        self.credentials.as_ref()
    }

    /// Returns the error for a response with status 407.
    pub(crate) fn unauthorized(&self) -> ProxyError {
        let had_credentials = self.credentials.is_some();
        ProxyError::CredentialsRequired { proxy: self.to_string(), had_credentials }
    }
}

/// Returns the field for a URL's user name and password, as HTTP's Basic scheme wants it.
fn credentials(user: &str) -> Option<HeaderValue> {
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let mut pair = percent_decoded(user);
    pair.push(b':');
    pair.extend(percent_decoded(password));
    let mut field =
        HeaderValue::from_str(&format!("Basic {}", Base64::encode_string(&pair))).ok()?;
    field.set_sensitive(true);
    Some(field)
}

/// Decodes percent-encoded bytes; a `%` without two digits stays.
fn percent_decoded(text: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let byte = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match byte.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                decoded.push(*first);
                rest = after;
            }
        }
    }
    decoded
}

/// Shows the host and port, but no credentials.
impl fmt::Display for ProxyServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&host_and_port(&self.host, self.port))
    }
}

impl fmt::Debug for ProxyServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns a host, in brackets if it is an IPv6 address, and a port.
pub(super) fn host_and_port(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_parsed() {
        for (url, address, credentials) in [
            ("http://proxy.example:3128", "proxy.example:3128", None),
            ("HTTP://proxy.example/", "proxy.example:80", None),
            ("proxy.example:3128", "proxy.example:3128", None),
            (" http://[::1]:3128/path?query ", "[::1]:3128", None),
            ("http://ada:pass@proxy.example:1", "proxy.example:1", Some("ada:pass")),
            ("ada:pass@proxy.example", "proxy.example:80", Some("ada:pass")),
            ("http://ada@proxy.example", "proxy.example:80", Some("ada:")),
            ("http://a%40b:p%3a%2Fs%zz%@proxy.example", "proxy.example:80", Some("a@b:p:/s%zz%")),
            ("http://ada:p@ss@proxy.example", "proxy.example:80", Some("ada:p@ss")),
        ] {
            let server = ProxyServer::parse(url, None).unwrap();
            assert_eq!(server.to_string(), address, "{url}");
            let field = server.credentials().map(|field| field.to_str().unwrap().to_owned());
            let expected =
                credentials.map(|pair| format!("Basic {}", Base64::encode_string(pair.as_bytes())));
            assert_eq!(field, expected, "{url}");
            assert!(!format!("{server:?}").contains("pass"), "{url}");
        }
    }

    #[test]
    fn invalid_urls_are_refused_without_their_secrets() {
        for url in [
            "",
            "http://",
            "http://:3128",
            "http://user:secret@",
            "http://user:secret@proxy.example:99999",
            "http://user:sec/secret@proxy.example",
            "user:secret://proxy.example",
            "http://proxy secret.example",
        ] {
            let error = ProxyServer::parse(url, Some("HTTP_PROXY")).unwrap_err();
            assert_eq!(error, ProxyError::InvalidUrl { variable: Some("HTTP_PROXY") }, "{url}");
            assert!(!format!("{error} {error:?}").contains("secret"), "{url}");
        }
        for url in ["https://user:secret@proxy.example", "socks5h://user:secret@proxy.example"] {
            let error = ProxyServer::parse(url, None).unwrap_err();
            assert!(matches!(error, ProxyError::UnsupportedScheme { .. }), "{url}");
            assert!(!format!("{error} {error:?}").contains("secret"), "{url}");
        }
    }
}
