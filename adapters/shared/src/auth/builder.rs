//! [`Auth`]: how a client authorizes itself.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use mcp_proto::Secret;
use mcp_proto::auth::{
    AuthConfig, AuthEvent, AuthLimits, KnownClient, Quirks, Redirect, Scopes, Uri,
};

use super::browser::Browser;
use super::extensions::{ExtensionGrant, Extensions};
use super::login::Login;
use super::store::{MemoryStore, Store};
use crate::http::Remote;

type OnLogin = dyn Fn(Login) + Send + Sync;
type OnEvent = dyn Fn(&AuthEvent) + Send + Sync;
type EnterClient = dyn Fn(&str) -> Option<(String, Option<Secret>)> + Send + Sync;

/// How a client obtains access tokens (OAuth 2.1), for
/// [`Remote::authorized`](crate::http::Remote::authorized).
///
/// Nothing happens before the server rejects a request. The request then waits, the client obtains
/// a token, and the request is sent again. Later, the token is renewed without the user.
///
/// Connections of this process share one login if their URLs, profiles, clients, proxies
/// and TLS configurations are equal, and if they have one store, identity function and signing key:
/// clones of one `Auth` do. The browser and the other functions are those of the first. Each call
/// of [`store`](Self::store) makes another store.
///
/// Tokens that are in the store already, perhaps from another process, are used by clients with
/// equal URL, profile, kind of grant, name, clients and certificate. Users who log in are not
/// compared: use a [profile](Self::profile) for each of them. For
/// [`enterprise`](Self::enterprise) and [`workload`](Self::workload), the issuer and the subject of
/// the identity must be those that the tokens were issued for, and for
/// [`client_credentials`](Self::client_credentials) the secret or the key.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::auth::{Auth, FileStore};
/// use mcp_tokio::http::Remote;
///
/// # fn main() -> std::io::Result<()> {
/// let auth = Auth::user("My app").store(FileStore::new("/home/ada/.config/my-app/auth"));
/// let remote = Remote::new("https://mcp.example.com/mcp")?.authorized(auth);
/// # drop(remote);
/// # Ok(())
/// # }
/// ```
///
/// [Specification][spec]
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
#[derive(Clone)]
#[must_use]
pub struct Auth {
    grant: Grant,
    profile: Option<String>,
    clients: Vec<KnownClient>,
    metadata_url: Option<String>,
    redirect: Option<Redirect>,
    scopes: Vec<String>,
    refreshes: bool,
    legacy: bool,
    quirks: Quirks,
    limits: AuthLimits,
    pub(super) store: Arc<dyn Store>,
    pub(super) browser: Browser,
    pub(super) on_login: Option<Arc<OnLogin>>,
    pub(super) on_event: Option<Arc<OnEvent>>,
    pub(super) enter_client: Option<Arc<EnterClient>>,
    pub(super) extensions: Extensions,
}

/// Who is authorized.
#[derive(Clone)]
pub(super) enum Grant {
    /// A user of the application with this name.
    User(String),
    Extension(ExtensionGrant),
}

impl Auth {
    /// Authorizes the application `name` by a user, who logs in with a browser.
    ///
    /// The client identifies itself to the authorization server by the first of: a
    /// [registered client](Self::pre_registered), its
    /// [metadata document](Self::client_metadata_url), dynamic registration under `name`, and what
    /// the user [enters](Self::enter_client).
    pub fn user(name: &str) -> Self {
        Self::new(Grant::User(name.to_owned()))
    }

    pub(super) fn new(grant: Grant) -> Self {
        Self {
            grant,
            profile: None,
            clients: Vec::new(),
            metadata_url: None,
            redirect: None,
            scopes: Vec::new(),
            refreshes: true,
            legacy: true,
            quirks: Quirks::default(),
            limits: AuthLimits::default(),
            store: process_store(),
            browser: Browser::default(),
            on_login: None,
            on_event: None,
            enter_client: None,
            extensions: Extensions::default(),
        }
    }

    /// Sets where tokens and registrations are kept. Default: in the memory of this process, where
    /// all connections share them.
    ///
    /// The store is used on a separate thread, where it may block.
    pub fn store(mut self, store: impl Store) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Sets how URLs are opened for the user. Default: see [`Browser`].
    ///
    /// Without a browser, [`on_login`](Self::on_login) is required.
    pub fn browser(mut self, browser: Browser) -> Self {
        self.browser = browser;
        self
    }

    /// Passes each login to a function, which can show its URL to the user and pass on the address
    /// that the user's browser was redirected to.
    ///
    /// `on_login` runs on a separate thread and may block. At most four calls overlap: while that
    /// many have not returned, only the newest login waits, because it has ended the others. The
    /// [browser](Self::browser), if there is one, opens the URL as well.
    pub fn on_login(mut self, on_login: impl Fn(Login) + Send + Sync + 'static) -> Self {
        self.on_login = Some(Arc::new(on_login));
        self
    }

    /// Calls a function for each event: tokens that were granted, renewed or denied, and those that
    /// the store could not keep.
    ///
    /// `on_event` runs on a separate thread, for one event after the other, and may block. Beyond
    /// 64 waiting events, the oldest are dropped, but never the latest one that says whether there
    /// is a grant. Events contain no secrets.
    pub fn on_event(mut self, on_event: impl Fn(&AuthEvent) + Send + Sync + 'static) -> Self {
        self.on_event = Some(Arc::new(on_event));
        self
    }

