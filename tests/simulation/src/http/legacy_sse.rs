//! The server of a world that offers HTTP+SSE instead of Streamable HTTP.

use std::sync::Arc;

use mcp_proto::http::legacy_sse::{SseServer, admit_message, admit_stream};
use mcp_proto::http::{Refusal, Reply};
use mcp_proto::{Caller, MessageEndpoint as _};

use super::conn::ConnId;
use super::driver::respond;
use super::host::{Host, principal};
use super::host_session::{HostSession, Source};
use super::model::Shared;
use super::net::Net;
use super::server::{Server, wait_for_room};

/// The path of the message endpoint.
pub(super) const MESSAGES: &str = "/messages";

/// The URL of the server, which opens streams.
pub(super) const STREAM_URL: &str = "http://localhost/sse";

impl Server {
    /// Handles a request to one of the two endpoints.
    pub(super) fn hear_sse(
        &mut self,
        shared: &mut Shared,
        net: &mut Net,
        id: ConnId,
    ) -> Result<(), Refusal> {
        let Some(conn) = net.conns.get(&id) else { return Ok(()) };
        let (fields, verb) = (conn.fields(), conn.send.method.name());
        let Some(target) = &conn.send.target else {
            admit_stream(&shared.plan.policy, verb, &fields)?;
            return self.open_sse(shared, net, id);
        };
        let target = target.expose();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if path != MESSAGES {
            shared.breach(format!("the client sends to {target:?}"));
        }
        let session = admit_message(&shared.plan.policy, verb, &fields, Some(query))?;
        self.post_sse(shared, net, id, &session)
    }

    fn open_sse(&mut self, shared: &mut Shared, net: &mut Net, id: ConnId) -> Result<(), Refusal> {
        let Some(client) = net.conns.get(&id).map(|conn| conn.client) else { return Ok(()) };
        let (Ok(()), Some(settings)) = (self.table.has_room(), &shared.plan.sse) else {
            shared.mark("http.reached full");
            return Err(Refusal::new(503, "there are too many sessions"));
        };
        let key = self.session_key(shared);
        let session = SseServer::new(shared.now, settings, &key);
        shared.mark("http.era sse");
        let session = HostSession::Sse(Box::new(session));
        let host = self.add(Host::new(session, Some(key.clone()), client, true));
        if self.table.insert(shared.now, key.as_str(), Some(&principal(client)), host).is_err() {
            shared.breach("the table had room and refused a session");
        }
        self.attach(net, id, host, Source::SseStream);
        if let Some(conn) = net.conns.get_mut(&id) {
            conn.is_sse_stream = true;
        }
        respond(shared, net, id, SseServer::stream_reply());
        Ok(())
    }

    fn post_sse(
        &mut self,
        shared: &mut Shared,
        net: &mut Net,
        id: ConnId,
        session: &str,
    ) -> Result<(), Refusal> {
        let Some(conn) = net.conns.get(&id) else { return Ok(()) };
        let (sender, tag, body) = (principal(conn.client), conn.tag, conn.send.body.clone());
        let unknown = || Refusal::unknown_session(None);
        let key = self.session_of(shared, session, &sender).ok_or_else(unknown)?;
        let now = shared.now;
        let Some(Host { session: HostSession::Sse(sse), .. }) = self.hosts.get_mut(&key) else {
            return Err(unknown());
        };
        if !sse.wants_input() && !sse.is_closed() {
            return wait_for_room(shared, net, id);
        }
        shared.model.with(tag, |matter| matter.posts += 1);
        sse.set_caller(Some(Arc::new(Caller::new().with_principal(sender))));
        let reply = sse.handle_post(now, &body[..]);
        sse.set_caller(None);
        let reply: Reply = reply?;
        respond(shared, net, id, reply);
        Ok(())
    }
}
