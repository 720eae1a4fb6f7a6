//! One session of the server, or one modern exchange, with its application.

use std::collections::{BTreeMap, BTreeSet};

use mcp_harness::{Seed, SentMessages};
use mcp_proto::http;
use mcp_proto::server::Event;
use mcp_proto::{
    CallId, CallOptions, CommandOutcome, ErrorObject, IncomingId, Misuse, OwnedCommand, Principal,
    Progress, Raw,
};

use super::conn::ConnId;
use super::host_session::{HostSession, Source};
use super::model::Shared;
use crate::application as app;
use crate::case::Feature;
use crate::model::{REFUSAL, tag_of};
use crate::observed::variant;

/// A request as its application knows it.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub(super) method: String,
    pub(super) tag: u64,
    progress: f64,
}

/// Returns the principal of a client.
pub(super) fn principal(client: usize) -> Principal {
    Principal::new(format!("client {client}")).unwrap_or_else(|| unreachable!())
}

#[derive(Debug)]
pub(super) struct Host {
    pub(super) session: HostSession,
    /// The session id; `None` for a modern exchange.
    pub(super) key: Option<String>,
    pub(super) client: usize,
    /// Whether it announces changes.
    pub(super) is_listening: bool,
    pub(super) requests: BTreeMap<IncomingId, Open>,
    over: Vec<IncomingId>,
    pub(super) calls: BTreeSet<CallId>,
    pub(super) exchanges: BTreeMap<Source, ConnId>,
    pub(super) said: SentMessages,
    /// Whether it has an open request to its client.
    pub(super) has_asked: bool,
    is_closed: bool,
}

impl Host {
    pub(super) fn new(
        session: HostSession,
        key: Option<String>,
        client: usize,
        is_listening: bool,
    ) -> Self {
        Self {
            session,
            key,
            client,
            is_listening,
            requests: BTreeMap::new(),
            over: Vec::new(),
            calls: BTreeSet::new(),
            exchanges: BTreeMap::new(),
            said: SentMessages::default(),
            has_asked: false,
            is_closed: false,
        }
    }

    pub(super) const fn is_alone(&self) -> bool {
        self.key.is_none()
    }

    /// Polls the machine's events.
    pub(super) fn look(&mut self, shared: &mut Shared) -> bool {
        let mut moved = false;
        while let Some(event) = self.session.poll_event() {
            moved = true;
            if self.is_closed {
                shared.breach(format!("the server has an event after the end: {event:?}"));
            }
            shared.tell(|| format!("   server hears {event:?}"));
            shared.mark(&format!("http.event server.{}", variant(&event)));
            match event {
                Event::Closed(_) => {
                    self.is_closed = true;
                    if !self.requests.is_empty() || !self.calls.is_empty() {
                        shared.breach(format!(
                            "closed with {:?} and {:?}",
                            self.requests, self.calls
                        ));
                    }
                }
                Event::Completed { call, .. } if !self.calls.remove(&call) => {
                    shared.breach(format!("the server's {call} ended twice"));
                }
                Event::Request { incoming, request, context, .. } => {
                    if context.principal() != Some(&principal(self.client)) {
                        let (sender, client) = (context.principal(), self.client);
                        shared.breach(format!("{sender:?} sent a request of client {client}"));
                    }
                    let tag = tag_of(request.params.as_ref());
                    if tag != 0
                        && let Err(why) = shared.model.deliver(tag, &request.method)
                    {
                        shared.breach(why);
                    }
                    let open = Open { method: request.method.to_string(), tag, progress: 0.0 };
                    if self.requests.insert(incoming, open).is_some() {
                        shared.breach(format!("{incoming} came twice"));
                    }
                }
                Event::RequestCancelled { incoming, .. } => {
                    // In a session also a request whose questions were sent.
                    if self.requests.remove(&incoming).is_none() && !self.over.contains(&incoming) {
                        shared.breach(format!("{incoming} was cancelled and is not open"));
                    }
                    self.over.push(incoming);
                }
                Event::Violation(violation) if !shared.plan.has(Feature::SmallLimits) => {
                    shared.breach(format!("an honest client: {violation:?}"));
                }
                _ => {}
            }
        }
        moved
    }