    /// Sets the profile: the tokens of different profiles are kept apart. Default: `default`.
    pub fn profile(mut self, profile: &str) -> Self {
        self.profile = Some(profile.to_owned());
        self
    }

    /// Adds a client that was registered with an authorization server in advance. It is used at
    /// that server only.
    pub fn pre_registered(mut self, client: KnownClient) -> Self {
        self.clients.push(client);
        self
    }

    /// Sets the `https` URL of the document that describes this client: its client id at
    /// authorization servers that support such documents.
    ///
    /// The document must list the redirect URI `http://127.0.0.1/callback`.
    pub fn client_metadata_url(mut self, url: &str) -> Self {
        self.metadata_url = Some(url.to_owned());
        self
    }

    /// Sets the function that lets the user enter a client id and, if there is one, its secret.
    ///
    /// The function receives the identifier of the authorization server and returns `None` to give
    /// up. It is called if the client cannot identify itself otherwise, runs on a separate thread
    /// and may block for 10 minutes.
    pub fn enter_client(
        mut self,
        enter: impl Fn(&str) -> Option<(String, Option<Secret>)> + Send + Sync + 'static,
    ) -> Self {
        self.enter_client = Some(Arc::new(enter));
        self
    }

    /// Requests scopes in addition to those that the server names. Default: none.
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Sets where the browser returns to. Default: any free port of `127.0.0.1`, with `/callback`.
    ///
    /// Authorization servers may know a [registered client](Self::pre_registered) with one redirect
    /// URI only, such as `http://localhost:3118/callback`: set its host, port and path. With any
    /// redirect but [`Redirect::Loopback`], the application receives the redirect and passes it to
    /// [`Login::redirected`].
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::auth::{Auth, KnownClient, LoopbackHost, Redirect};
    ///
    /// let (host, path) = (LoopbackHost::Localhost, "/callback".into());
    /// let auth = Auth::user("My app")
    ///     .pre_registered(KnownClient::new("https://login.example.com", "my-id"))
    ///     .redirect(Redirect::Loopback { host, port: Some(3118), path });
    /// # drop(auth);
    /// ```
    pub fn redirect(mut self, redirect: Redirect) -> Self {
        self.redirect = Some(redirect);
        self
    }

    /// Requests no refresh tokens: the user logs in again when the access token expires.
    pub const fn without_refresh(mut self) -> Self {
        self.refreshes = false;
        self
    }

    /// Disables the rules of revision 2025-03-26 for servers that publish no resource metadata.
    pub const fn without_legacy(mut self) -> Self {
        self.legacy = false;
        self
    }

    /// Sets the deviations from the specification that the server needs. Default: none.
    pub fn quirks(mut self, quirks: Quirks) -> Self {
        self.quirks = quirks;
        self
    }

    /// Sets the limits on what servers send.
    pub fn limits(mut self, limits: AuthLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns whether both have one store, one identity function and one signing key.
    pub(super) fn has_identity_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.store, &other.store) && self.extensions.has_identity_of(&other.extensions)
    }

    /// Returns the limits.
    pub(super) const fn auth_limits(&self) -> &AuthLimits {
        &self.limits
    }

    /// Returns the URL of a server.
    ///
    /// # Errors
    /// Fails if it cannot be used with authorization.
    pub(super) fn server(&self, remote: &Remote) -> io::Result<Uri> {
        Uri::parse(&remote.whole_url(), &self.limits).map_err(|error| {
            let why = format!("the URL cannot be used with `Auth`: {error}");
            io::Error::new(io::ErrorKind::InvalidInput, why)
        })
    }

    /// Returns the configuration for the server at a URL. `certificate` is the fingerprint of the
    /// one that the client presents, if any.
    ///
    /// # Errors
    /// Fails if the scopes cannot be used.
    pub(super) fn config(&self, server: Uri, certificate: Option<&str>) -> io::Result<AuthConfig> {
        let scopes = Scopes::parse(&self.scopes.join(" "), &self.limits).map_err(|error| {
            let why = format!("invalid `Auth::scopes`: {error}");
            io::Error::new(io::ErrorKind::InvalidInput, why)
        })?;
        let mut config = match &self.grant {
            Grant::User(name) => AuthConfig::user(server, name),
            Grant::Extension(grant) => grant.config(server),
        };
        config = config.quirks(self.quirks.clone()).limits(self.limits.clone());
        config = self.clients.iter().cloned().fold(config, AuthConfig::client);
        if let Some(profile) = &self.profile {
            config = config.profile(profile);
        }
        if let Some(url) = &self.metadata_url {
            config = config.metadata_document(url);
        }
        if let Some(redirect) = &self.redirect {
            config = config.redirect(redirect.clone());
        }
        config = self.extensions.apply_signing_key(config);
        if let Some(certificate) = certificate {
            config = config.certificate(certificate);
        }
        config = config.scopes(scopes);
        config = if self.refreshes { config } else { config.without_refresh() };
        Ok(if self.legacy { config } else { config.without_legacy() })
    }
}

/// Returns the store that clients of this process share by default.
fn process_store() -> Arc<dyn Store> {
    static STORE: OnceLock<Arc<MemoryStore>> = OnceLock::new();
    let store: Arc<MemoryStore> = Arc::clone(STORE.get_or_init(Arc::default));
    store
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grant = match &self.grant {
            Grant::User(_) => "User",
            Grant::Extension(grant) => grant.name(),
        };
        f.debug_struct("Auth")
            .field("grant", &grant)
            .field("profile", &self.profile)
            .finish_non_exhaustive()
    }
}
