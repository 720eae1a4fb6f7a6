//! [`Uri`]: an absolute HTTP URL that keeps its bytes.

use alloc::boxed::Box;
use core::fmt;

use super::limits::AuthLimits;
use crate::http::header::{Authority, Host};

/// An absolute URL with the scheme `http` or `https`, exactly as it was written.
///
/// Nothing is normalized: the text of an issuer or a resource is compared and sent byte for byte.
/// For that reason, the parser accepts only what every URL parser reads alike. See
/// [`parse`](Self::parse) for what it rejects.
///
/// Equality compares the text; [`is_same_origin`](Self::is_same_origin) and
/// [`covers`](Self::covers) compare the meaning.
///
/// ```
/// use mcp_proto::auth::{AuthLimits, Uri};
///
/// let limits = AuthLimits::default();
/// let resource = Uri::parse("https://MCP.example", &limits).unwrap();
/// let url = Uri::parse("https://mcp.example:443/tools?v=2", &limits).unwrap();
/// assert_eq!(resource.as_str(), "https://MCP.example"); // no final slash
/// assert_eq!((url.port(), url.path(), url.query()), (443, "/tools", Some("v=2")));
/// assert!(resource.covers(&url));
/// assert!(Uri::parse("https://mcp.example@evil.example/", &limits).is_err());
/// ```
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Uri {
    text: Box<str>,
    scheme: Scheme,
    port: u16,
    /// Where the path starts; the origin ends there.
    path: u16,
    /// Where the query starts, after its `?`; one more than the length if there is none.
    query: u16,
}

/// The scheme of a [`Uri`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Scheme {
    /// Plain HTTP.
    Http,
    /// HTTP over TLS.
    Https,
}

/// The maximum of [`AuthLimits::uri_bytes_max`]: positions are stored in 16 bits.
const BYTES_CEILING: usize = (1 << 16) - 2;

impl Uri {
    /// Parses an absolute URL.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidUri`] for
    /// - a URL longer than [`AuthLimits::uri_bytes_max`];
    /// - a scheme other than `http` and `https`, or none;
    /// - user info, a fragment, or a character that RFC 3986 does not allow, such as a space, a
    ///   backslash or any non-ASCII character;
    /// - a `%` without two hexadecimal digits;
    /// - the path segments `.` and `..`, also if their dots are percent-encoded; and
    /// - a host that is no IP address and that has an empty label, or a last label that is a
    ///   decimal or hexadecimal number. Some resolvers read such a name, as `2130706433` or
    ///   `0x7f.1`, as an IP address.
    pub fn parse(text: &str, limits: &AuthLimits) -> Result<Self, InvalidUri> {
        if text.len() > limits.uri_bytes_max.min(BYTES_CEILING) {
            return Err(InvalidUri::Length);
        }
        let (scheme, rest) = text.split_once("://").ok_or(InvalidUri::Scheme)?;
        let scheme = Scheme::of(scheme).ok_or(InvalidUri::Scheme)?;
        let rest_start = text.len() - rest.len();
        let authority_len = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at_checked(authority_len).ok_or(InvalidUri::Host)?;
        if authority.contains('@') {
            return Err(InvalidUri::UserInfo);
        }
        let port = checked_authority(authority)?.port.unwrap_or_else(|| scheme.default_port());
        let (path, query) = match tail.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (tail, None),
        };
        if tail.contains('#') {
            return Err(InvalidUri::Fragment);
        }
        check_characters(path, b"/")?;
        check_characters(query.unwrap_or_default(), b"/?")?;
        if path.split('/').any(is_dot_segment) {
            return Err(InvalidUri::DotSegment);
        }
        let path_start = rest_start + authority_len;
        let position = |at: usize| u16::try_from(at).map_err(|_| InvalidUri::Length);
        Ok(Self {
            text: text.into(),
            scheme,
            port,
            path: position(path_start)?,
            query: position(path_start + path.len() + 1)?,
        })
    }

    /// Returns the text, as it was parsed.
    #[must_use]
    pub const fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the scheme.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the host.
    #[must_use]
    pub fn host(&self) -> Host<'_> {
        // The authority was parsed before; an empty name equals no host.
        checked_authority(self.authority()).map_or(Host::Name(""), |authority| authority.host)
    }

    /// Returns the port, or the default port of the scheme.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the host and the port, as they were written.
    #[must_use]
    pub fn authority(&self) -> &str {
        self.origin().split_once("://").map_or("", |(_, authority)| authority)
    }

    /// Returns everything before the path: scheme, host and port, as they were written.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.text.get(..usize::from(self.path)).unwrap_or_default()
    }

    /// Returns the path, which is empty or starts with `/`.
    #[must_use]
    pub fn path(&self) -> &str {
        let end = usize::from(self.query).saturating_sub(1);
        self.text.get(usize::from(self.path)..end).unwrap_or_default()
    }

    /// Returns the query, without its `?`.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.text.get(usize::from(self.query)..)
    }

    /// Returns whether the host is a loopback address, `localhost`, or a name below `.localhost`.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        match self.host() {
            Host::Name(name) => is_localhost(name),
            Host::V4(address) => address.is_loopback(),
            Host::V6(address) => address.is_loopback(),
        }
    }

    /// Returns whether scheme, host and port are equal, ignoring case.
    ///
    /// A missing port equals the default port of the scheme.
    #[must_use]
    pub fn is_same_origin(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.port == other.port && self.host().is(&other.host())
    }

    /// Returns whether this URL, as the identifier of a resource, covers `url`.
    ///
    /// The origins must be equal. The path must be equal, or a parent: `/api` covers `/api/v1` and
    /// not `/apix`. Paths are compared byte for byte, without decoding. A query in the resource
    /// must be equal; a resource without one covers every query.
    // AUT-38: metadata of another resource is not used.
    #[must_use]
    pub fn covers(&self, url: &Self) -> bool {
        // A URL with an empty path requests `/`.
        let (path, own) = (or_root(url.path()), self.path());
        let within = path
            .strip_prefix(own)
            .is_some_and(|rest| rest.is_empty() || own.ends_with('/') || rest.starts_with('/'));
        self.is_same_origin(url)
            && within
            && (self.query().is_none() || self.query() == url.query())
    }

    /// Returns the path without its final slash; empty for the root.
    pub(super) fn path_without_final_slash(&self) -> &str {
        self.path().strip_suffix('/').unwrap_or_else(|| self.path())
    }
}

