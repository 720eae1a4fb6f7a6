//! Hosts and origins, as `Host` and `Origin` say them; knows which are this machine, and resolves
//! no name.

use core::net::{Ipv4Addr, Ipv6Addr};

use super::text;

/// The longest name of a host.
const NAME_BYTES_MAX: usize = 253;

/// A host and its port.
///
/// ```
/// use mcp_proto::http::field::Authority;
///
/// assert!(Authority::parse(b"LocalHost:8080").unwrap().is_loopback());
/// assert!(Authority::parse(b"[::1]:8080").unwrap().is_loopback());
/// assert!(!Authority::parse(b"localhost.evil.example:8080").unwrap().is_loopback());
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Authority<'a> {
    /// The host.
    pub host: Host<'a>,
    /// The port, if there is one.
    pub port: Option<u16>,
}

/// A host.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Host<'a> {
    /// A name: letters, digits, `-`, `.` and `_`, in the case they came in.
    Name(&'a str),
    /// An address of IPv4, in four plain decimal numbers.
    V4(Ipv4Addr),
    /// An address of IPv6, without a zone.
    V6(Ipv6Addr),
}

impl<'a> Authority<'a> {
    /// What a `Host` says: a host, and a port if any; nothing else, such as a user. (HTTP-55)
    #[must_use]
    pub fn parse(value: &'a [u8]) -> Option<Self> {
        Self::read(text(value)?)
    }

    fn read(text: &'a str) -> Option<Self> {
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
        // A number would be read with a sign as well.
        let port =
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())??;
        Some(Self { host, port: Some(port) })
    }

    /// Whether the host is this machine and no name service is asked: `localhost`, 127.0.0.0/8 or
    /// `::1`, at any port. (HTTP-55)
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
    /// Whether two are the same host, whatever the case of their names.
    #[must_use]
    pub fn is(&self, other: &Host<'_>) -> bool {
        match (self, other) {
            (Host::Name(one), Host::Name(other)) => one.eq_ignore_ascii_case(other),
            (one, other) => one == other,
        }
    }
}

/// Where a request comes from, as a browser says it.
///
/// ```
/// use mcp_proto::http::field::Origin;
///
/// let origin = Origin::parse(b"http://127.0.0.1:6274").unwrap();
/// assert!(origin.is_loopback());
/// assert!(Origin::parse(b"HTTPS://Example.com").unwrap().is(&Origin::parse(b"https://example.com:443").unwrap()));
/// assert_eq!(Origin::parse(b"null"), Some(Origin::Opaque));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin<'a> {
    /// `null`: the browser does not say; not the same as no origin at all. (T-90)
    Opaque,
    /// A scheme, a host and a port.
    Known {
        /// The scheme, in the case it came in.
        scheme: &'a str,
        /// The host, and the port if it is not the scheme's own.
        authority: Authority<'a>,
    },
}

impl<'a> Origin<'a> {
    /// What an `Origin` says; `None` for what is none, such as a URL with a path or a list.
    /// (HTTP-55)
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
        let authority = Authority::read(rest).filter(|_| named)?;
        Some(Self::Known { scheme, authority })
    }

    /// Whether it is a page that this machine served: over HTTP or HTTPS from a host that [is this
    /// machine](Authority::is_loopback). (HTTP-55)
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        match self {
            Self::Known { scheme, authority } => {
                port_of(scheme).is_some() && authority.is_loopback()
            }
            Self::Opaque => false,
        }
    }

    /// Whether two are the same origin, whatever their case and whether they name the scheme's own
    /// port. An opaque one is the same as none.
    #[must_use]
    pub fn is(&self, other: &Origin<'_>) -> bool {
        let (
            Self::Known { scheme, authority },
            Origin::Known { scheme: scheme_2, authority: authority_2 },
        ) = (self, other)
        else {
            return false;
        };
        let own = port_of(scheme);
        scheme.eq_ignore_ascii_case(scheme_2)
            && authority.host.is(&authority_2.host)
            && authority.port.or(own) == authority_2.port.or(own)
    }
}

/// The scheme's own port.
fn port_of(scheme: &str) -> Option<u16> {
    let ports = [("http", 80), ("https", 443)];
    ports.iter().find(|(name, _)| scheme.eq_ignore_ascii_case(name)).map(|(_, port)| *port)
}
