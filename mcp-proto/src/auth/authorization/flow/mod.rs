//! [`Flow`]: one attempt to obtain or renew a grant, step by step.
//!
//! ```text
//!  Drawing ──▶ Resource ──▶ Issuer ──┬───────────────▶ Locking ──▶ Requesting(Refresh)
//!     │                              │ refresh token    │  ▲        │ ok      │ invalid_grant
//!     │ renewal, recent metadata     │              adopt  └─────────┼─────────┤ (again)
//!     └──────────────────────────────┼──▶ Locking       ▼            ▼         ▼
//!                                    │               granted       Saving   Dropping
//!                                    │                                         │
//!                     user           ▼                                         ▼
//!  Asking ◀── Registering ◀── Listening ◀── Entering ◀── Recalling ◀───────────┤
//!    │            ▲               │ known client, metadata document            │
//!    │            └─ again ───┘                                            │
//!    ▼                               client credentials, enterprise, workload  ▼
//!  Requesting(Code) ──▶ Saving ◀── Requesting(Direct) ◀── Requesting(Exchange) ◀── Identity
//! ```
//!
//! A refresh that is refused for another reason is repeated once without its scopes, if they may be
//! the reason. Then the flow continues as after `Dropping`, but keeps the token.
//!
//! | step | waits for | for | leaves to |
//! |---|---|---|---|
//! | `Drawing` | random bytes | 5 s | `Resource`; `Locking` for a renewal |
//! | `Resource` | resource metadata | 15 s each | `Issuer`, with or without metadata; `Ranking` |
//! | `Ranking` | stored registrations, to choose a server | 45 s each | `Issuer` |
//! | `Issuer` | authorization server metadata | 15 s each | `Locking`, `Recalling`, `Identity`, … |
//! | `Locking` | lock and record | 45 s | `Requesting`; granted, if another process renewed |
//! | `Recalling` | the stored registration | 45 s | `Listening`, `Entering` |
//! | `Entering` | client id from the user | 10 min | `Listening` |
//! | `Listening` | the port of the redirect | 5 s | `Asking`, `Registering` |
//! | `Registering` | the registration | 30 s | `Asking`; `Listening`, once |
//! | `Asking` | the redirect | 10 min | `Requesting` |
//! | `Identity` | an identity assertion | 10 min | `Requesting` |
//! | `Signing` | a signature, of an assertion or a proof | 30 s | `Signing`, `Requesting` |
//! | `Requesting` | tokens | 30 s | `Saving`, `Dropping`, `Requesting`, `Recalling` |
//! | `Dropping` | a record without its refresh token, saved | 5 s | `Recalling`, … |
//! | `Saving` | the record, saved | 50 s | granted |
//! | `Waiting` | the end of a backoff: 1 s, doubled, three times | 60 s | the step that failed |

mod asking;
mod client;
mod discovery;
mod proof;
mod proof_state;
mod ranking;
mod refresh;
mod signing;
pub(super) mod step;
mod tokens;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::mem;
use core::time::Duration;

use self::proof_state::ProofState;
use self::step::{
    ClientInUse, Env, Granted, Outcome, RedirectState, Step, Target, TokenCall, Trigger,
};
use super::action::{AuthAction, Fetch, FetchId};
use super::challenge::ScopeChallenge;
use super::denial::Denial;
use super::exchange::{Exchange, Fetched, Outage};
use super::storage::StoreOutcome;
use crate::auth::{
    AuthLimits, AuthorizationServerMetadata, FlowSecrets, GrantRecord, Scopes, UriRefusal,
};
use crate::secret::Secret;
use crate::time::Instant;

const DRAW_TIMEOUT: Duration = Duration::from_secs(5);

/// How often a step is tried again after temporary failures.
const RETRIES_MAX: u32 = 3;

/// The longest backoff.
const BACKOFF_MAX: Duration = Duration::from_secs(60);

/// The longest time that metadata are used for renewals without being read again, in seconds.
const METADATA_AGE_MAX: u64 = 24 * 60 * 60;

/// A flow.
#[derive(Debug)]
pub(super) struct Flow {
    trigger: Trigger,
    wanted: ScopeChallenge,
    /// The grant so far, if any.
    held: Option<GrantRecord>,
    /// An identity assertion that was not presented yet.
    identity: Option<Secret>,
    /// The subject of the assertion that was presented.
    subject: Option<Box<str>>,
    /// The generation of the newest grant, also if it is not used.
    generation: u64,
    step: Step,
    deadline: Option<Instant>,
    exchange: Option<Exchange>,
    /// The temporary failures of this step.
    failures: u32,
    requests: u32,
    secrets: FlowSecrets,
    /// The number of assertions and proofs so far.
    signatures: u64,
    proof: ProofState,
    target: Target,
    server: Option<AuthorizationServerMetadata>,
    client: Option<ClientInUse>,
    redirect: RedirectState,
    /// The scopes asked for in this flow.
    requested: Scopes,
    /// When the metadata of the authorization server were read.
    server_read_at: u64,
    has_lost_refresh_token: bool,
    /// Whether the authorization server refused a refresh that names its scopes.
    refreshes_without_scope: bool,
    /// The URL of the last request, without its query.
    url: Box<str>,
}

