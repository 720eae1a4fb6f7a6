//! [`Authorization`]: obtains and renews the credentials for an MCP server, without IO.

mod action;
mod challenge;
mod challenges;
mod checking;
mod config;
mod denial;
mod event;
mod exchange;
mod flow;
mod grant;
mod output;
mod ownership;
mod quirks;
mod record_key;
mod reports;
mod state;
mod step_ups;
mod storage;
mod time;

pub use action::{AuthAction, Fetch, FetchFailure, FetchId, KeyUse, SignId, StoreId};
pub use config::{AuthConfig, IdentityProvider, KnownClient, Redirect};
pub use denial::Denial;
pub use event::{
    AuthEvent, AuthInput, DropReason, Forget, RedirectPage, RejectedRequest, StoreFailure, Stored,
    Verdict,
};
pub use quirks::{Quirk, Quirks};
pub use record_key::RecordKey;
pub use time::Time;

use alloc::boxed::Box;
use core::mem;

use self::challenge::ScopeChallenge;
use self::grant::HeldGrant;
use self::output::Output;
use self::state::State;
use self::step_ups::StepUps;
use self::storage::{Owner, Storage, Use};
use crate::auth::Uri;
use crate::http::client::{Credentials, Generation};
use crate::time::{Instant, sooner};

/// The authorization of a client at one MCP server, without IO.
///
/// There is one for each server and profile, shared by all connections to it. The driver
///
/// - passes each rejected request to [`handle_challenge`](Self::handle_challenge), sends requests
///   with the current [`credentials`](Self::credentials), and calls [`accepted`](Self::accepted);
/// - performs the actions from [`poll_action`](Self::poll_action) in their order, and reports the
///   outcome of each with the method that the action names;
/// - handles the events from [`poll_event`](Self::poll_event), each of which concerns all
///   connections; and
/// - calls [`handle_timeout`](Self::handle_timeout) at the time that
///   [`poll_timeout`](Self::poll_timeout) returns.
///
/// Reports about actions that are over are ignored, except that nothing may be reported about a
/// listener after [`AuthAction::Unlisten`]. Equal inputs give equal actions and events. A flow
/// holds at most about 1 MiB, and makes at most
/// [`requests_max`](crate::auth::AuthLimits::requests_max) requests.
///
/// ```
/// use mcp_proto::Instant;
/// use mcp_proto::auth::{
///     AuthAction, AuthConfig, AuthEvent, AuthLimits, Authorization, KnownClient, RedirectPage,
///     RejectedRequest, Time, Uri, Verdict,
/// };
///
/// // What the servers answer.
/// let answer = |url: &str| match url {
///     "https://mcp.example/.well-known/oauth-protected-resource/mcp" => {
///         r#"{"resource":"https://mcp.example/mcp",
///             "authorization_servers":["https://as.example"]}"#
///     }
///     "https://as.example/.well-known/oauth-authorization-server" => {
///         r#"{"issuer":"https://as.example", "token_endpoint":"https://as.example/token",
///             "authorization_endpoint":"https://as.example/authorize",
///             "code_challenge_methods_supported":["S256"]}"#
///     }
///     _ => r#"{"access_token":"t1", "token_type":"Bearer"}"#,
/// };
///
/// let time = Time { now: Instant::ZERO, unix: 1_790_000_000 };
/// let server = Uri::parse("https://mcp.example/mcp", &AuthLimits::default()).unwrap();
/// let client = KnownClient::new("https://as.example", "my-app");
/// let config = AuthConfig::user(server, "My app").client(client);
/// let mut auth = Authorization::new(time, config);
///
/// // The server rejected a request with 401.
/// let (generation, operation) = (auth.credentials().map(|c| c.generation), "tools/list");
/// let request = RejectedRequest { generation, status: 401, challenges: &[], operation };
/// assert_eq!(auth.handle_challenge(time, &request), Verdict::Wait);
///
/// while let Some(action) = auth.poll_action() {
///     match action {
///         AuthAction::Draw => auth.handle_random(time, [7; 32]), // from the operating system
///         AuthAction::Acquire { id, .. } | AuthAction::Save { id, .. } => {
///             auth.handle_store(time, id, Ok(None)); // nothing is stored
///         }
///         AuthAction::Listen { .. } => auth.handle_listening(time, Some(49_152)),
///         AuthAction::Fetch(fetch) => {
///             auth.handle_head(time, fetch.id, 200, &[("content-type", "application/json")]);
///             auth.handle_body(time, fetch.id, answer(&fetch.url).as_bytes());
///             auth.handle_end(time, fetch.id);
///         }
///         AuthAction::Show { url, .. } => {
///             // The user agrees, and the browser returns to the listener.
///             let state = url.expose().split("state=").nth(1).unwrap().split('&').next().unwrap();
///             let page = auth.handle_redirect(time, &format!("code=c1&state={state}"));
///             assert_eq!(page, RedirectPage::Success);
///         }
///         _ => {}
///     }
/// }
/// assert!(matches!(auth.poll_event(), Some(AuthEvent::Granted { .. })));
/// assert_eq!(auth.credentials().unwrap().authorization.expose(), "Bearer t1");
/// ```
///
/// [Specification][spec]
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
#[derive(Debug)]
pub struct Authorization {
    config: AuthConfig,
    time: Time,
    out: Output,
    state: State,
    storage: Storage,
    grant: Option<HeldGrant>,
    generation: u64,
    /// The URL that rejected the latest request, if redirects led to it.
    redirected_to: Option<Uri>,
    /// Whether requests wait for the next `Granted` or `Denied`.
    owed: bool,
    step_ups: StepUps,
    /// The flows in a row whose tokens were never accepted.
    unaccepted: u32,
}

