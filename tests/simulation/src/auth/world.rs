//! One authorization: its servers are hostile from time to time.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};

use mcp_harness::{AuthRun, Environment, Issuer, Seed, User};
use mcp_proto::auth::{
    AuthAction, AuthConfig, AuthEvent, AuthInput, AuthLimits, FetchFailure, Forget,
    IdentityProvider, KnownClient, StoreFailure, Uri, Verdict,
};

use super::identities::Identities;

/// How often servers are hostile: once in so many actions.
const HOSTILITY: [usize; 4] = [2, 4, 12, 60];

/// The steps of a world.
const STEPS: usize = 60;

/// What many worlds came to, by name.
#[derive(Clone, Debug, Default)]
pub struct AuthTally(BTreeMap<String, u64>);

impl AuthTally {
    fn count(&mut self, name: &str) {
        *self.0.entry(name.to_owned()).or_default() += 1;
    }

    /// Returns how often something occurred.
    #[must_use]
    pub fn of(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or_default()
    }
}

impl fmt::Display for AuthTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, count)| writeln!(f, "  {name}: {count}"))
    }
}

/// A world that breaks a promise.
#[derive(Clone, Debug)]
pub struct AuthFailure {
    seed: u64,
    breach: String,
    timeline: String,
}

impl fmt::Display for AuthFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.timeline)?;
        writeln!(f, "A PROMISE IS BROKEN: {}", self.breach)?;
        write!(f, "seed: {}; replay: mcp-simulation --auth --once --seed {}", self.seed, self.seed)
    }
}

/// Runs the world of a seed, and for every eighth seed that of two identities.
///
/// # Errors
///
/// Returns the failure, with what happened, if a promise is broken.
pub fn run_auth(seed: u64, tally: &mut AuthTally) -> Result<(), Box<AuthFailure>> {
    run_world(World::new(Seed(seed)), seed, tally)?;
    // AUT-06. Such worlds take longer.
    if seed.is_multiple_of(8) {
        run_world(World::of_identities(Seed(seed)), seed, tally)?;
    }
    Ok(())
}

fn run_world(mut world: World, seed: u64, tally: &mut AuthTally) -> Result<(), Box<AuthFailure>> {
    let result = panic::catch_unwind(AssertUnwindSafe(|| world.live()));
    for event in &world.run.events {
        match event {
            AuthEvent::Granted { .. } => tally.count("granted"),
            AuthEvent::Denied(denial) => {
                let text = format!("{denial:?}");
                let name = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                tally.count(&format!("denied {name}"));
            }
            _ => {}
        }
    }
    tally.count("worlds");
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let breach = text.unwrap_or_default();
        let breach = breach.lines().next().unwrap_or_default().to_owned();
        Box::new(AuthFailure { seed, breach, timeline: world.run.timeline() })
    })
}

struct World {
    seed: Seed,
    run: AuthRun,
    hostility: usize,
    /// Whether a lost answer or a hostile one may have used a token up.
    excused: bool,
    config: AuthConfig,
    /// The users whose identity is asserted, if tokens are obtained so.
    identities: Option<Identities>,
    /// Whether stored grants do not say whose they are: a planted mistake.
    leaks: bool,
}

impl World {
    fn new(mut seed: Seed) -> Self {
        let hostility = HOSTILITY[seed.below(HOSTILITY.len())];
        let config = config(&mut seed);
        let run = AuthRun::new(config.clone(), places(&mut seed));
        Self { seed, run, hostility, excused: false, config, identities: None, leaks: false }
    }

