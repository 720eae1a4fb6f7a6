//! The HTTP transports of builds without the `http` feature, which cannot exist.

use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use mcp_proto::Instant;
use mcp_proto::client::Client;
use mcp_proto::server::Server;

use crate::transport::link::{HttpTransport, OnTransport};

impl OnTransport for Client {
    type Http = NoHttp<Self>;
}

impl OnTransport for Server {
    type Http = NoHttp<Self>;
}

/// An HTTP transport, which cannot exist without the `http` feature.
#[expect(unnameable_types, reason = "the transport of a connection is internal")]
pub struct NoHttp<R>(Infallible, PhantomData<R>);

impl<R: OnTransport> HttpTransport<R> for NoHttp<R> {
    fn handle_timeout(&mut self, _: Instant) {
        match self.0 {}
    }

    fn poll_event(&mut self) -> Option<R::Event> {
        match self.0 {}
    }

    fn poll_timeout(&self) -> Option<Instant> {
        match self.0 {}
    }

    fn has_output(&mut self) -> bool {
        match self.0 {}
    }

    fn rest(&mut self) {
        match self.0 {}
    }
}

impl<R> Deref for NoHttp<R> {
    type Target = R;

    fn deref(&self) -> &R {
        match self.0 {}
    }
}

impl<R> DerefMut for NoHttp<R> {
    fn deref_mut(&mut self) -> &mut R {
        match self.0 {}
    }
}

impl<R> fmt::Debug for NoHttp<R> {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {}
    }
}
