//! The server of a world: its sessions, what it admits, and the driver of its responses.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::http::{
    Admitted, Body, GetRequest, HttpServer, Post, PostedMessage, Refusal, Reply, SessionTable,
    admit,
};
use mcp_proto::server::Server as Machine;
use mcp_proto::{Caller, MessageEndpoint as _, Principal};

use super::conn::{ConnId, Stage};
use super::driver::respond;
use super::host::{Host, principal};
use super::host_session::{HostSession, Source};
use super::model::Shared;
use super::net::Net;
use crate::case::Feature;

/// How long a message waits for room in its session.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Server {
    pub(super) hosts: BTreeMap<u64, Host>,
    pub(super) table: SessionTable<u64>,
    next: u64,
}

impl Server {
    pub(super) fn new(shared: &Shared) -> Self {
        let table = SessionTable::new(shared.plan.sessions_max, shared.plan.idle_max);
        Self { hosts: BTreeMap::new(), table, next: 0 }
    }

    /// Handles a request.
    pub(super) fn hear(&mut self, shared: &mut Shared, net: &mut Net, id: ConnId) {
        let Some(conn) = net.conns.get(&id).filter(|conn| conn.stage == Stage::Coming) else {
            return;
        };
        if shared.plan.sse.is_some() {
            if let Err(refusal) = self.hear_sse(shared, net, id) {
                respond(shared, net, id, refusal.into());
            }
            return;
        }
        let fields = conn.fields();
        let (verb, body, tag, client) =
            (conn.send.method.name(), conn.send.body.clone(), conn.tag, conn.client);
        let sender = principal(client);
        let outcome = match admit(&shared.plan.policy, verb, &fields) {
            Err(refusal) => Err(refusal),
            Ok(Admitted::Post(head)) => {
                match head.read(&shared.plan.policy, &fields, &body, &|_| None) {
                    Err(refusal) => Err(refusal),
                    Ok(post) => self.post(shared, net, id, post, &body, tag, client),
                }
            }
            Ok(Admitted::Get(get)) => self.get(shared, net, id, &get, &sender),
            Ok(Admitted::Delete(key)) => match self.table.remove(&key, Some(&sender)) {
                Some(host) => {
                    shared.mark("http.reached deleted");
                    self.end(shared, host);
                    respond(
                        shared,
                        net,
                        id,
                        Reply {
                            status: 204,
                            headers: Vec::new(),
                            body: Body::Whole(Vec::new().into()),
                        },
                    );
                    Ok(())
                }
                None => Err(Refusal::unknown_session(None)),
            },
        };
        if let Err(refusal) = outcome {
            respond(shared, net, id, refusal.into());
        }
    }

    #[expect(clippy::too_many_arguments, reason = "these are the parts of a request")]
    fn post(
        &mut self,
        shared: &mut Shared,
        net: &mut Net,
        id: ConnId,
        post: Post,
        body: &[u8],
        tag: u64,
        client: usize,
    ) -> Result<(), Refusal> {
        let now = shared.now;
        let machine = || Machine::new(now, shared.plan.server.clone());
        let settings = shared.plan.settings.clone();
        match post {
            Post::Modern { revision, message } => {
                let session = http_session(HttpServer::modern(machine(), revision, settings));
                let listens = matches!(
                    &message,
                    PostedMessage::Request { method, .. } if **method == *"subscriptions/listen"
                );
                shared.mark("http.era modern");
                let host = self.add(Host::new(session, None, client, listens));
                self.hand_over(shared, net, id, host, message.needs_response(), body, tag);
            }
            Post::Sessionless { .. } => shared.breach("the server has sessions"),
            Post::Initialize { .. } => {
                if self.table.has_room().is_err() {
                    shared.mark("http.reached full");
                    return Err(Refusal::new(503, "there are too many sessions"));
                }
                let key = self.session_key(shared);
                let session = HttpServer::legacy(machine(), key.as_str(), settings);
                let session = http_session(session);
                shared.mark("http.era legacy");
                let host = self.add(Host::new(session, Some(key.clone()), client, true));
                self.hand_over(shared, net, id, host, true, body, tag);
                let is_open =
                    self.hosts.get(&host).is_some_and(|host| host.session.peer().is_some());
                if is_open
                    && self.table.insert(now, key.as_str(), Some(&principal(client)), host).is_err()
                {
                    shared.breach("the table had room and refused a session");
                }
            }
            Post::Session { session, message, .. } => {
                let echo =
                    if let PostedMessage::Request { id, .. } = &message { Some(id) } else { None };
                let host = self.session_of(shared, &session, &principal(client));
                let host = host.ok_or_else(|| Refusal::unknown_session(echo))?;
                let Some(open) = self.hosts.get(&host) else {
                    return Err(Refusal::unknown_session(echo));
                };
                if !open.session.wants_input() {
                    return wait_for_room(shared, net, id);
                }
                self.hand_over(shared, net, id, host, message.needs_response(), body, tag);
            }
        }
        Ok(())
    }