impl Authorization {
    /// Creates the authorization. Nothing happens before the first challenge.
    #[must_use]
    pub fn new(time: Time, config: AuthConfig) -> Self {
        Self {
            config,
            time,
            out: Output::default(),
            state: State::Idle,
            storage: Storage::default(),
            grant: None,
            generation: 0,
            redirected_to: None,
            owed: false,
            step_ups: StepUps::default(),
            unaccepted: 0,
        }
    }

    /// Returns the credentials for the next request; `None` if there are none, or if the server
    /// rejected them.
    #[must_use]
    pub fn credentials(&self) -> Option<Credentials> {
        self.grant.as_ref().and_then(HeldGrant::credentials)
    }

    /// Decides what becomes of a request that the server rejected.
    ///
    /// After [`Verdict::Wait`], exactly one [`AuthEvent::Granted`] or [`AuthEvent::Denied`]
    /// follows.
    pub fn handle_challenge(&mut self, time: Time, request: &RejectedRequest<'_>) -> Verdict {
        self.advance(time);
        let challenge = ScopeChallenge::of(request, &self.config.limits);
        let verdict = self.on_challenge(request, challenge);
        self.owed |= verdict == Verdict::Wait;
        verdict
    }

    /// Sets the URL that rejected a request, if redirects have led to another URL than the
    /// configured one. Call this method before [`handle_challenge`](Self::handle_challenge).
    ///
    /// Metadata may describe either URL. A URL of another origin is ignored.
    // RFC 9728 §3.3.
    pub fn redirected_to(&mut self, url: Option<&str>) {
        let url = url.and_then(|url| Uri::parse(url, &self.config.limits).ok());
        self.redirected_to = url.filter(|url| url.is_same_origin(&self.config.server));
    }

    /// Reports that the server accepted credentials: a response other than 401 arrived.
    pub fn accepted(&mut self, generation: Generation) {
        if let Some(grant) = &mut self.grant
            && grant.generation == generation
        {
            grant.accept();
            self.unaccepted = 0;
        }
    }

    /// Loads stored credentials, if there are any; sends nothing, and shows nothing to a user.
    ///
    /// If there are valid credentials, [`AuthEvent::Granted`] follows. If they were issued for an
    /// identity assertion, [`AuthEvent::NeedsIdentity`] comes first, to compare whose they are.
    pub fn restore(&mut self, time: Time) {
        self.advance(time);
        if matches!(self.state, State::Idle) {
            self.open(ScopeChallenge::default());
        }
    }

