//! Determines the `Authorization` field of a request.

use std::io;
use std::sync::Arc;

use futures_lite::future::{block_on, or};
use http::HeaderValue;
use mcp_proto::client::Client as Machine;
use mcp_proto::http::client::HttpRequest;

use super::authorization::{AsyncAuthorize, Field, INVALID, LATE, field, sensitive};
use super::connections::HttpConnections;
use super::remote::Authorize;
use crate::exec::workers::catch_panic;
use crate::transport::link::{Link, State};

/// Returns the `Authorization` field of a request.
pub(super) async fn authorize(
    link: &Arc<Link<Machine>>,
    connections: &HttpConnections,
    request: &HttpRequest,
) -> io::Result<Option<HeaderValue>> {
    if let Some(credentials) = &request.authorization {
        let field = sensitive(credentials.expose());
        return field
            .map(Some)
            .map_err(|_| io::Error::other("the access token is not a valid header value"));
    }
    let Some(field) = ask(link, connections).await else { return Ok(None) };
    link.with(|state, _| note(state, &field));
    field.map_err(io::Error::other)
}

/// Notes the credentials of the next request. Cached results that may belong to another user are
/// dropped.
// STL-41: private results are not shared between users.
pub(super) fn note(state: &mut State<Machine>, field: &Field) {
    if let Some(transport) = state.http() {
        transport.note_owner(field);
    }
}

/// Asks the function of the application; `None` if there is none.
pub(super) async fn ask(link: &Link<Machine>, connections: &HttpConnections) -> Option<Field> {
    match connections.remote.authorize.clone()? {
        Authorize::Session(_) => None,
        Authorize::Blocking(authorize) => {
            // On a thread where it may block.
            let value = link.shared.callback_threads.call(0, move || authorize()).await;
            Some(field(value))
        }
        Authorize::Async(authorize) => {
            Some(connections.authorization.fetch(fetch(link, connections, authorize)).await)
        }
    }
}

/// Asks the application for the value of a field, for a limited time.
async fn fetch(
    link: &Link<Machine>,
    connections: &HttpConnections,
    authorize: AsyncAuthorize,
) -> Field {
    let late = connections.runtime.sleep(connections.remote.authorization_timeout);
    // Called inside the future: the function may panic, too.
    let value = async move { field(catch_panic(async move { authorize().await }).await) };
    let late = async move {
        late.await;
        Err(LATE)
    };
    let fetched = or(value, late);
    if connections.runtime.is_plain() {
        // The thread that runs this future does all IO, and `value` may block.
        let fetched = link.shared.callback_threads.call(0, move || block_on(fetched)).await;
        fetched.unwrap_or(Err(INVALID))
    } else {
        fetched.await
    }
}
