//! Parsing of `Host` and `Origin` values, and the loopback check; names are never resolved.

use core::net::{Ipv4Addr, Ipv6Addr};

use super::text;

/// The maximum length of a host name.
const NAME_BYTES_MAX: usize = 253;

/// A host and an optional port.
///
/// ```
/// use mcp_proto::http::header::Authority;
///
/// assert!(Authority::parse(b"LocalHost:8080").unwrap().is_loopback());
/// assert!(Authority::parse(b"[::1]:8080").unwrap().is_loopback());
/// assert!(!Authority::parse(b"localhost.evil.example:8080").unwrap().is_loopback());
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Authority<'a> {
    /// The host.
    pub host: Host<'a>,
    /// The port, if given.
    pub port: Option<u16>,
}

/// The host part of an [`Authority`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Host<'a> {
    /// A host name of letters, digits, `-`, `.` and `_`, in its original case.
    Name(&'a str),
    /// An IPv4 address in dotted decimal.
    V4(Ipv4Addr),
    /// An IPv6 address without a zone.
    V6(Ipv6Addr),
}

impl<'a> Authority<'a> {
    /// Parses the value of a `Host` header: a host and an optional port.
    ///
    /// Returns `None` for anything else, such as a value with user info.
    // HTTP-55: protection against DNS rebinding.
    #[must_use]
    pub fn parse(value: &'a [u8]) -> Option<Self> {
        Self::parse_text(text(value)?)
    }

    fn parse_text(text: &'a str) -> Option<Self> {
        let (host, rest) = if let Some(rest) = text.strip_prefix('[') {
            let (address, rest) = rest.split_once(']')?;
            (Host::V6(address.parse().ok()?), rest)
        } else {
            let (name, rest) = text.split_at_checked(text.find(':').unwrap_or(text.len()))?;
            let host = name.parse().map_or(Host::Name(name), Host::V4);
            let named =
                name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
            if name.is_empty() || name.len() > NAME_BYTES_MAX || !named {
                return None;
            }
            (host, rest)
        };
        if rest.is_empty() {
            return Some(Self { host, port: None });
        }
        let digits = rest.strip_prefix(':')?;
        // `str::parse` would also accept a sign.
        let port =
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())??;
        Some(Self { host, port: Some(port) })
    }

    /// Returns whether the host is `localhost`, `::1`, or an address in 127.0.0.0/8.
    ///
    /// The port is ignored. By default, a [`Policy`](crate::http::Policy) trusts only these hosts.
    /// In an attack by DNS rebinding, the host is a name that the attacker controls.
    // HTTP-55: only loopback hosts are trusted by default.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        match self.host {
            Host::Name(name) => name.eq_ignore_ascii_case("localhost"),
            Host::V4(address) => address.is_loopback(),
            Host::V6(address) => address.is_loopback(),
        }
    }
}

impl Host<'_> {
    /// Returns whether both hosts are equal, ignoring the case of names.
    #[must_use]
    pub fn is(&self, other: &Host<'_>) -> bool {
        match (self, other) {
            (Host::Name(one), Host::Name(other)) => one.eq_ignore_ascii_case(other),
            (one, other) => one == other,
        }
    }
}

/// The parsed value of an `Origin` header.
///
/// ```
/// use mcp_proto::http::header::Origin;
///
/// let origin = Origin::parse(b"http://127.0.0.1:6274").unwrap();
/// assert!(origin.is_loopback());
/// let origin = Origin::parse(b"HTTPS://Example.com").unwrap();
/// assert!(origin.is(&Origin::parse(b"https://example.com:443").unwrap()));
/// assert_eq!(Origin::parse(b"null"), Some(Origin::Opaque));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin<'a> {
    /// The value `null`, which a browser sends to withhold the origin.
    ///
    /// This is different from a missing `Origin` header.
    // T-90: a `null` origin is not exempt from the check.
    Opaque,
    /// A scheme, host and port.
    Known {
        /// The scheme, in its original case.
        scheme: &'a str,
        /// The host, and the port if given.
        authority: Authority<'a>,
    },
}

impl<'a> Origin<'a> {
    /// Parses the value of an `Origin` header: a scheme, a host and an optional port, or `null`.
    ///
    /// Returns `None` for anything else, such as a URL with a path, or a list.
    // HTTP-55: the origin is validated.
    #[must_use]
    pub fn parse(value: &'a [u8]) -> Option<Self> {
        let text = text(value)?;
        if text == "null" {
            return Some(Self::Opaque);
        }
        let (scheme, rest) = text.split_once("://")?;
        let letters =
            scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        let named = scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && letters;
        let authority = Authority::parse_text(rest).filter(|_| named)?;
        Some(Self::Known { scheme, authority })
    }

    /// Returns whether the origin is HTTP or HTTPS on a [loopback host](Authority::is_loopback).
    // HTTP-55: only loopback origins are trusted by default.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        match self {
            Self::Known { scheme, authority } => {
                default_port(scheme).is_some() && authority.is_loopback()
            }
            Self::Opaque => false,
        }
    }

    /// Returns whether both origins are equal.
    ///
    /// Ignores case and treats a missing port as the scheme's default port. An opaque origin equals
    /// no origin, not even itself.
    #[must_use]
    pub fn is(&self, other: &Origin<'_>) -> bool {
        let (
            Self::Known { scheme, authority },
            Origin::Known { scheme: scheme_2, authority: authority_2 },
        ) = (self, other)
        else {
            return false;
        };
        let default = default_port(scheme);
        scheme.eq_ignore_ascii_case(scheme_2)
            && authority.host.is(&authority_2.host)
            && authority.port.or(default) == authority_2.port.or(default)
    }
}

/// Returns the default port of a scheme.
fn default_port(scheme: &str) -> Option<u16> {
    let ports = [("http", 80), ("https", 443)];
    ports.iter().find(|(name, _)| scheme.eq_ignore_ascii_case(name)).map(|(_, port)| *port)
}