impl Flow {
    pub(super) fn new(
        trigger: Trigger,
        wanted: ScopeChallenge,
        held: Option<GrantRecord>,
        identity: Option<Secret>,
    ) -> Self {
        Self {
            trigger,
            wanted,
            identity,
            subject: None,
            generation: held.as_ref().map_or(0, |held| held.generation),
            held,
            step: Step::Over,
            deadline: None,
            exchange: None,
            failures: 0,
            requests: 0,
            secrets: FlowSecrets::new([0; 32]),
            signatures: 0,
            proof: ProofState::default(),
            target: Target::Unknown,
            server: None,
            client: None,
            redirect: RedirectState::default(),
            requested: Scopes::new(),
            server_read_at: 0,
            has_lost_refresh_token: false,
            refreshes_without_scope: false,
            url: Box::default(),
        }
    }

    /// Begins with fresh random bytes, so that no flow repeats the values of another.
    pub(super) fn start(&mut self, env: &mut Env<'_>) -> Outcome {
        env.out.act(AuthAction::Draw);
        self.enter(Step::Drawing, Some(env.time.now + DRAW_TIMEOUT))
    }

    /// Draws again within a flow, for a second authorization request.
    fn redraw(&mut self, env: &mut Env<'_>) -> Outcome {
        self.start(env)
    }

    pub(super) fn on_random(&mut self, env: &mut Env<'_>, bytes: [u8; 32]) -> Outcome {
        if !matches!(self.step, Step::Drawing) {
            return Ok(None);
        }
        self.secrets = FlowSecrets::new(bytes);
        match (self.trigger, &self.held) {
            _ if self.server.is_some() => self.obtain(env),
            (Trigger::Renewal, Some(held)) => {
                self.target = Target::of(held);
                let age = env.time.unix.saturating_sub(held.server_read_at);
                let (server, issuer) = (held.server.clone(), held.server.issuer.clone());
                if age < METADATA_AGE_MAX {
                    self.server_read_at = held.server_read_at;
                    self.server = Some(server);
                    self.identify(env)
                } else {
                    self.find_issuer(env, VecDeque::from([issuer]))
                }
            }
            // AUT-42: after a rejection, the resource is asked first.
            _ => self.find_resource(env),
        }
    }

    /// Adds what another request needs; from now on, requests wait for the flow.
    pub(super) fn join(&mut self, challenge: ScopeChallenge, limits: &AuthLimits) {
        self.demand();
        if !matches!(self.step, Step::Asking(_)) {
            self.wanted.join(challenge, limits);
        }
    }

    /// From now on, requests wait for the flow.
    pub(super) fn demand(&mut self) {
        if self.trigger == Trigger::Renewal {
            self.trigger = Trigger::Rejected;
        }
    }

    pub(super) fn is_renewal(&self) -> bool {
        self.trigger == Trigger::Renewal
    }

