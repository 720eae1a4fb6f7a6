//! Connections to servers without the `tls` feature: never encrypted.

use std::io;

use crate::http::client::dial::ByteStream;

/// Replaces the TLS configuration of a remote server.
#[derive(Clone, Default)]
pub(crate) struct TlsConfig {}

#[cfg(feature = "auth")]
impl TlsConfig {
    /// Returns whether both are equal, which they are.
    #[allow(clippy::unused_self, reason = "shared signature with the feature")]
    pub(crate) const fn is_same(&self, _: &Self) -> bool {
        true
    }
}

/// Encrypts nothing: `Remote` refuses `https` URLs.
pub(crate) struct Tls;

impl Tls {
    #[expect(clippy::unnecessary_wraps, reason = "shared signature with the feature")]
    pub(crate) const fn new(_: bool, _: &str, _: &TlsConfig) -> io::Result<Self> {
        Ok(Self)
    }

    #[allow(clippy::unused_async, clippy::unused_self, reason = "shared signature")]
    pub(crate) async fn secure(
        &self,
        stream: Box<dyn ByteStream>,
    ) -> io::Result<Box<dyn ByteStream>> {
        Ok(stream)
    }
}
