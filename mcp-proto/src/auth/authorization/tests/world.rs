//! A world of an MCP server, its authorization servers, a store, and the drivers of machines.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;
use core::time::Duration;

use serde_json::{Value, json};

use super::server::{AuthServer, Response};
use crate::auth::*;
use crate::http::client::{Challenge, Generation, HttpMethod};
use crate::time::Instant;

pub(super) const SERVER: &str = "https://mcp.example/mcp";
pub(super) const PRM: &str = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
pub(super) const AS: &str = "https://as.example";

pub(super) fn uri(text: &str) -> Uri {
    Uri::parse(text, &AuthLimits::default()).unwrap()
}

pub(super) fn user() -> AuthConfig {
    AuthConfig::user(uri(SERVER), "Test")
}

/// Everything outside of the machines.
pub(super) struct World {
    pub(super) time: Time,
    pub(super) servers: Vec<AuthServer>,
    /// The documents of the MCP server by URL.
    pub(super) documents: BTreeMap<String, Response>,
    pub(super) store: BTreeMap<String, String>,
    locks: BTreeMap<String, (usize, StoreId)>,
    lock_queue: VecDeque<(usize, StoreId, RecordKey)>,
    pub(super) urls: Vec<String>,
    draws: u8,
}

impl World {
    /// Creates a world with one authorization server, and metadata in their usual places.
    pub(super) fn new() -> Self {
        let mut world = Self {
            time: Time { now: Instant::ZERO, unix: 1_790_000_000 },
            servers: vec![AuthServer::new(AS)],
            documents: BTreeMap::new(),
            store: BTreeMap::new(),
            locks: BTreeMap::new(),
            lock_queue: VecDeque::new(),
            urls: Vec::new(),
            draws: 0,
        };
        world.publish(&json!({"resource": SERVER, "authorization_servers": [AS]}));
        world
    }

    pub(super) fn publish(&mut self, metadata: &Value) {
        self.documents.insert(PRM.to_owned(), (200, metadata.to_string()));
    }

    pub(super) fn auth_server(&mut self) -> &mut AuthServer {
        &mut self.servers[0]
    }

    pub(super) fn pass(&mut self, seconds: u64) {
        self.time.now += Duration::from_secs(seconds);
        self.time.unix += seconds;
    }

    pub(super) fn answer(&mut self, fetch: &Fetch) -> Response {
        self.urls.push(fetch.url.to_string());
        // AUT-08: metadata of the MCP server's origin are asked for with the revision.
        let is_own =
            fetch.method == HttpMethod::Get && fetch.url.starts_with("https://mcp.example/");
        let names_revision = fetch.headers.iter().any(|(name, _)| name == "MCP-Protocol-Version");
        assert_eq!(names_revision, is_own, "{}", fetch.url);
        let mut servers = self.servers.iter_mut();
        let answer = servers.find_map(|server| server.answer(fetch));
        let document = || self.documents.get(&*fetch.url).cloned();
        answer.or_else(document).unwrap_or_else(|| (404, "<html>".to_owned()))
    }

    pub(super) fn random(&mut self) -> [u8; 32] {
        self.draws += 1;
        [self.draws; 32]
    }

    /// Lets the user decide at the authorization server of an issuer.
    pub(super) fn authorize(&mut self, issuer: &str, url: &str) -> String {
        let mut servers = self.servers.iter_mut();
        servers.find(|server| server.issuer == issuer).unwrap().authorize(url)
    }

    /// Gives a lock to a driver.
    pub(super) fn hold(&mut self, driver: usize, id: StoreId, key: &RecordKey) {
        self.locks.insert(key.file_name(), (driver, id));
    }

    /// Frees the locks of a driver that is gone.
    pub(super) fn crash(&mut self, driver: usize) {
        self.locks.retain(|_, (owner, _)| *owner != driver);
        self.lock_queue.retain(|(owner, ..)| *owner != driver);
    }

    /// Asserts that no client did what none may do.
    pub(super) fn assert_innocent(&self) {
        for server in &self.servers {
            assert_eq!(server.offences, [""; 0]);
        }
    }
}

