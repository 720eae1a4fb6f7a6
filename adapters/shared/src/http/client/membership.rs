//! The seam to an authorization that obtains the credentials of a server's connections.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use http::HeaderValue;
use mcp_proto::client::Client as Machine;
use mcp_proto::http::client::HttpRequest;

use super::transport::AuthReport;
use crate::box_future::BoxFuture;
use crate::transport::link::Link;

/// A connection's membership in a shared authorization, which ends on drop.
pub(crate) trait Membership: Send + Sync {
    /// Connects a session, before it sends anything.
    fn attach(&self, link: &Arc<Link<Machine>>);

    /// Passes on what the session reports. `redirected_to` rejected the request, if redirects led
    /// to another URL than that of the connection.
    fn on_report(
        &self,
        link: &Arc<Link<Machine>>,
        redirected_to: Option<&str>,
        report: &AuthReport,
    );

    /// Returns the addresses that may be connected to, of those that the server's name has.
    ///
    /// # Errors
    /// Fails if none of them may be.
    fn allowed(&self, resolved: Vec<SocketAddr>) -> io::Result<Vec<SocketAddr>>;

    /// Returns the header `DPoP` of a request to `url`, if it needs one. Each attempt needs a new
    /// one.
    ///
    /// # Errors
    /// Fails if the header cannot be signed.
    fn proof(
        &self,
        request: &HttpRequest,
        url: &dyn Fn() -> String,
    ) -> io::Result<Option<HeaderValue>>;

    /// Leaves the authorization; waits until a refresh in flight is saved.
    fn leave(&self) -> BoxFuture<'_, ()>;
}
