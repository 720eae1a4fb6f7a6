//! Authorization of clients (OAuth 2.1) (feature `auth`): how they log in, and where tokens are
//! kept.

use std::io;

use futures_lite::future::block_on;

use crate::http::Remote;

pub use mcp_adapter::auth::KeyringError;
pub use mcp_adapter::auth::{
    Auth, AuthEvent, Browser, FileStore, IdentityProvider, KnownClient, LockedRecord, Login,
    LoopbackHost, MemoryStore, Quirks, RECORD_BYTES_MAX, Redirect, SealedStore, SigningKey, Store,
};

/// Logs out of the server of `remote`: deletes its tokens, here and in the [store](Auth::store).
///
/// Open connections of this process stay open. If their [`Auth`] is a clone of this
/// one, their next request carries no token; if the server rejects it, the client authorizes itself
/// again, as on its first request. Their waiting requests fail with
/// [`CallError::Unauthorized`](crate::proto::CallError::Unauthorized). The client's registration at
/// the authorization server is kept.
///
/// The tokens are not revoked at the authorization server (RFC 7009): an access token that was
/// copied remains valid until it expires. Other processes that share the store, and connections
/// whose `Auth` is no clone of this one, keep the tokens that they have loaded, and store them
/// again when they renew them.
///
/// ```no_run
/// use mcp_blocking::auth::{Auth, FileStore, log_out};
/// use mcp_blocking::http::Remote;
///
/// # fn main() -> std::io::Result<()> {
/// let auth = Auth::user("My app").store(FileStore::new("/home/ada/.config/my-app/auth"));
/// let remote = Remote::new("https://mcp.example.com/mcp")?.authorized(auth);
/// // Connect with `remote.clone()`; later:
/// log_out(&remote)?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Fails if `remote` is not [authorized](Remote::authorized) or its URL cannot be used, and if the
/// store cannot delete the record: with [`io::ErrorKind::TimedOut`] if another process keeps it for
/// more than 45 s. Open connections forget their tokens even so.
pub fn log_out(remote: &Remote) -> io::Result<()> {
    block_on(mcp_adapter::auth::log_out(remote))
}
