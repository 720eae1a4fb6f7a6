//! [`AuthRun`]: an authorization with its driver, checked at every action and event.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mcp_proto::Instant;
use mcp_proto::auth::{
    AuthAction, AuthConfig, AuthEvent, AuthInput, Authorization, Fetch, FetchId, FlowSecrets,
    Reach, RedirectPage, RejectedRequest, StoreId, Time, Verdict,
};
use mcp_proto::http::client::Challenge;
use mcp_proto::http::header::challenges;

use super::environment::Environment;
use super::issuer::params;
use super::shown;

/// What the user does with a URL.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum User {
    /// Agrees immediately.
    Agrees,
    /// Refuses immediately.
    Refuses,
    /// Does nothing.
    Waits,
}

/// More actions than any flow may need.
const ACTIONS_MAX: usize = 400;

/// An authorization with its driver.
///
/// Whatever happens, these promises are checked: each wait ends exactly once and has a deadline;
/// codes, refresh tokens and verifiers go to a token endpoint of their issuer only, and access
/// tokens to none; requests reach public hosts over HTTPS only; ids and locks are used as promised;
/// and nothing secret is shown.
#[derive(Debug)]
pub struct AuthRun {
    /// The machine.
    pub auth: Authorization,
    /// Everything around it.
    pub places: Environment,
    /// The time by both clocks.
    pub time: Time,
    /// What the user does.
    pub user: User,
    /// The port of the listener, if there can be one.
    pub port: Option<u16>,
    /// The name of the actions that are never performed.
    pub ignored: &'static str,
    /// The events that were polled.
    pub events: Vec<AuthEvent>,
    /// What happened, without secrets.
    pub lines: Vec<String>,
    /// The URLs shown to the user.
    pub shown: Vec<String>,
    secrets: Vec<FlowSecrets>,
    locked: Option<(StoreId, String)>,
    used: BTreeSet<FetchId>,
    signed: Vec<String>,
    start: u64,
    owed: bool,
    closed: bool,
}

impl AuthRun {
    /// The token endpoint of the identity provider, if there is one.
    pub const IDENTITY_PROVIDER: &'static str = "https://idp.example/token";

    /// Creates an authorization.
    #[must_use]
    pub fn new(config: AuthConfig, places: Environment) -> Self {
        let time = Time { now: Instant::ZERO, unix: 1_790_000_000 };
        Self {
            auth: Authorization::new(time, config),
            places,
            time,
            user: User::Agrees,
            port: Some(5000),
            ignored: "",
            events: Vec::new(),
            lines: Vec::new(),
            shown: Vec::new(),
            secrets: Vec::new(),
            locked: None,
            used: BTreeSet::new(),
            signed: Vec::new(),
            start: time.unix,
            owed: false,
            closed: false,
        }
    }

    /// Starts the application again, as after it was killed; what is stored remains.
    pub fn restart(&mut self, config: AuthConfig) {
        self.note("@ restart");
        self.auth = Authorization::new(self.time, config);
        self.auth.restore(self.time);
        self.locked = None;
        self.used.clear();
        self.owed = false;
        self.closed = false;
    }

    /// Adds a line to the timeline, with names in place of secrets.
    pub fn note(&mut self, line: &str) {
        let line = shown::line(line, &self.secrets, &self.signed);
        self.lines.push(line.trim_end().to_owned());
    }

    /// Reports a request that was rejected with the current credentials, and the value of
    /// `WWW-Authenticate`.
    pub fn reject(&mut self, status: u16, header: &str) -> Verdict {
        // A wait that is over is not the one that begins now.
        self.take_events();
        let generation = self.auth.credentials().map(|credentials| credentials.generation);
        let challenges = challenges(header.as_bytes()).unwrap_or_default();
        let challenges: Vec<Challenge> = challenges.into_iter().map(Challenge::from).collect();
        let request = RejectedRequest {
            generation,
            status,
            challenges: &challenges,
            operation: "tools/call",
        };
        let verdict = self.auth.handle_challenge(self.time, &request);
        self.owed |= verdict == Verdict::Wait;
        self.note(&format!("@ {status} {header}"));
        self.note(&format!("= {verdict:?}"));
        verdict
    }

    /// Reports that the server accepted the current credentials.
    pub fn accept(&mut self) {
        if let Some(credentials) = self.auth.credentials() {
            self.note("@ accepted");
            self.auth.accepted(credentials.generation);
        }
    }