/// A machine with its driver.
pub(super) struct Driver {
    pub(super) id: usize,
    pub(super) auth: Authorization,
    pub(super) events: Vec<AuthEvent>,
    /// The URLs shown to the user, who has not decided.
    pub(super) shown: Vec<String>,
    /// Whether the user decides immediately.
    pub(super) decides: bool,
    pub(super) listening: bool,
    pub(super) port: Option<u16>,
    pub(super) prints: bool,
    /// The nonce of the next response.
    nonce: Option<String>,
    /// The keys that signed, in order.
    pub(super) signed: Vec<KeyUse>,
    /// The Debug output of everything public.
    pub(super) printed: String,
}

impl Driver {
    pub(super) fn new(id: usize, world: &World, config: AuthConfig) -> Self {
        Self {
            id,
            auth: Authorization::new(world.time, config),
            events: Vec::new(),
            shown: Vec::new(),
            decides: true,
            listening: false,
            port: Some(5000),
            prints: true,
            nonce: None,
            signed: Vec::new(),
            printed: String::new(),
        }
    }

    /// Takes the next action.
    pub(super) fn take(&mut self) -> Option<AuthAction> {
        let action = self.auth.poll_action()?;
        self.print(&action);
        Some(action)
    }

    /// Performs an action as it should be.
    pub(super) fn perform(&mut self, world: &mut World, action: AuthAction) {
        let time = world.time;
        match action {
            AuthAction::Draw => {
                let bytes = world.random();
                self.auth.handle_random(time, bytes);
            }
            AuthAction::Acquire { id, key } => {
                world.lock_queue.push_back((self.id, id, key));
                self.unlock(world);
            }
            AuthAction::Save { id, record } => {
                let key = world.locks.iter().find(|(_, owner)| **owner == (self.id, id));
                let key = key.map(|(key, _)| key.clone()).expect("saves what is locked");
                match record {
                    Some(record) => world.store.insert(key, record.expose().to_owned()),
                    None => world.store.remove(&key),
                };
                self.auth.handle_store(time, id, Ok(None));
            }
            AuthAction::Release { id } => {
                world.locks.retain(|_, owner| *owner != (self.id, id));
                world.lock_queue.retain(|(owner, other, _)| (*owner, *other) != (self.id, id));
            }
            AuthAction::Listen { port, .. } => {
                assert!(!self.listening, "listens once at a time");
                self.listening = true;
                self.auth.handle_listening(time, port.or(self.port));
            }
            AuthAction::Unlisten => {
                assert!(self.listening, "stops what it started");
                self.listening = false;
            }
            AuthAction::Fetch(fetch) => {
                let (status, body) = world.answer(&fetch);
                let mut servers = world.servers.iter_mut();
                self.nonce = servers.find_map(|server| server.nonce_header.take());
                self.respond(world, fetch.id, status, &body);
            }
            AuthAction::Abort(_) => {}
            AuthAction::Sign { id, key, .. } => {
                self.signed.push(key);
                self.auth.handle_signature(time, id, Some(&[7; 64]));
            }
            AuthAction::Show { url, issuer, .. } if self.decides => {
                let query = world.authorize(&issuer, url.expose());
                self.auth.handle_redirect(time, &query);
            }
            AuthAction::Show { url, .. } => self.shown.push(url.expose().to_owned()),
        }
    }

    /// Passes the lock to this driver, if it is next.
    pub(super) fn unlock(&mut self, world: &mut World) {
        let is_free = |(owner, _, key): &(usize, StoreId, RecordKey)| {
            *owner == self.id && !world.locks.contains_key(&key.file_name())
        };
        let Some(at) = world.lock_queue.iter().position(is_free) else { return };
        let Some((owner, id, key)) = world.lock_queue.remove(at) else { return };
        world.locks.insert(key.file_name(), (owner, id));
        let record = world.store.get(&key.file_name()).cloned();
        let record = record.as_ref().map(String::as_bytes);
        self.auth.handle_store(world.time, id, Ok(record));
    }

    pub(super) fn respond(&mut self, world: &World, id: FetchId, status: u16, body: &str) {
        let time = world.time;
        let nonce = self.nonce.take().unwrap_or_default();
        let head = [("content-type", "application/json"), ("dpop-nonce", &nonce)];
        self.auth.handle_head(time, id, status, &head);
        for byte in body.as_bytes().chunks(100) {
            self.auth.handle_body(time, id, byte);
        }
        self.print_machine();
        self.auth.handle_end(time, id);
    }

    /// Performs all actions.
    pub(super) fn run(&mut self, world: &mut World) {
        for _ in 0..500 {
            self.unlock(world);
            let Some(action) = self.take() else {
                self.collect();
                return;
            };
            self.perform(world, action);
        }
        panic!("no end of actions: {:?}", self.auth);
    }

