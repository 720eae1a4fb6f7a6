//! Logging out: deletes the tokens of a client for one server.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mcp_proto::auth::RecordKey;

use super::membership::drivers_with;
use super::store::Store;
use crate::exec::operation::Operation;
use crate::exec::watched::Watched;
use crate::http::Remote;

/// How long a record is waited for that another task or process uses.
const LOCK_TIMEOUT: Duration = Duration::from_secs(45);

/// Logs out of the server of `remote`: deletes its tokens, here and in the
/// [store](super::Auth::store).
///
/// Open connections of this process stay open. If their [`Auth`](super::Auth) is a clone of this
/// one, their next request carries no token; if the server rejects it, the client authorizes itself
/// again, as on its first request. Their waiting requests fail with
/// [`CallError::Unauthorized`](mcp_proto::CallError::Unauthorized). The client's registration at
/// the authorization server is kept.
///
/// The tokens are not revoked at the authorization server (RFC 7009): an access token that was
/// copied remains valid until it expires. Other processes that share the store, and connections
/// whose `Auth` is no clone of this one, keep the tokens that they have loaded, and store them
/// again when they renew them.
///
/// ```no_run
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::auth::{Auth, FileStore, log_out};
/// use mcp_tokio::http::Remote;
///
/// # async fn example() -> Result<(), mcp_tokio::Error> {
/// let auth = Auth::user("My app").store(FileStore::new("/home/ada/.config/my-app/auth"));
/// let remote = Remote::new("https://mcp.example.com/mcp")?.authorized(auth);
/// // Connect with `remote.clone()`; later:
/// log_out(&remote).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The operation fails if `remote` is not [authorized](Remote::authorized) or its URL cannot be
/// used, and if the store cannot delete the record: with [`io::ErrorKind::TimedOut`] if another
/// process keeps it for more than 45 s. Open connections forget their tokens even so.
pub fn log_out(remote: &Remote) -> Operation<'_, ()> {
    Operation::new(async { Ok(forget(remote).await?) })
}

async fn forget(remote: &Remote) -> io::Result<()> {
    let auth = remote.auth().ok_or_else(|| {
        let why = "there is nothing to log out of: the `Remote` has no `Auth`";
        io::Error::new(io::ErrorKind::InvalidInput, why)
    })?;
    let key = auth.config(auth.server(remote)?, remote.certificate().as_deref())?.grant_key();
    // First, so that no token is renewed and saved later.
    drivers_with(auth, &key).iter().for_each(|driver| driver.forget());
    let store = Arc::clone(&auth.store);
    let deleted = Arc::new(Watched::new(None));
    let outcome = Arc::clone(&deleted);
    thread::Builder::new().name("mcp-log-out".to_owned()).spawn(move || {
        let delete = || delete(&*store, &key);
        let done = catch_unwind(AssertUnwindSafe(delete))
            .unwrap_or_else(|_| Err(io::Error::other("the store panicked")));
        outcome.change(|outcome| *outcome = Some(done));
    })?;
    deleted.when(Option::take).await
}

fn delete(store: &dyn Store, key: &RecordKey) -> io::Result<()> {
    store.acquire(key, LOCK_TIMEOUT)?.remove()
}
