//! Connections to servers without the `tls` feature: never encrypted.

use std::io;

use crate::http::dial::ByteStream;

/// Replaces the TLS configuration of a remote server.
#[derive(Clone, Default)]
pub(crate) struct TlsConfig {}

impl TlsConfig {
    #[allow(clippy::unused_self, reason = "shared signature with the feature")]
    pub(in crate::http::client) const fn has_identity(&self) -> bool {
        false
    }
}

/// Encrypts nothing: `Remote` refuses `https` URLs.
pub(crate) struct Tls;

impl Tls {
    #[expect(clippy::unnecessary_wraps, reason = "shared signature with the feature")]
    pub(crate) const fn new(_: bool, _: &str, _: &TlsConfig, _: bool) -> io::Result<Self> {
        Ok(Self)
    }

    #[allow(clippy::unused_async, clippy::unused_self, reason = "shared signature")]
    pub(crate) async fn negotiate(
        &self,
        stream: Box<dyn ByteStream>,
    ) -> io::Result<(Box<dyn ByteStream>, bool)> {
        Ok((stream, false))
    }
}