    /// Creates a world of two users with one client.
    fn of_identities(mut seed: Seed) -> Self {
        let client = KnownClient::new(Environment::ISSUER, "known").secret("s3cret");
        let parse = |url| Uri::parse(url, &AuthLimits::default()).unwrap_or_else(|e| panic!("{e}"));
        let config = if seed.below(2) == 0 {
            AuthConfig::workload(parse(Environment::SERVER), client)
        } else {
            let app = KnownClient::new("idp", "app");
            let provider = IdentityProvider::new(parse(AuthRun::IDENTITY_PROVIDER), app);
            AuthConfig::enterprise(parse(Environment::SERVER), provider, client)
        };
        let mut places = Environment::new();
        places.issuer().lifetime = [5, 60, 3600][seed.below(3)];
        places.issuer().refreshes = seed.below(2) > 0;
        let jag = r#"{"access_token":"id-jag-1","token_type":"N_A",
            "issued_token_type":"urn:ietf:params:oauth:token-type:id-jag"}"#;
        places.documents.insert(AuthRun::IDENTITY_PROVIDER.to_owned(), (200, jag.to_owned()));
        let run = AuthRun::new(config.clone(), places);
        let (hostility, identities) = (HOSTILITY[3], Some(Identities::default()));
        Self { seed, run, hostility, excused: false, config, identities, leaks: false }
    }

    fn live(&mut self) {
        for _ in 0..STEPS {
            if self.run.events.last() == Some(&AuthEvent::NeedsIdentity) {
                self.identify();
            }
            match self.seed.below(12) {
                0..=2 => {
                    let challenge = super::hostile::challenge(&mut self.seed);
                    let status = if self.seed.below(3) == 0 { 403 } else { 401 };
                    let verdict = self.run.reject(status, &challenge);
                    if verdict == Verdict::Retry {
                        assert!(self.run.auth.credentials().is_some(), "retries without a token");
                    }
                }
                3 | 4 => self.run.accept(),
                5 => {
                    let seconds = 1 << self.seed.below(13);
                    self.run.pass(seconds);
                    self.run.auth.handle_timeout(self.run.time);
                }
                6 if self.identities.is_some() => self.identify(),
                6 => self.run.input(AuthInput::Client { id: "entered".into(), secret: None }),
                7 => self.change(),
                8 if self.seed.below(8) == 0 => {
                    let what = [Forget::All, Forget::Tokens, Forget::Registration];
                    self.run.auth.forget(self.run.time, what[self.seed.below(3)]);
                }
                9 => self.redirect(),
                _ => {
                    if let Some(at) = self.run.auth.poll_timeout() {
                        let left = at.duration_since(self.run.time.now).as_secs() + 1;
                        self.run.pass(left);
                        self.run.auth.handle_timeout(self.run.time);
                    }
                }
            }
            self.drive();
        }
        self.finish();
    }

    /// Performs all actions; some fail.
    fn drive(&mut self) {
        for _ in 0..400 {
            let Some(action) = self.run.take() else {
                self.run.collect();
                self.check();
                return;
            };
            if let Some(identities) = &mut self.identities {
                identities.note(&action);
            }
            if self.seed.below(self.hostility) == 0 {
                self.fail(action);
            } else {
                self.run.perform(action);
            }
        }
        panic!("no end of actions");
    }

    /// Lets an action fail, or its server be hostile.
    fn fail(&mut self, action: AuthAction) {
        let time = self.run.time;
        match action {
            AuthAction::Fetch(fetch) => {
                self.excused |= fetch.body.expose().contains("grant_type=");
                match self.seed.below(8) {
                    0 => {
                        let how = FetchFailure::Unreached;
                        self.run.auth.handle_failure(time, fetch.id, how);
                    }
                    1 => {
                        // Processed, but the answer is lost.
                        self.run.places.answer(&fetch);
                        self.run.auth.handle_failure(time, fetch.id, FetchFailure::Cut);
                    }
                    // Silence: the time limit ends it.
                    2 => {}
                    _ => {
                        let right = self.run.places.answer(&fetch);
                        let (status, body) = super::hostile::answer(&mut self.seed, right);
                        self.run.respond(&fetch, status, &body);
                        // A replay means nothing.
                        self.run.respond(&fetch, status, &body);
                    }
                }
            }
            AuthAction::Acquire { id, .. } => {
                self.run.unlock();
                let why = [StoreFailure::Locked, StoreFailure::Unavailable][self.seed.below(2)];
                self.run.auth.handle_store(time, id, Err(why));
            }
            AuthAction::Save { id, .. } => {
                self.excused = true;
                self.run.auth.handle_store(time, id, Err(StoreFailure::Unavailable));
            }
            AuthAction::Listen { .. } => self.run.auth.handle_listening(time, None),
            AuthAction::Sign { id, .. } => self.run.auth.handle_signature(time, id, None),
            AuthAction::Show { .. } => self.redirect(),
            action => self.run.perform(action),
        }
    }

    fn redirect(&mut self) {
        let asked = self.run.asked();
        let state = asked.get("state").map_or("none", String::as_str).to_owned();
        let query = super::hostile::redirect(&mut self.seed, &state, "stolen");
        self.excused = true;
        self.run.redirect(&query);
    }

    /// Asserts the identity of the current user.
    fn identify(&mut self) {
        if let Some(identities) = &mut self.identities {
            let assertion = identities.assertion();
            self.run.input(assertion);
            self.drive();
        }
    }

    /// Lets the other user start the application.
    fn restart(&mut self) {
        let Some(identities) = &mut self.identities else { return };
        identities.switch();
        if self.leaks {
            identities.leak(&mut self.run.places.store);
        }
        self.run.restart(self.config.clone());
    }

    fn change(&mut self) {
        if self.identities.is_some() && self.seed.below(4) > 0 {
            return self.restart();
        }
        match self.seed.below(6) {
            0 => self.run.places.issuer().revoke(),
            1 => {
                self.run.places.issuers.push(Issuer::new("https://other.example"));
                self.run.places.publish(Environment::SERVER, &["https://other.example"]);
            }
            2 => self.run.places.publish(Environment::SERVER, &[Environment::ISSUER]),
            3 => self.run.places.documents.clear(),
            4 => self.run.places.store.clear(),
            _ => self.run.user = [User::Agrees, User::Refuses, User::Waits][self.seed.below(3)],
        }
    }

    /// Asserts what holds whenever nothing is to be done.
    fn check(&mut self) {
        if !self.excused {
            self.run.assert_innocent();
        }
        if let Some(credentials) = self.run.auth.credentials() {
            let text = credentials.authorization.expose();
            assert!(text.starts_with("Bearer "), "another scheme");
            if let Some(identities) = &mut self.identities {
                identities.check(text);
            }
            assert!(text.bytes().all(|byte| matches!(byte, b' '..=b'~')), "it fits a header");
        }
    }

    /// Every wait ends, within an hour, and the machine closes.
    fn finish(&mut self) {
        let start = self.run.time.unix;
        while self.run.waits() {
            assert!(self.run.time.unix - start < 3600, "a wait takes an hour");
            assert!(self.run.wait(), "a wait without a deadline");
        }
        self.run.close();
        self.drive();
        for _ in 0..20 {
            if self.run.auth.is_closed() {
                break;
            }
            self.run.wait();
        }
        assert!(self.run.auth.is_closed(), "it does not close");
        assert!(self.run.auth.credentials().is_none(), "credentials of a closed machine");
    }
}

