//! Drives the responses of a world's server: waits for output, and writes what the network accepts.

use std::collections::BTreeSet;

use mcp_proto::http::{Body, BodyChunk, Reply};
use mcp_proto::{Instant, MessageEndpoint as _};

use super::conn::{ConnId, Piece, Stage};
use super::host::Host;
use super::host_session::Source;
use super::model::Shared;
use super::net::Net;
use super::server::Server;

impl Server {
    /// Returns when to wake the driver.
    pub(super) fn next_wake(&self, shared: &Shared, net: &Net) -> Option<Instant> {
        let hosts = self.hosts.values().filter_map(|host| host.session.poll_timeout());
        let due = hosts.chain(self.table.poll_timeout()).map(|due| shared.plan.wakes(due));
        let stalled =
            net.conns.values().filter(|conn| conn.stage == Stage::Streaming && !conn.is_left);
        let stalls = stalled.map(|conn| conn.stalled_until).filter(|at| *at > shared.now);
        due.chain(stalls).min()
    }

    /// Does everything possible at this moment; returns false if there was nothing.
    pub(super) fn drive(&mut self, shared: &mut Shared, net: &mut Net) -> bool {
        let now = shared.now;
        let mut moved = false;
        if self.table.poll_timeout().is_some_and(|due| shared.plan.wakes(due) <= now) {
            let busy = self
                .hosts
                .iter_mut()
                .filter_map(|(key, host)| host.session.is_busy().then_some(*key));
            let busy: BTreeSet<u64> = busy.collect();
            let idle = self.table.expire(now, |key| busy.contains(key));
            for key in idle {
                shared.mark("http.reached expired");
                self.end(shared, key);
            }
            moved = true;
        }
        let keys: Vec<u64> = self.hosts.keys().copied().collect();
        for key in keys {
            moved |= self.drive_one(shared, net, key);
        }
        moved
    }

    fn drive_one(&mut self, shared: &mut Shared, net: &mut Net, key: u64) -> bool {
        let now = shared.now;
        let Some(host) = self.hosts.get_mut(&key) else { return false };
        let mut moved = false;
        if host.session.poll_timeout().is_some_and(|due| shared.plan.wakes(due) <= now) {
            host.session.handle_timeout(now);
            moved = true;
        }
        moved |= host.look(shared);
        let exchanges: Vec<_> =
            host.exchanges.iter().map(|(exchange, id)| (*exchange, *id)).collect();
        for (exchange, id) in exchanges {
            let Some(host) = self.hosts.get_mut(&key) else { return true };
            let Some(conn) = net.conns.get(&id) else { continue };
            if conn.stage == Stage::Waiting {
                let Some(reply) = host.session.poll_reply(exchange) else { continue };
                moved = true;
                if let Body::Whole(body) = &reply.body {
                    let is_alone = host.is_alone();
                    if let Err(why) = host.said.whole(id.0, body, is_alone) {
                        shared.breach(why);
                    }
                    if !body.is_empty() {
                        shared.mark("http.reached json");
                    }
                    host.exchanges.remove(&exchange);
                    respond(shared, net, id, reply);
                    self.is_over(shared, key);
                    continue;
                }
                respond(shared, net, id, reply);
            }
            moved |= self.stream(shared, net, key, exchange, id);
        }
        // A refused `initialize` opened no session.
        if let Some(host) = self.hosts.get(&key)
            && let Some(name) = &host.key
            && host.session.peer().is_none()
            && host.exchanges.is_empty()
        {
            self.table.discard(name);
            self.hosts.remove(&key);
            return true;
        }
        // A closed session is removed once all output is sent.
        if let Some(host) = self.hosts.get(&key)
            && host.session.is_closed()
            && let Some(name) = host.key.clone()
        {
            if self.table.discard(&name).is_some() {
                shared.mark("http.reached closed-by-itself");
                shared.model.orphan(host.client);
            }
            if host.exchanges.is_empty() {
                self.hosts.remove(&key);
                moved = true;
            }
        }
        moved
    }

    /// Writes as much of an event stream as a connection accepts.
    fn stream(
        &mut self,
        shared: &mut Shared,
        net: &mut Net,
        key: u64,
        exchange: Source,
        id: ConnId,
    ) -> bool {
        let now = shared.now;
        let mut moved = false;
        loop {
            let Some(host) = self.hosts.get_mut(&key) else { return true };
            let Some(conn) = net.conns.get(&id).filter(|conn| conn.stage == Stage::Streaming)
            else {
                return moved;
            };
            let is_heard = !conn.is_cut && !conn.is_left;
            if is_heard && (conn.in_flight >= conn.window || conn.stalled_until > now) {
                shared.mark("http.reached slow-reader");
                return moved;
            }
            let Some(frame) = host.session.poll_chunk(exchange) else { return moved };
            moved = true;
            match frame {
                BodyChunk::Bytes(bytes) => {
                    let is_alone = host.is_alone();
                    shared.tell(|| format!("   {id:?} says {:?}", String::from_utf8_lossy(&bytes)));
                    let checked = match exchange {
                        Source::Exchange(_) => host.said.frame(id.0, &bytes, is_alone),
                        Source::SseStream => host.said.legacy_frame(id.0, &bytes),
                    };
                    if let Err(why) = checked {
                        shared.breach(why);
                    }
                    for kind in host.said.take_kinds() {
                        shared.mark(&format!("http.reached {kind}"));
                    }
                    net.down(
                        now,
                        &shared.plan,
                        &mut shared.coverage,
                        id,
                        Piece::Body(bytes.to_vec()),
                    );
                }
                BodyChunk::End => {
                    shared.tell(|| format!("   {id:?} ends"));
                    host.exchanges.remove(&exchange);
                    host.said.forget(id.0);
                    if let Some(conn) = net.conns.get_mut(&id) {
                        conn.stage = Stage::Done;
                    }
                    net.down(now, &shared.plan, &mut shared.coverage, id, Piece::End);
                    self.is_over(shared, key);
                }
            }
        }
    }

    /// Ends an exchange; a modern one takes its host with it.
    fn is_over(&mut self, shared: &mut Shared, key: u64) {
        if self.hosts.get(&key).is_some_and(Host::is_alone) {
            self.drop_alone(shared, key);
        }
    }
}

/// Sends a head, and the body if it is complete.
pub(super) fn respond(shared: &mut Shared, net: &mut Net, id: ConnId, reply: Reply) {
    let now = shared.now;
    let Some(conn) = net.conns.get_mut(&id) else { return };
    let Reply { status, headers: fields, body } = reply;
    let fields =
        fields.into_iter().map(|(name, value)| (name.to_owned(), value.into_owned())).collect();
    shared.mark(&format!("http.status {status}"));
    shared.tell(|| format!("   {id:?} gets {status} {fields:?} {body:?}"));
    if status >= 400 {
        let tag = conn.tag;
        shared.model.with(tag, |matter| matter.is_troubled = true);
    }
    conn.stage = if body == Body::Events { Stage::Streaming } else { Stage::Done };
    net.down(now, &shared.plan, &mut shared.coverage, id, Piece::Head(status, fields));
    if let Body::Whole(bytes) = body {
        if !bytes.is_empty() {
            net.down(now, &shared.plan, &mut shared.coverage, id, Piece::Body(bytes.to_vec()));
        }
        net.down(now, &shared.plan, &mut shared.coverage, id, Piece::End);
    } else {
        shared.mark("http.reached sse");
    }
}
