//! [`Reach`]: how private an address is, and which URLs a server of some reach may name.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::uri::{Scheme, Uri, is_localhost};
use crate::http::header::Host;

/// How private a network address is.
///
/// A URL that a server names may be at most as private as the server itself. In this way, a public
/// server cannot make a client send requests into the client's private network (server-side
/// request forgery), while a server on a private network can name another one beside it.
///
/// Some addresses have no reach and are never connected to: link-local, multicast, documentation
/// and other reserved addresses, and those of the metadata services of cloud providers.
///
/// ```
/// use mcp_proto::auth::Reach;
///
/// let of = |address: &str| Reach::of(address.parse().unwrap());
/// assert_eq!(of("8.8.8.8"), Some(Reach::Public));
/// assert_eq!(of("::ffff:10.0.0.1"), Some(Reach::Private));
/// assert_eq!(of("169.254.169.254"), None);
/// assert!(Reach::Private.allows("192.168.1.7".parse().unwrap()));
/// assert!(!Reach::Public.allows("127.0.0.1".parse().unwrap()));
/// ```
// AUT-67: no request goes deeper into a network than the server itself is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Reach {
    /// An address on the internet.
    Public,
    /// An address in a private network: RFC 1918, RFC 6598 or IPv6 unique local addresses.
    Private,
    /// An address of this machine.
    Loopback,
}

impl Reach {
    /// Returns the reach of an address, or `None` if it must never be connected to.
    ///
    /// IPv6 addresses that contain an IPv4 address (mapped, NAT64, 6to4) are judged by the latter.
    #[must_use]
    pub const fn of(address: IpAddr) -> Option<Self> {
        match address {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => of_v6(address),
        }
    }

    /// Returns whether an address is at most this private.
    ///
    /// Drivers apply this to the address that they connect to, after name resolution.
    #[must_use]
    pub fn allows(self, address: IpAddr) -> bool {
        Self::of(address).is_some_and(|reach| reach <= self)
    }
}

const fn of_v4(address: Ipv4Addr) -> Option<Reach> {
    match address.octets() {
        [127, ..] => Some(Reach::Loopback),
        // Metadata services of Alibaba Cloud and Azure.
        [100, 100, 100, 200] | [168, 63, 129, 16] => None,
        [10, ..] | [192, 168, ..] => Some(Reach::Private),
        [172, second, ..] if second & 0xF0 == 16 => Some(Reach::Private),
        [100, second, ..] if second & 0xC0 == 64 => Some(Reach::Private),
        // This network, link-local, protocol assignments, benchmarks; multicast and reserved.
        [0, ..] | [169, 254, ..] | [192, 0, 0, _] | [198, 18..=19, ..] | [224..=255, ..] => None,
        // Documentation, and the retired relays of 6to4.
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] | [192, 88, 99, _] => None,
        _ => Some(Reach::Public),
    }
}

const fn of_v6(address: Ipv6Addr) -> Option<Reach> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => Some(Reach::Loopback),
        [0, 0, 0, 0, 0, 0xFFFF, high, low] => of_v4(joined(high, low)),
        [0x64, 0xFF9B, 0, 0, 0, 0, high, low] => of_v4(joined(high, low)),
        [0x2002, high, low, ..] => of_v4(joined(high, low)),
        // Services inside of AWS (metadata, credentials of containers), Oracle Cloud, Scaleway and
        // Google Cloud.
        [0xFD00, 0xEC2 | 0xC1 | 0x42, 0, ..] | [0xFD20, 0xCE, 0, ..] => None,
        [0xFC00..=0xFDFF, ..] => Some(Reach::Private),
        // Protocol assignments (Teredo and others), documentation.
        [0x2001, 0..=0x1FF | 0xDB8, ..] | [0x3FFF, 0..=0xFFF, ..] => None,
        [0x2000..=0x3FFF, ..] => Some(Reach::Public),
        // Everything else is link-local, site-local, multicast or not assigned.
        _ => None,
    }
}

