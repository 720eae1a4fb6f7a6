//! [`Login`]: a user's login that waits for a browser.

use std::sync::Arc;

use mcp_proto::Secret;
use mcp_proto::auth::{RedirectPage, Scopes};

/// The outcome of a login, as the application reports it.
pub(super) trait LoginAnswer: Send + Sync {
    /// Handles the query of a redirect.
    fn on_redirect(&self, query: &str) -> RedirectPage;

    /// Cancels the login.
    fn on_cancel(&self);
}

/// A login that waits for the user to open a URL, from [`Auth::on_login`](super::Auth::on_login).
///
/// Clones share one login. `Debug` does not show the URL, which contains a secret.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::auth::{Auth, Browser};
///
/// // On a host without a browser, the user opens the URL elsewhere and pastes the address of the
/// // page that could not be loaded.
/// let auth = Auth::user("My app").browser(Browser::none()).on_login(|login| {
///     eprintln!("Log in at {}, then paste the address here:", login.url().expose());
///     let mut address = String::new();
///     while std::io::stdin().read_line(&mut address).is_ok_and(|length| length > 0) {
///         if login.redirected(&address) {
///             return;
///         }
///         address.clear();
///     }
///     login.cancel();
/// });
/// # drop(auth);
/// ```
#[derive(Clone)]
pub struct Login {
    pub(super) url: Secret,
    pub(super) issuer: Box<str>,
    pub(super) scopes: Scopes,
    pub(super) answer: Arc<dyn LoginAnswer>,
}

impl Login {
    /// Returns the URL for the user to open. Show it to the user only, and keep it out of logs.
    #[must_use]
    pub const fn url(&self) -> &Secret {
        &self.url
    }

    /// Returns the identifier of the authorization server.
    #[must_use]
    pub const fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Returns the requested scopes; empty if the authorization server decides.
    #[must_use]
    pub const fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// Passes on the address that the browser was redirected to, or only its query.
    ///
    /// Returns whether the address belongs to this login. If not, the login continues, so that the
    /// user can try again.
    #[must_use]
    pub fn redirected(&self, address: &str) -> bool {
        let query = mcp_proto::auth::query_of_redirect(address);
        self.answer.on_redirect(query) != RedirectPage::NotFound
    }

    /// Cancels the login. Calls that wait for it fail.
    ///
    /// Does nothing if the login is over.
    pub fn cancel(&self) {
        self.answer.on_cancel();
    }
}

opaque_debug!(Login, it => issuer: it.issuer, scopes: it.scopes);