impl fmt::Debug for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Scheme {
    fn of(text: &str) -> Option<Self> {
        if text.eq_ignore_ascii_case("https") {
            Some(Self::Https)
        } else {
            text.eq_ignore_ascii_case("http").then_some(Self::Http)
        }
    }

    /// Returns the default port: 80 or 443.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// Returns whether a host name is `localhost` or a name below it (RFC 6761).
pub(super) fn is_localhost(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    last.eq_ignore_ascii_case("localhost")
}

/// Returns `/` for an empty path.
pub(super) const fn or_root(path: &str) -> &str {
    if path.is_empty() { "/" } else { path }
}

fn checked_authority(text: &str) -> Result<Authority<'_>, InvalidUri> {
    // `Authority::parse` trims blanks, which are not allowed here.
    let authority = Authority::parse(text.as_bytes()).filter(|_| !text.contains([' ', '\t']));
    let authority = authority.ok_or(InvalidUri::Host)?;
    match authority.host {
        Host::Name(name) if name.split('.').any(str::is_empty) || ends_in_number(name) => {
            Err(InvalidUri::Host)
        }
        _ => Ok(authority),
    }
}

/// Returns whether a resolver may read the last label of a name as a number.
fn ends_in_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    let hex = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    last.bytes().all(|byte| byte.is_ascii_digit())
        || hex.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Checks the characters of a path or query by RFC 3986; `more` are allowed besides.
fn check_characters(text: &str, more: &[u8]) -> Result<(), InvalidUri> {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let is_plain = byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte);
        if byte == b'%' {
            let mut digit = || bytes.next().is_some_and(|byte| byte.is_ascii_hexdigit());
            if !(digit() && digit()) {
                return Err(InvalidUri::Percent);
            }
        } else if !is_plain && !more.contains(&byte) {
            return Err(InvalidUri::Character);
        }
    }
    Ok(())
}

/// Returns whether a URL parser may resolve a path segment as `.` or `..`.
fn is_dot_segment(segment: &str) -> bool {
    let mut rest = segment.as_bytes();
    let mut dots = 0;
    while let Some(after) = strip_dot(rest) {
        (rest, dots) = (after, dots + 1);
    }
    rest.is_empty() && (dots == 1 || dots == 2)
}

fn strip_dot(text: &[u8]) -> Option<&[u8]> {
    match text {
        [b'.', rest @ ..] | [b'%', b'2', b'e' | b'E', rest @ ..] => Some(rest),
        _ => None,
    }
}

/// Why a text is not accepted as a [`Uri`].
///
/// ```
/// use mcp_proto::auth::{AuthLimits, InvalidUri, Uri};
///
/// let error = Uri::parse("https://0x7f.1/", &AuthLimits::default()).unwrap_err();
/// assert_eq!(error, InvalidUri::Host);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum InvalidUri {
    /// The URL exceeds [`AuthLimits::uri_bytes_max`].
    Length,
    /// The URL does not start with `https://` or `http://`.
    Scheme,
    /// The URL has user info.
    UserInfo,
    /// The host or port is missing or invalid, or ambiguous between a name and an address.
    Host,
    /// The URL has a fragment.
    Fragment,
    /// The path or query has a character that must be percent-encoded.
    Character,
    /// A `%` is not followed by two hexadecimal digits.
    Percent,
    /// The path has a segment `.` or `..`.
    DotSegment,
}

impl fmt::Display for InvalidUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "the URL is too long (`AuthLimits::uri_bytes_max`)",
            Self::Scheme => "the URL does not start with `https://` or `http://`",
            Self::UserInfo => "the URL has user info: remove everything before the `@`",
            Self::Host => "the host or port of the URL is missing, invalid or ambiguous",
            Self::Fragment => "the URL has a fragment: remove everything from the `#`",
            Self::Character => "the URL has a character that must be percent-encoded",
            Self::Percent => "a `%` in the URL is not followed by two hexadecimal digits",
            Self::DotSegment => "the path of the URL has a segment `.` or `..`",
        })
    }
}

impl core::error::Error for InvalidUri {}

#[cfg(test)]
mod tests;
