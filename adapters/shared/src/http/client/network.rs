//! [`Network`]: how connections to servers are opened.

use super::proxy::Proxy;
use super::tls::TlsConfig;

/// How connections to servers are opened: whom TLS trusts, and through which proxy.
#[derive(Clone, Default)]
pub(crate) struct Network {
    pub(crate) tls: TlsConfig,
    pub(crate) proxy: Proxy,
}

impl Network {
    /// Returns whether both have one proxy, and the default TLS configuration or one object.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.tls.is_same(&other.tls) && self.proxy == other.proxy
    }
}
