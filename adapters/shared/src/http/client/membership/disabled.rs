//! Connections without the `auth` feature: they obtain no credentials.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use http::HeaderValue;
use mcp_proto::client::Client as Machine;
use mcp_proto::http::client::HttpRequest;

use crate::http::client::remote::Remote;
use crate::http::client::transport::AuthReport;
use crate::http::dial::Dial;
use crate::transport::link::Link;

/// The part of a connection in no authorization.
pub(in crate::http::client) struct AuthMember;

#[expect(clippy::unused_self, reason = "shared signatures with the feature")]
impl AuthMember {
    #[expect(clippy::unused_async, reason = "shared signature with the feature")]
    pub(in crate::http::client) async fn join(_: &Remote, _: &Arc<dyn Dial>) -> io::Result<Self> {
        Ok(Self)
    }

    pub(in crate::http::client) const fn parks(&self) -> bool {
        false
    }

    pub(in crate::http::client) const fn addresses(&self) -> AllowedAddresses {
        AllowedAddresses
    }

    pub(in crate::http::client) const fn proofs(&self) -> RequestProofs {
        RequestProofs
    }

    pub(in crate::http::client) const fn attach(&self, _: &Arc<Link<Machine>>) {}

    pub(in crate::http::client) const fn on_report(
        &self,
        _: &Arc<Link<Machine>>,
        _: Option<&str>,
        _: &AuthReport,
    ) {
    }

    #[expect(clippy::unused_async, reason = "shared signature with the feature")]
    pub(in crate::http::client) async fn leave(self) {}
}

/// All addresses.
pub(in crate::http::client) struct AllowedAddresses;

impl AllowedAddresses {
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "shared signature")]
    pub(in crate::http::client) const fn of(
        &self,
        resolved: Vec<SocketAddr>,
    ) -> io::Result<Vec<SocketAddr>> {
        Ok(resolved)
    }
}

/// No proofs.
pub(in crate::http::client) struct RequestProofs;

impl RequestProofs {
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "shared signature")]
    pub(in crate::http::client) fn header(
        &self,
        _: &HttpRequest,
        _: impl FnOnce() -> String,
    ) -> io::Result<Option<HeaderValue>> {
        Ok(None)
    }
}