    fn get(
        &mut self,
        shared: &mut Shared,
        net: &mut Net,
        id: ConnId,
        get: &GetRequest,
        sender: &Principal,
    ) -> Result<(), Refusal> {
        let host = self.session_of(shared, &get.session, sender);
        let opened = host.and_then(|host| Some((host, self.hosts.get_mut(&host)?)));
        let (key, host) = opened.ok_or_else(|| Refusal::unknown_session(None))?;
        let HostSession::Http(session) = &mut host.session else {
            return Err(Refusal::unknown_session(None));
        };
        match session.handle_get(shared.now, get.last_event_id.as_deref()) {
            Ok(exchange) => {
                let exchange = Source::Exchange(exchange);
                shared.tell(|| format!("   {id:?} is GET {:?}", get.last_event_id));
                let stream = get.last_event_id.as_deref().and_then(|id| id.split('-').nth(1));
                let resumes = stream.is_some_and(|stream| stream != "0");
                shared.mark(match (&get.last_event_id, resumes) {
                    (None, _) => "http.reached get",
                    (Some(_), false) => "http.reached resumed-get",
                    (Some(_), true) => "http.reached resumed",
                });
                if let Some(last) = get.last_event_id.as_deref() {
                    host.said.resume(id.0, last);
                }
                self.attach(net, id, key, exchange);
                Ok(())
            }
            Err(unresumable) => {
                // The limit is far above all output, unless it is small. A call abandoned since is
                // overtaken by its own cancellation.
                let is_heard = net.conns.get(&id).is_some_and(|conn| !conn.is_left);
                if is_heard && !shared.plan.has(Feature::SmallReplays) && !host.session.is_closed()
                {
                    let id = &get.last_event_id;
                    shared.breach(format!("{id:?} is refused, and no event was evicted"));
                }
                shared.mark("http.reached evicted");
                Err(unresumable.into())
            }
        }
    }

    /// Looks up a session, which must not exist for another principal.
    pub(super) fn session_of(
        &mut self,
        shared: &Shared,
        session: &str,
        sender: &Principal,
    ) -> Option<u64> {
        let other = principal(usize::MAX);
        for stranger in [None, Some(&other)] {
            if self.table.get(shared.now, session, stranger).is_some() {
                shared.breach(format!("the session of {sender:?} exists for {stranger:?}"));
            }
        }
        self.table.get(shared.now, session, Some(sender)).copied()
    }

    /// Returns a new session id.
    pub(super) fn session_key(&self, shared: &Shared) -> String {
        format!("s{}-{}", self.next, shared.now.as_nanos() % 1000)
    }

    /// Connects a response of a host to its connection.
    pub(super) fn attach(&mut self, net: &mut Net, id: ConnId, key: u64, source: Source) {
        if let Some(host) = self.hosts.get_mut(&key) {
            host.exchanges.insert(source, id);
        }
        if let Some(conn) = net.conns.get_mut(&id) {
            conn.host = Some((key, source));
            conn.stage = Stage::Waiting;
        }
    }

    pub(super) fn add(&mut self, host: Host) -> u64 {
        self.next += 1;
        self.hosts.insert(self.next, host);
        self.next
    }