fn config(seed: &mut Seed) -> AuthConfig {
    let server = Uri::parse(Environment::SERVER, &AuthLimits::default());
    let server = server.unwrap_or_else(|error| panic!("{error}"));
    let client = KnownClient::new(Environment::ISSUER, "known").secret("s3cret");
    match seed.below(6) {
        0..=2 => AuthConfig::user(server, "Simulated"),
        3 => AuthConfig::user(server, "Simulated").client(client),
        4 => AuthConfig::client_credentials(server, client),
        _ => AuthConfig::client_credentials(server, client.signed(None)),
    }
}

fn places(seed: &mut Seed) -> Environment {
    let mut places = Environment::new();
    if seed.below(5) == 0 {
        places.documents.clear();
        places.issuers = vec![Issuer::new("https://mcp.example")];
    }
    let lifetimes = [0, 5, 60, 3600, 3600];
    let issuer = places.issuer();
    issuer.lifetime = lifetimes[seed.below(lifetimes.len())];
    issuer.refreshes = seed.below(4) > 0;
    if seed.below(5) == 0 {
        issuer.iss = None;
        issuer.metadata["authorization_response_iss_parameter_supported"] = false.into();
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEDS: u64 = 80;

    // AUT-06: identities are never mixed, and a mistake would be found.
    #[test]
    fn worlds_of_two_identities_find_a_planted_leak() {
        let mut tally = AuthTally::default();
        for seed in 0..SEEDS {
            let world = World::of_identities(Seed(seed));
            let result = run_world(world, seed, &mut tally);
            assert!(result.is_ok(), "{}", result.unwrap_err());
        }
        assert!(tally.of("granted") > SEEDS, "{tally}");
        let leak = (0..SEEDS).find_map(|seed| {
            let world = World { leaks: true, ..World::of_identities(Seed(seed)) };
            run_world(world, seed, &mut tally).err()
        });
        let leak = leak.map(|failure| failure.breach).unwrap_or_default();
        assert!(leak.contains("the token of another user"), "{leak}");
    }
}