const fn joined(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits((high as u32) << 16 | low as u32)
}

/// Which URLs are accepted from a server, before their hosts are resolved.
///
/// ```
/// use mcp_proto::auth::{AuthLimits, Reach, Uri, UriPolicy, UriRefusal};
///
/// let check = |server, uri: &str| {
///     let uri = Uri::parse(uri, &AuthLimits::default()).unwrap();
///     UriPolicy::of_server(server).check(&uri)
/// };
/// assert_eq!(check(Reach::Public, "https://as.example"), Ok(()));
/// assert_eq!(check(Reach::Public, "http://as.example"), Err(UriRefusal::PlainHttp));
/// assert_eq!(check(Reach::Public, "https://localhost"), Err(UriRefusal::TooPrivate));
/// assert_eq!(check(Reach::Loopback, "http://localhost:9000"), Ok(()));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UriPolicy {
    reach: Reach,
    plain_http: bool,
}

impl UriPolicy {
    /// Creates the policy for URLs that a server of this reach names.
    ///
    /// Plain HTTP is accepted only to loopback hosts, and only from a server on one.
    // AUT-29, AUT-66: HTTPS, or HTTP if both are loopback.
    #[must_use]
    pub const fn of_server(reach: Reach) -> Self {
        Self { reach, plain_http: matches!(reach, Reach::Loopback) }
    }

    /// Accepts hosts of any reach, still without plain HTTP unless it was accepted before.
    #[must_use]
    pub const fn with_any_reach(mut self) -> Self {
        self.reach = Reach::Loopback;
        self
    }

    /// Returns the most private reach that is accepted.
    #[must_use]
    pub const fn reach(&self) -> Reach {
        self.reach
    }

    /// Checks a URL before its host is resolved.
    ///
    /// The addresses that a name resolves to must be checked with [`Reach::allows`], since a name
    /// says nothing about them. For a [loopback](Uri::is_loopback) name, drivers must connect to
    /// loopback addresses only.
    ///
    /// # Errors
    ///
    /// Returns the reason why the URL must not be used.
    pub fn check(&self, uri: &Uri) -> Result<(), UriRefusal> {
        if uri.scheme() == Scheme::Http && !(self.plain_http && uri.is_loopback()) {
            return Err(UriRefusal::PlainHttp);
        }
        let reach = match uri.host() {
            Host::Name(name) if is_localhost(name) => Some(Reach::Loopback),
            Host::Name(name) if is_metadata_service(name) => None,
            Host::Name(_) => Some(Reach::Public),
            Host::V4(address) => Reach::of(IpAddr::V4(address)),
            Host::V6(address) => Reach::of(IpAddr::V6(address)),
        };
        match reach {
            None => Err(UriRefusal::Reserved),
            Some(reach) if reach > self.reach => Err(UriRefusal::TooPrivate),
            Some(_) => Ok(()),
        }
    }
}

/// Returns whether a name is one of a cloud provider's metadata service.
fn is_metadata_service(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "api.metadata.cloud.ibm.com",
        "instance-data",
        "instance-data.ec2.internal",
        "metadata",
        "metadata.azure.internal",
        "metadata.goog",
        "metadata.google.internal",
        "metadata.tencentyun.com",
    ];
    let name = name.strip_suffix('.').unwrap_or(name);
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Why a URL that a server named is not used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum UriRefusal {
    /// The URL is plain HTTP, and not between loopback hosts.
    PlainHttp,
    /// The host is more private than the server that named it.
    TooPrivate,
    /// The host is a reserved address, or the metadata service of a cloud.
    Reserved,
}

impl fmt::Display for UriRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PlainHttp => "the URL must use `https`, except from one loopback host to another",
            Self::TooPrivate => "the host is more private than the server that named it",
            Self::Reserved => "the host is a reserved address or a cloud's metadata service",
        })
    }
}

impl core::error::Error for UriRefusal {}

#[cfg(test)]
mod tests;
