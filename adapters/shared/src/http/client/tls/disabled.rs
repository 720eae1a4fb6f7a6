//! Connections to servers without the `tls` feature: never encrypted.

use std::io;

use crate::http::client::dial::ByteStream;

/// Replaces the TLS configuration of a remote server.
#[derive(Clone, Default)]
pub(in crate::http::client) struct TlsConfig;

/// Encrypts nothing: `Remote` refuses `https` URLs.
pub(in crate::http::client) struct Tls;

impl Tls {
    #[expect(clippy::unnecessary_wraps, reason = "shared signature with the feature")]
    pub(in crate::http::client) const fn new(_: bool, _: &str, _: &TlsConfig) -> io::Result<Self> {
        Ok(Self)
    }

    #[expect(clippy::unused_async, clippy::unused_self, reason = "shared signature")]
    pub(in crate::http::client) async fn secure(
        &self,
        stream: Box<dyn ByteStream>,
    ) -> io::Result<Box<dyn ByteStream>> {
        Ok(stream)
    }
}