    pub(super) fn end(&mut self, incoming: IncomingId) {
        self.requests.remove(&incoming);
        self.over.push(incoming);
    }

    /// Checks the outcome of a response; stale requests must have been cancelled, though the event
    /// may not be polled yet.
    fn is_done(&self, shared: &Shared, what: &str, done: Result<(), Misuse>) -> bool {
        match done {
            Ok(()) => true,
            Err(Misuse::Stale | Misuse::Closed) => false,
            Err(other) => shared.breach(format!("{what} is refused: {other:?}")),
        }
    }

    pub(super) fn answer(&mut self, shared: &mut Shared, incoming: IncomingId) -> bool {
        let Some(open) = self.requests.get(&incoming).cloned() else { return false };
        let result = result(&open.method, open.tag);
        let done = self.session.respond(shared.now, incoming, &result);
        shared.tell(|| format!("   server answers {incoming}: {done:?}"));
        let is_done = self.is_done(shared, "an answer", done);
        if is_done {
            let now = shared.now;
            shared.model.with(open.tag, |matter| matter.answered = Some(now));
            self.end(incoming);
        }
        is_done
    }

    pub(super) fn refuse(&mut self, shared: &mut Shared, incoming: IncomingId) -> bool {
        let Some(open) = self.requests.get(&incoming).cloned() else { return false };
        let done =
            self.session.respond_error(shared.now, incoming, &ErrorObject::new(REFUSAL, "no"));
        shared.tell(|| format!("   server refuses {incoming}: {done:?}"));
        let is_done = self.is_done(shared, "a refusal", done);
        if is_done {
            shared.model.with(open.tag, |matter| matter.is_refused = true);
            self.end(incoming);
        }
        is_done
    }

    /// A finished request cannot be answered again.
    pub(super) fn answer_again(&mut self, shared: &Shared, random: &mut Seed) -> bool {
        let Some(incoming) = self.over.get(random.below(self.over.len())).copied() else {
            return false;
        };
        match self.session.respond(shared.now, incoming, &Raw::empty_object()) {
            Err(_) => true,
            Ok(()) => shared.breach(format!("{incoming} is over and was answered again")),
        }
    }

    pub(super) fn apply(
        &mut self,
        shared: &Shared,
        command: &OwnedCommand,
    ) -> Result<CommandOutcome, Misuse> {
        self.session.apply(shared.now, command.try_into()?)
    }

    pub(super) fn ask(
        &mut self,
        shared: &mut Shared,
        incoming: IncomingId,
        random: &mut Seed,
    ) -> bool {
        let Some(open) = self.requests.get(&incoming).cloned() else { return false };
        let ask = app::ask(incoming.into(), random);
        let done = self.apply(shared, &ask);
        shared.tell(|| format!("   server asks about {incoming}: {done:?}"));
        match done {
            Ok(_) => {
                self.has_asked = true;
                let in_session = u32::from(!self.is_alone());
                shared.model.with(open.tag, |matter| {
                    matter.asks += 1;
                    matter.legacy_asks += in_session;
                });
                shared.mark(if self.is_alone() { "http.asks modern" } else { "http.asks legacy" });
                self.end(incoming);
                true
            }
            Err(Misuse::Undeclared) => {
                let OwnedCommand::RequestInput { questions, .. } = ask else { return false };
                let done =
                    self.apply(shared, &OwnedCommand::RefuseUndeclared { incoming, questions });
                let is_done = self.is_done(shared, "a refusal", done.map(|_| ()));
                if is_done {
                    shared.model.with(open.tag, |matter| matter.is_refused = true);
                    self.end(incoming);
                }
                is_done
            }
            Err(_) => false,
        }
    }

    pub(super) fn progress(
        &mut self,
        shared: &mut Shared,
        incoming: IncomingId,
        random: &mut Seed,
    ) -> bool {
        let Some(open) = self.requests.get_mut(&incoming) else { return false };
        let value = open.progress + random.below(5) as f64 - 0.5;
        let tag = open.tag;
        shared.model.with(tag, |matter| _ = matter.progress.insert(value.to_bits()));
        let done = self.session.progress(
            shared.now,
            incoming,
            &Progress::new(value).with_message("so far"),
        );
        shared.tell(|| format!("   server tells of {incoming}: {value}: {done:?}"));
        if done.is_ok() {
            open.progress = open.progress.max(value);
            shared.model.with(tag, |matter| matter.last = Some(value));
        }
        done.is_ok()
    }