    /// Answers an event.
    pub fn input(&mut self, input: AuthInput) {
        let name = format!("{input:?}");
        self.note(&format!("@ input {name}"));
        self.auth.handle_input(self.time, input);
    }

    /// Closes the authorization; the wait ends.
    pub fn close(&mut self) {
        self.note("@ close");
        self.auth.close(self.time);
        self.closed = true;
    }

    /// Lets time pass.
    pub fn pass(&mut self, seconds: u64) {
        self.time.now += Duration::from_secs(seconds);
        self.time.unix += seconds;
        self.note(&format!("+ {seconds}s"));
    }

    /// Lets time pass until the next timer, if there is one, and performs what follows.
    pub fn wait(&mut self) -> bool {
        let Some(at) = self.auth.poll_timeout() else { return false };
        let nanos = at.duration_since(self.time.now).as_nanos().div_ceil(1_000_000_000);
        self.pass(u64::try_from(nanos).unwrap_or(u64::MAX));
        self.auth.handle_timeout(self.time);
        self.run();
        true
    }

    /// Performs all actions, and takes all events.
    ///
    /// # Panics
    ///
    /// If a promise is broken.
    pub fn run(&mut self) {
        for _ in 0..ACTIONS_MAX {
            let Some(action) = self.take() else {
                self.collect();
                return;
            };
            self.perform(action);
        }
        panic!("no end of actions:\n{}", self.timeline());
    }

    /// Returns what happened.
    #[must_use]
    pub fn timeline(&self) -> String {
        self.lines.join("\n")
    }

    /// Returns whether requests wait.
    #[must_use]
    pub const fn waits(&self) -> bool {
        self.owed
    }

    /// Takes the next action, and checks it.
    ///
    /// # Panics
    ///
    /// If a promise is broken.
    pub fn take(&mut self) -> Option<AuthAction> {
        let action = self.auth.poll_action()?;
        self.note(&shown::action(&action));
        match &action {
            AuthAction::Fetch(fetch) => self.check_fetch(fetch),
            AuthAction::Show { url, .. } => {
                assert!(url.expose().starts_with("https://"), "{}", self.timeline());
            }
            AuthAction::Save { id, .. } => {
                let holds = self.locked.as_ref().is_some_and(|(held, _)| held == id);
                assert!(holds, "saves what is not locked:\n{}", self.timeline());
            }
            AuthAction::Acquire { .. } => {
                assert!(self.locked.is_none(), "locks two records:\n{}", self.timeline());
            }
            _ => {}
        }
        Some(action)
    }

