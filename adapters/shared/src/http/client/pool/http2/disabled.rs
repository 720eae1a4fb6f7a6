//! Pools without the `tls` feature: no connection speaks HTTP/2.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;

use crate::http::client::full_body::FullBody;
use crate::http::client::http_send::SendError;
use crate::http::client::pool::permit::Permit;
use crate::http::client::pool_options::HttpVersion;
use crate::http::client::remote::Remote;
use crate::http::dial::{ByteStream, Dial};

/// A place on a connection over HTTP/2: there is none.
// This type and `OpeningGuard` implement `Drop`, as with the feature, because callers drop them
// explicitly, which clippy accepts only for types that do.
pub(in crate::http::client) enum Http2Lease {}

#[expect(clippy::unused_async, reason = "shared signatures with the feature")]
impl Http2Lease {
    pub(in crate::http::client::pool) fn is_open(&self) -> bool {
        match *self {}
    }

    pub(in crate::http::client::pool) async fn send(
        self,
        _: Request<FullBody>,
        _: &Remote,
    ) -> Result<(Self, Response<Incoming>), (SendError, Option<Request<FullBody>>)> {
        match self {}
    }
}

impl Drop for Http2Lease {
    fn drop(&mut self) {
        match *self {}
    }
}

/// Others may always open a connection.
pub(in crate::http::client::pool) struct OpeningGuard;

impl OpeningGuard {
    pub(in crate::http::client::pool) fn finish(self, _: bool) {}
}

impl Drop for OpeningGuard {
    fn drop(&mut self) {}
}

/// No exchange waits for the connection of another one.
#[derive(Default)]
pub(in crate::http::client::pool) struct Patience {}

/// No connections.
#[derive(Default)]
pub(in crate::http::client::pool) struct Http2Pool {}

#[expect(clippy::unused_async, clippy::unused_self, reason = "shared signatures with the feature")]
impl Http2Pool {
    pub(in crate::http::client::pool) fn lease(&self) -> Option<Http2Lease> {
        None
    }

    pub(in crate::http::client::pool) fn is_empty(&self) -> bool {
        true
    }

    pub(in crate::http::client::pool) fn close(&self) {}

    pub(in crate::http::client::pool) fn close_idle(&self, _: Duration) {}

    pub(in crate::http::client::pool) async fn connecting(
        &self,
        _: HttpVersion,
        _: &mut Patience,
    ) -> OpeningGuard {
        OpeningGuard
    }

    pub(in crate::http::client::pool) async fn open(
        &self,
        _: Box<dyn ByteStream>,
        _: &Arc<dyn Dial>,
        _: Permit,
    ) -> io::Result<Http2Lease> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