    pub(super) fn hang_up(&mut self, shared: &mut Shared, incoming: IncomingId) -> bool {
        let done = self.session.end_stream(shared.now, incoming);
        shared.tell(|| format!("   server hangs up on {incoming}: {done:?}"));
        done.is_ok()
    }

    pub(super) fn log(
        &mut self,
        shared: &mut Shared,
        incoming: Option<IncomingId>,
        random: &mut Seed,
    ) -> bool {
        let number = shared.model.number();
        let Ok(data) = Raw::from_text(&format!("\"log {number}\"")) else { return false };
        let level = app::level(random);
        let done = self.session.log(shared.now, incoming, level, None, &data);
        shared.tell(|| format!("   server logs {number} for {incoming:?}: {done:?}"));
        done.is_ok()
    }

    /// Calls the client, for one of its requests or for none.
    pub(super) fn call(
        &mut self,
        shared: &mut Shared,
        parent: Option<IncomingId>,
        random: &mut Seed,
    ) -> bool {
        if self.session.peer().is_none() {
            return false;
        }
        let method = ["roots/list", "ping", "sampling/createMessage"][random.below(3)];
        let parent = parent.filter(|_| random.below(2) == 0);
        let params = app::params(method, 0, None);
        let options = CallOptions { parent, ..CallOptions::default() };
        let done = self.session.call_raw(shared.now, method, Some(&params), options);
        shared.tell(|| format!("   server calls {method} for {parent:?}: {done:?}"));
        self.calls.extend(done.as_ref().ok());
        done.is_ok()
    }

    /// Checks a modern exchange whose client is gone.
    pub(super) fn check_over(&mut self, shared: &mut Shared) {
        self.look(shared);
        if let Some((incoming, open)) = self.requests.first_key_value() {
            shared
                .breach(format!("the client of {incoming} {open:?} is gone, and it is still open"));
        }
        if self.session.is_busy() {
            shared.breach("an exchange is finished, and busy");
        }
    }

    /// Checks the size of the replay buffer by requesting all of it.
    pub(super) fn check_kept(&mut self, shared: &mut Shared) {
        if self.is_alone() || !self.exchanges.is_empty() {
            return;
        }
        let HostSession::Http(session) = &mut self.session else { return };
        let mut bytes = 0;
        for (stream, numbers) in self.said.ids() {
            let from = std::iter::once(0).chain(numbers);
            for last in from {
                let Ok(id) = session.handle_get(shared.now, Some(&format!("{stream}-{last}")))
                else {
                    continue;
                };
                let _head = session.poll_reply(id);
                let mut reader = http::sse::EventReader::new(usize::MAX, 256);
                while let Some(http::BodyChunk::Bytes(frame)) = session.poll_chunk(id) {
                    let mut rest = &frame[..];
                    while let Some(found) = reader.next(&mut rest) {
                        let http::sse::Item::Event(event) = found else { continue };
                        bytes += event.message().map_or(0, |data| data.len() + 128);
                    }
                }
                session.handle_gone(shared.now, id);
                break;
            }
        }
        let most = shared.plan.settings.replay_bytes_max;
        if bytes > most {
            shared.breach(format!("{bytes} bytes are kept of {most}"));
        }
        if bytes > 0 {
            shared.mark("http.reached kept");
        }
    }
}

fn result(method: &str, tag: u64) -> Raw {
    let members = match method {
        "tools/call" => r#""content":[{"type":"text","text":"\u00e9\r\n"}]"#,
        "tools/list" => r#""tools":[{"name":"t","inputSchema":{"type":"object"}}]"#,
        "prompts/list" => r#""prompts":[]"#,
        "prompts/get" => r#""messages":[]"#,
        "resources/list" => r#""resources":[]"#,
        "resources/templates/list" => r#""resourceTemplates":[]"#,
        "resources/read" => r#""contents":[]"#,
        "completion/complete" => r#""completion":{"values":[]}"#,
        _ => r#""x":1"#,
    };
    Raw::from_text(&format!(r#"{{{members},"tag":{tag}}}"#)).unwrap_or_else(|_| Raw::empty_object())
}