    fn check_fetch(&mut self, fetch: &Fetch) {
        assert!(self.used.insert(fetch.id), "an id is used twice:\n{}", self.timeline());
        // The application names its identity provider, which may be near.
        let is_near = &*fetch.url == Self::IDENTITY_PROVIDER;
        assert!(fetch.url.starts_with("https://"), "{}", self.timeline());
        assert!(fetch.reach == Reach::Public || is_near, "{}", self.timeline());
        let body = fetch.body.expose();
        assert!(!body.contains("access-"), "an access token leaves:\n{}", self.timeline());
        assert!(!fetch.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("cookie")));
        let params = params(body);
        for name in ["code", "refresh_token"] {
            // Tokens of a hostile server may name no host.
            let Some((_, host)) = params.get(name).and_then(|value| value.split_once('@')) else {
                continue;
            };
            let endpoints = self.places.endpoints.get(host);
            let is_named = endpoints.is_some_and(|all| all.contains(&*fetch.url));
            let is_default = *fetch.url == *format!("https://{host}/token");
            assert!(is_named || is_default, "{name} goes astray:\n{}", self.timeline());
        }
        if let Some(verifier) = params.get("code_verifier") {
            let mut verifiers = self.secrets.iter().map(FlowSecrets::verifier);
            assert!(verifiers.any(|known| known.expose() == verifier), "{}", self.timeline());
            assert!(params.contains_key("code"));
        }
    }

    /// Performs an action as it should be.
    pub fn perform(&mut self, action: AuthAction) {
        let time = self.time;
        if !self.ignored.is_empty() && format!("{action:?}").starts_with(self.ignored) {
            return;
        }
        match action {
            AuthAction::Draw => {
                let number = u8::try_from(self.secrets.len() % 255).unwrap_or_default() + 1;
                self.draw([number; 32]);
            }
            AuthAction::Acquire { id, key } => {
                self.locked = Some((id, key.file_name()));
                let record = self.places.store.get(&key.file_name()).cloned();
                self.auth.handle_store(time, id, Ok(record.as_ref().map(String::as_bytes)));
            }
            AuthAction::Save { id, record } => {
                if let Some((_, key)) = self.locked.clone() {
                    match record {
                        Some(record) => self.places.store.insert(key, record.expose().to_owned()),
                        None => self.places.store.remove(&key),
                    };
                }
                self.auth.handle_store(time, id, Ok(None));
            }
            AuthAction::Release { .. } => self.locked = None,
            AuthAction::Listen { .. } => self.auth.handle_listening(time, self.port),
            AuthAction::Fetch(fetch) => {
                let (status, body) = self.places.answer(&fetch);
                self.respond(&fetch, status, &body);
            }
            AuthAction::Sign { id, input, .. } => {
                self.signed.push(input.expose().to_owned());
                self.auth.handle_signature(time, id, Some(&[7; 64]));
            }
            AuthAction::Show { url, issuer, .. } => self.show(url.expose(), &issuer),
            _ => {}
        }
    }

    /// Hands random bytes to the machine.
    pub fn draw(&mut self, bytes: [u8; 32]) {
        self.secrets.push(FlowSecrets::new(bytes));
        self.auth.handle_random(self.time, bytes);
    }

    /// Marks the store as unlocked, after a failure of it.
    pub fn unlock(&mut self) {
        self.locked = None;
    }

    /// Answers a request.
    pub fn respond(&mut self, fetch: &Fetch, status: u16, body: &str) {
        self.places.note(&fetch.url, body);
        self.note(&format!("> {status} {}", body.get(..body.len().min(400)).unwrap_or_default()));
        self.auth.handle_head(self.time, fetch.id, status, &[("content-type", "text/x")]);
        for bytes in body.as_bytes().chunks(1000) {
            self.auth.handle_body(self.time, fetch.id, bytes);
        }
        self.auth.handle_end(self.time, fetch.id);
    }

    fn show(&mut self, url: &str, issuer: &str) {
        self.shown.push(url.to_owned());
        let params = params(url.split_once('?').map_or("", |(_, query)| query));
        let server = self.places.issuers.iter_mut().find(|server| server.issuer == issuer);
        let query = match (self.user, server) {
            (User::Waits, _) | (_, None) => return,
            (User::Agrees, Some(server)) => server.authorize(&params),
            (User::Refuses, Some(server)) => {
                format!("error=access_denied&{}", server.redirect(&params))
            }
        };
        self.redirect(&query);
    }

    /// Lets a redirect arrive.
    pub fn redirect(&mut self, query: &str) -> RedirectPage {
        self.note(&format!("> redirect {query}"));
        let page = self.auth.handle_redirect(self.time, query);
        self.note(&format!("= {page:?}"));
        page
    }

    /// Takes all events, and checks them and the machine.
    ///
    /// # Panics
    ///
    /// If a promise is broken.
    pub fn collect(&mut self) {
        self.take_events();
        if self.closed {
            assert!(!self.owed, "a wait outlives its machine:\n{}", self.timeline());
        }
        let has_deadline = self.auth.poll_timeout().is_some();
        assert!(!self.owed || has_deadline, "a wait without a deadline:\n{}", self.timeline());
        shown::assert_hidden(&format!("{:?}", self.auth), &self.secrets);
    }

    fn take_events(&mut self) {
        while let Some(event) = self.auth.poll_event() {
            self.note(&shown::event(&event, self.start));
            match &event {
                AuthEvent::Denied(denial) => {
                    assert!(self.owed, "an end without a wait:\n{}", self.timeline());
                    self.owed = false;
                    self.note(&format!("  {denial}"));
                }
                AuthEvent::Granted { .. } => self.owed = false,
                _ => {}
            }
            self.events.push(event);
        }
    }

    /// Asserts that no client did what none may do.
    ///
    /// # Panics
    ///
    /// If one did.
    pub fn assert_innocent(&self) {
        for issuer in &self.places.issuers {
            assert!(issuer.offences.is_empty(), "{:?}:\n{}", issuer.offences, self.timeline());
        }
    }

    /// Returns the parameters of the last authorization request.
    #[must_use]
    pub fn asked(&self) -> BTreeMap<String, String> {
        let url = self.shown.last().map_or("", String::as_str);
        params(url.split_once('?').map_or("", |(_, query)| query))
    }
}