    /// Returns whether the flow must not be cut off, since a token may be lost.
    pub(super) fn must_finish(&self) -> bool {
        let refreshes = matches!(self.step, Step::Requesting(TokenCall::Refresh(..)))
            && self.exchange.is_some();
        refreshes || matches!(self.step, Step::Saving(_) | Step::Dropping)
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Stops everything that the driver does for this flow.
    pub(super) fn stop(&mut self, env: &mut Env<'_>) {
        if let Some(exchange) = self.exchange.take() {
            env.out.abort(exchange.id);
        }
        let was_listening = mem::take(&mut self.redirect.is_listening);
        if !env.out.withdraw() && was_listening {
            env.out.act(AuthAction::Unlisten);
        }
        self.step = Step::Over;
        self.deadline = None;
        env.storage.abandon(env.time.now, env.out);
    }

    pub(super) fn on_store(&mut self, env: &mut Env<'_>, outcome: StoreOutcome) -> Outcome {
        match (mem::replace(&mut self.step, Step::Over), outcome) {
            (Step::Locking(refused), StoreOutcome::Read(read)) => {
                self.on_locked(env, refused, read)
            }
            (Step::Recalling, StoreOutcome::Read(read)) => self.on_recalled(env, read),
            (Step::Ranking(search), StoreOutcome::Read(read)) => self.on_ranked(env, search, read),
            (Step::Saving(granted), StoreOutcome::Saved(saved)) => {
                env.out.report_unsaved(saved);
                self.finish(env, granted)
            }
            (Step::Dropping, StoreOutcome::Saved(saved)) => {
                env.out.report_unsaved(saved);
                self.obtain(env)
            }
            (step, _) => {
                self.step = step;
                Ok(None)
            }
        }
    }

    fn finish(&mut self, env: &mut Env<'_>, granted: Box<Granted>) -> Outcome {
        self.stop(env);
        Ok(Some(granted))
    }

    pub(super) fn on_timeout(&mut self, env: &mut Env<'_>) -> Outcome {
        if self.deadline.is_none_or(|deadline| env.time.now < deadline) {
            return Ok(None);
        }
        self.deadline = None;
        match mem::replace(&mut self.step, Step::Over) {
            Step::Drawing => Err(Denial::NoRandomness),
            Step::Waiting(step) => self.resume(env, *step),
            Step::Listening => Err(Denial::NoListener),
            Step::Signing(..) => Err(Denial::NoSignature),
            Step::Asking(_) => self.on_no_redirect(env),
            Step::Entering | Step::Identity => Err(Denial::TimedOut),
            step => {
                self.step = step;
                if let Some(exchange) = self.exchange.take() {
                    env.out.abort(exchange.id);
                    return self.on_temporary(env, Outage::Lost, None);
                }
                Ok(None)
            }
        }
    }

    /// Handles the end of the request in flight.
    pub(super) fn on_fetched(&mut self, env: &mut Env<'_>, outcome: Fetched) -> Outcome {
        self.deadline = None;
        let response = match outcome {
            Fetched::Temporary { outage, after } => {
                return self.on_temporary(env, outage, after);
            }
            Fetched::Blocked => {
                return Err(Denial::Blocked(UriRefusal::TooPrivate));
            }
            Fetched::Response(response) => response,
        };
        match mem::replace(&mut self.step, Step::Over) {
            Step::Resource(search) => self.on_resource(env, search, &response),
            Step::Issuer(search) => self.on_issuer(env, search, &response),
            Step::Registering => self.on_registered(env, &response),
            Step::Requesting(call) => self.on_tokens(env, call, &response),
            step => {
                self.step = step;
                Ok(None)
            }
        }
    }

    /// Tries the step again later, unless it failed too often.
    // AUT-41, AUT-61: an outage neither means "no", nor costs a token.
    fn on_temporary(
        &mut self,
        env: &mut Env<'_>,
        outage: Outage,
        after: Option<Duration>,
    ) -> Outcome {
        env.storage.release(env.time.now, env.out);
        if self.failures == RETRIES_MAX || !self.may_repeat(outage) {
            return Err(Denial::Unreachable { url: self.url.clone() });
        }
        let backoff = Duration::from_secs(1 << self.failures).max(after.unwrap_or_default());
        self.failures += 1;
        let step = match mem::replace(&mut self.step, Step::Over) {
            Step::Requesting(TokenCall::Refresh(..)) => Step::Locking(None),
            step => step,
        };
        let until = env.time.now + backoff.min(BACKOFF_MAX);
        self.step = Step::Waiting(Box::new(step));
        self.deadline = Some(until);
        Ok(None)
    }

    /// Returns whether a request that failed may be sent again.
    fn may_repeat(&self, outage: Outage) -> bool {
        match (&self.step, outage) {
            (_, Outage::Unreached) => true,
            // RFC 6749 §4.1.2: a code is used once.
            (Step::Requesting(TokenCall::Code(_)), Outage::Lost) => false,
            // AUT-81: an assertion is presented once.
            (Step::Requesting(TokenCall::Assertion(_)), _) => false,
            _ => true,
        }
    }

    fn resume(&mut self, env: &mut Env<'_>, step: Step) -> Outcome {
        match step {
            Step::Resource(search) => self.fetch_resource(env, search),
            Step::Issuer(search) => self.fetch_issuer(env, search),
            Step::Locking(refused) => self.lock(env, refused),
            Step::Registering => self.register(env),
            Step::Requesting(call) => self.request(env, call),
            _ => Ok(None),
        }
    }

    /// Moves to a step; its failures count from zero.
    fn enter(&mut self, step: Step, deadline: Option<Instant>) -> Outcome {
        self.step = step;
        self.deadline = deadline;
        self.failures = 0;
        Ok(None)
    }

    /// Sends a request, whose response the step waits for.
    fn fetch(
        &mut self,
        env: &mut Env<'_>,
        fetch: Fetch,
        bytes_max: usize,
        timeout: Duration,
    ) -> Result<(), Denial> {
        if self.requests == env.config.limits.requests_max {
            return Err(Denial::TooManyRequests);
        }
        self.requests += 1;
        self.url = fetch.url.split('?').next().unwrap_or_default().into();
        self.exchange = Some(Exchange::new(fetch.id, bytes_max));
        self.deadline = Some(env.time.now + timeout);
        env.out.act(AuthAction::Fetch(fetch));
        Ok(())
    }

    /// Returns the issuer that the flow has chosen, if it has.
    pub(super) fn issuer(&self) -> Option<Box<str>> {
        self.server.as_ref().map(|server| server.issuer.as_str().into())
    }

    fn server(&self) -> Result<&AuthorizationServerMetadata, Denial> {
        self.server.as_ref().ok_or(Denial::Unsupported)
    }

    pub(super) fn exchange(&mut self, id: FetchId) -> Option<&mut Exchange> {
        self.exchange.as_mut().filter(|exchange| exchange.id == id)
    }

    pub(super) fn take_exchange(&mut self, id: FetchId) -> Option<Exchange> {
        self.exchange.take_if(|exchange| exchange.id == id)
    }
}