    /// Returns whether stored credentials are being loaded, or compared with the identity in use.
    #[must_use]
    pub const fn is_restoring(&self) -> bool {
        matches!(self.state, State::Opening(_) | State::Checking(_))
    }

    /// Authorizes without waiting for a rejected request.
    ///
    /// If there are valid credentials already, nothing happens. Otherwise, exactly one
    /// [`AuthEvent::Granted`] or [`AuthEvent::Denied`] follows.
    pub fn begin(&mut self, time: Time) {
        self.advance(time);
        // A flow may run beside a valid grant: a renewal, or a request for more scopes.
        if self.grant.as_ref().is_some_and(HeldGrant::is_valid) {
            return;
        }
        match &self.state {
            State::Idle | State::Denied { .. } => self.open(ScopeChallenge::default()),
            State::Opening(_) | State::Checking(_) | State::Running(_) => {}
            State::Ready | State::Closing(_) | State::Closed => return,
        }
        self.owed = true;
    }

    /// Deletes credentials, here and in the store, and cancels a running flow.
    ///
    /// A registration is deleted at the authorization server in use: that of the running flow, or
    /// of the grant, which may be a stored one.
    pub fn forget(&mut self, time: Time, what: Forget) {
        self.advance(time);
        if matches!(self.state, State::Closing(_) | State::Closed) {
            return;
        }
        let issuer = self.issuer();
        self.stop_flow();
        self.deny_waiting(&Denial::Cancelled);
        self.grant = None;
        self.forget_stored(what, issuer);
    }

    /// Closes the authorization: a refresh in flight is finished and saved, all else is cancelled.
    ///
    /// Waiting requests are denied. There are no events afterwards.
    // A-07: a rotated token is not lost.
    pub fn close(&mut self, time: Time) {
        self.advance(time);
        if matches!(self.state, State::Closing(_) | State::Closed) {
            return;
        }
        self.deny_waiting(&Denial::Closed);
        self.out.close_events();
        match &self.state {
            State::Running(flow) if flow.must_finish() => {
                if let State::Running(flow) = mem::take(&mut self.state) {
                    self.state = State::Closing(flow);
                }
            }
            _ => {
                self.stop_flow();
                self.state = State::Closed;
            }
        }
        self.grant = None;
    }

    /// Returns whether the authorization is closed and needs nothing more from its driver.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed) && self.storage.is_idle()
    }

    /// Returns the next action for the driver.
    pub fn poll_action(&mut self) -> Option<AuthAction> {
        self.out.next_action()
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<AuthEvent> {
        self.out.next_event()
    }

    /// Returns when to call [`handle_timeout`](Self::handle_timeout); `None` if no timer runs.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let state = match &self.state {
            State::Running(flow) | State::Closing(flow) => flow.deadline(),
            State::Ready => self.grant.as_ref().and_then(|grant| grant.renewal(self.time)),
            State::Checking(checking) => Some(checking.until),
            State::Idle | State::Opening(_) | State::Denied { .. } | State::Closed => None,
        };
        sooner(state, self.storage.deadline())
    }

    /// Takes the time; it never goes back.
    fn advance(&mut self, time: Time) {
        self.time = Time { now: self.time.now.max(time.now), unix: time.unix };
    }

    /// Reads the stored grant.
    fn open(&mut self, challenge: ScopeChallenge) {
        self.state = State::Opening(challenge);
        let key = self.config.grant_key();
        self.use_storage(key, Owner::State, Use::Read);
    }

    fn use_storage(&mut self, key: RecordKey, owner: Owner, what: Use) {
        self.storage.begin(self.time.now, &mut self.out, key, owner, what);
    }

    /// Returns the issuer of the authorization server in use, if it is known.
    fn issuer(&self) -> Option<Box<str>> {
        let running = match &self.state {
            State::Running(flow) => flow.issuer(),
            _ => None,
        };
        let held = || Some(self.grant.as_ref()?.record.server.issuer.as_str().into());
        running.or_else(held)
    }
}

#[cfg(test)]
mod tests;