    fn print_machine(&mut self) {
        if self.prints {
            self.printed += &format!("{:?}\n", self.auth);
        }
    }

    fn print(&mut self, value: &dyn Debug) {
        if self.prints {
            self.printed += &format!("{value:?}\n");
        }
    }

    pub(super) fn collect(&mut self) {
        self.print_machine();
        while let Some(event) = self.auth.poll_event() {
            self.print(&event);
            if let AuthEvent::Denied(denial) = &event {
                self.printed += &format!("{denial}\n");
            }
            self.events.push(event);
        }
    }

    /// Lets time pass until the next timeout, and performs what follows.
    pub(super) fn wait(&mut self, world: &mut World) -> bool {
        let Some(at) = self.auth.poll_timeout() else { return false };
        let seconds = at.duration_since(world.time.now).as_nanos().div_ceil(1_000_000_000);
        world.pass(u64::try_from(seconds).unwrap());
        self.auth.handle_timeout(world.time);
        self.run(world);
        true
    }

    /// Lets time pass until the next timeout.
    pub(super) fn wait_once(&mut self, world: &mut World) {
        let Some(at) = self.auth.poll_timeout() else { return };
        let seconds = at.duration_since(world.time.now).as_nanos().div_ceil(1_000_000_000);
        world.pass(u64::try_from(seconds).unwrap());
        self.auth.handle_timeout(world.time);
        self.collect();
    }

    /// Returns the token that a new process finds in the store.
    pub(super) fn restored(world: &mut World) -> Option<String> {
        let mut driver = Self::new(9, world, user());
        driver.auth.restore(world.time);
        driver.run(world);
        driver.token()
    }

    /// Reports a request rejected with the current credentials.
    pub(super) fn reject(
        &mut self,
        world: &World,
        status: u16,
        params: &[(&str, &str)],
    ) -> Verdict {
        let generation = self.auth.credentials().map(|credentials| credentials.generation);
        self.reject_with(world, generation, status, params)
    }

    pub(super) fn reject_with(
        &mut self,
        world: &World,
        generation: Option<Generation>,
        status: u16,
        params: &[(&str, &str)],
    ) -> Verdict {
        self.reject_by(world, generation, status, &[("Negotiate", &[]), ("bearer", params)])
    }

    /// Reports a request rejected with these challenges.
    pub(super) fn reject_by(
        &mut self,
        world: &World,
        generation: Option<Generation>,
        status: u16,
        challenges: &[(&str, &[(&str, &str)])],
    ) -> Verdict {
        let challenges: Vec<_> = challenges
            .iter()
            .map(|(scheme, params)| {
                let params = params.iter().map(|(name, value)| ((*name).into(), (*value).into()));
                Challenge { scheme: (*scheme).into(), token: None, params: params.collect() }
            })
            .collect();
        let operation = "tools/call test";
        let request = RejectedRequest { generation, status, challenges: &challenges, operation };
        self.auth.handle_challenge(world.time, &request)
    }

    /// Authorizes after a 401 to a request without credentials.
    pub(super) fn sign_in(&mut self, world: &mut World) {
        assert_eq!(self.reject(world, 401, &[]), Verdict::Wait);
        self.run(world);
    }

    pub(super) fn token(&self) -> Option<String> {
        let credentials = self.auth.credentials()?;
        let (scheme, token) = credentials.authorization.expose().split_once(' ').unwrap();
        assert!(["Bearer", "DPoP"].contains(&scheme));
        Some(token.to_owned())
    }

    pub(super) fn generation(&self) -> Generation {
        self.auth.credentials().unwrap().generation
    }

    pub(super) fn accept(&mut self) {
        let generation = self.generation();
        self.auth.accepted(generation);
    }

    /// Returns and removes the ends of waits so far: `Ok` for granted.
    pub(super) fn ends(&mut self) -> Vec<Result<(), Denial>> {
        let ends = self.events.iter().filter_map(|event| match event {
            AuthEvent::Granted { .. } => Some(Ok(())),
            AuthEvent::Denied(denial) => Some(Err(denial.clone())),
            _ => None,
        });
        let ends = ends.collect();
        self.events.clear();
        ends
    }

    pub(super) fn denial(&mut self) -> Denial {
        match self.ends().as_slice() {
            [Err(denial)] => denial.clone(),
            other => panic!("not one denial: {other:?}"),
        }
    }
}
