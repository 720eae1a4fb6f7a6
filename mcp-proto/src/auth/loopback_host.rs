//! [`LoopbackHost`]: how a redirect URI names this machine.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How a redirect URI names this machine.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum LoopbackHost {
    /// `127.0.0.1`, which RFC 8252 recommends.
    #[default]
    V4,
    /// `[::1]`.
    V6,
    /// `localhost`, for authorization servers that accept nothing else. Listens on `127.0.0.1`.
    Localhost,
}

impl LoopbackHost {
    /// Returns the address to listen on.
    #[must_use]
    pub const fn address(self) -> IpAddr {
        match self {
            Self::V4 | Self::Localhost => IpAddr::V4(Ipv4Addr::LOCALHOST),
            Self::V6 => IpAddr::V6(Ipv6Addr::LOCALHOST),
        }
    }

    /// Returns the host as it is written in a URL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V4 => "127.0.0.1",
            Self::V6 => "[::1]",
            Self::Localhost => "localhost",
        }
    }
}

impl fmt::Display for LoopbackHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