    #[expect(clippy::too_many_arguments, reason = "these are the parts of a request")]
    fn hand_over(
        &mut self,
        shared: &mut Shared,
        net: &mut Net,
        id: ConnId,
        key: u64,
        is_answered: bool,
        body: &[u8],
        tag: u64,
    ) {
        let Some(Host { session: HostSession::Http(session), .. }) = self.hosts.get_mut(&key)
        else {
            return;
        };
        shared.model.with(tag, |matter| matter.posts += 1);
        if let Some(conn) = net.conns.get(&id) {
            let sender = Caller::new().with_principal(principal(conn.client));
            session.set_caller(Arc::new(sender));
        }
        let exchange = session.handle_post(shared.now, is_answered, body);
        session.set_caller(None);
        shared.tell(|| format!("   {id:?} becomes {exchange:?} of host {key}"));
        self.attach(net, id, key, Source::Exchange(exchange));
    }

    /// Handles the disconnect of a client.
    pub(super) fn hear_gone(&mut self, shared: &mut Shared, net: &mut Net, id: ConnId) {
        let Some(conn) = net.conns.get_mut(&id).filter(|conn| conn.stage != Stage::Done) else {
            return;
        };
        conn.stage = Stage::Done;
        let Some((key, exchange)) = conn.host.take() else { return };
        let Some(host) = self.hosts.get_mut(&key) else { return };
        shared.tell(|| format!("   server notices that {id:?} is gone"));
        host.session.handle_gone(shared.now, exchange);
        host.exchanges.remove(&exchange);
        host.said.forget(id.0);
        if exchange == Source::SseStream {
            // The session ends with its stream.
            shared.mark("http.reached sse-stream-lost");
            shared.model.orphan(host.client);
        } else if host.is_alone() {
            shared.mark("http.reached gone-alone");
            self.drop_alone(shared, key);
        } else {
            shared.mark("http.reached gone-in-session");
        }
    }

    pub(super) fn drop_alone(&mut self, shared: &mut Shared, key: u64) {
        if let Some(mut host) = self.hosts.remove(&key) {
            host.check_over(shared);
        }
    }

    /// Ends a session, as far as the table is concerned.
    pub(super) fn end(&mut self, shared: &mut Shared, key: u64) {
        if let Some(host) = self.hosts.get_mut(&key) {
            shared.tell(|| format!("   host {key} ends"));
            shared.model.orphan(host.client);
            host.session.close(shared.now);
        }
    }

    /// Ends all sessions.
    pub(super) fn close(&mut self, shared: &mut Shared) {
        let keys: Vec<u64> = self.table.iter().copied().collect();
        for key in keys {
            self.end(shared, key);
        }
    }

    /// Checks that nothing remains without clients.
    pub(super) fn check_end(&self, shared: &Shared) {
        if let Some((key, host)) = self.hosts.first_key_value() {
            shared.breach(format!(
                "host {key} is left, with {:?} and {:?}",
                host.requests, host.exchanges
            ));
        }
        if let Some(key) = self.table.iter().next() {
            shared.breach(format!("host {key} has ended, and the table contains it"));
        }
    }

    /// Checks the size of the replay buffers.
    pub(super) fn check_kept(&mut self, shared: &mut Shared) {
        for host in self.hosts.values_mut() {
            host.check_kept(shared);
        }
    }
}

/// Delivers a message again later, or refuses it if its session has had no room for long.
pub(super) fn wait_for_room(shared: &mut Shared, net: &mut Net, id: ConnId) -> Result<(), Refusal> {
    shared.mark("http.reached server-full");
    let Some(conn) = net.conns.get_mut(&id) else { return Ok(()) };
    if shared.now >= *conn.patience.get_or_insert(shared.now + PATIENCE) {
        return Err(Refusal::new(503, "the session has more to do than it can hold"));
    }
    net.postpone(shared.now, id);
    Ok(())
}

fn http_session(session: HttpServer) -> HostSession {
    HostSession::Http(Box::new(session))
}
