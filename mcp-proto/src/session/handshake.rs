//! `initialize`, from both ends; knows nothing of what comes after it.

use alloc::string::ToString;
use alloc::sync::Arc;

use super::calls::Asker;
use super::core::Core;
use super::outcome::{CallError, Fault};
use super::peer::Peer;
use super::phase::Trigger;
use super::requests::Back;
use super::stamp::Stamp;
use crate::error::code;
use crate::json::{Object, Raw, find};
use crate::revision::{Era, Revision, Side};
use crate::rpc::{self, ErrorObject, Params, RequestId};
use crate::schema::{Capabilities, Decode, Encode, Implementation, Initialize, InitializeResult};
use crate::wire::To;

impl Core {
    /// Client: opens a session. (LIF-01, LIF-02, LIF-19)
    pub(super) fn initialize_in(&mut self, revision: Revision) {
        self.trying = revision;
        let wait = (self.limits().handshake_timeout, self.limits().handshake_timeout);
        let wire = self.calls.insert(self.now, Asker::Handshake, false, wait);
        let capabilities = self.me.capabilities.clone();
        let info = self.me.info.clone();
        let _infallible = self.try_write(To::ANY, |out| {
            rpc::open_request(out, wire, "initialize");
            out.extend_from_slice(b",\"params\":");
            Initialize::new(revision.name(), capabilities, info).encode(revision, out)?;
            out.push(b'}');
            Ok::<(), crate::error::Unencodable>(())
        });
    }

    /// Client: `initialize` was answered. Capabilities count only from a good answer. (T-42)
    pub(super) fn welcomed(&mut self, outcome: Result<Raw, CallError>) {
        let result = match outcome {
            Ok(result) => result,
            Err(CallError::Refused(error)) => return self.initialize_refused(error),
            Err(error @ (CallError::Http { .. } | CallError::Lost | CallError::Unsent)) => {
                return self.fault(Fault::Unopened(error));
            }
            Err(other) => return self.fault(Fault::BadHandshake(other.to_string().into())),
        };
        if result.as_bytes().len() > self.limits().peer_bytes_max {
            return self.fault(Fault::BadHandshake("it is longer than this side can hold".into()));
        }
        let welcome = match InitializeResult::decode(&result) {
            Ok(welcome) => welcome,
            Err(error) => return self.fault(Fault::BadHandshake(error.to_string().into())),
        };
        let takes = |era| era == Era::Legacy || self.me.takes_modern_welcome;
        let revision = Revision::from_name(&welcome.protocol_version)
            .filter(|revision| takes(revision.era()) && self.me.revisions.contains(revision));
        let Some(revision) = revision else {
            return self.fault(Fault::NoCommonRevision(welcome.protocol_version));
        };
        // No session was opened, then; each message says for itself what it needs. (T-31)
        if revision.era() == Era::Modern {
            self.trying = revision;
            self.stamp = Arc::new(Stamp::new(&self.me, Side::Client, revision));
        }
        self.peer = Some(Arc::new(Peer {
            revision,
            info: welcome.server_info,
            capabilities: welcome.capabilities.seen_from(Side::Server, revision),
            instructions: welcome.instructions.map(Into::into),
        }));
        let _infallible =
            self.try_write(To::ANY, |out| rpc::notification(out, "notifications/initialized", |_| Ok(())));
        self.step(Trigger::Welcome);
    }

    /// Server: `initialize` came. An answer without an error moves the session on. (LIF-03…05, LIF-15, LIF-33)
    pub(super) fn initialize(&mut self, back: Back, id: &RequestId, params: &Params<'_>) {
        match self.negotiate(params) {
            Ok(peer) => {
                let revision = peer.revision;
                self.peer = Some(Arc::new(peer));
                self.write_welcome(back, id, revision);
                self.step(Trigger::Welcome);
            }
            Err(error) => self.refuse(back, Some(id), &error),
        }
    }

    fn negotiate(&self, params: &Params<'_>) -> Result<Peer, ErrorObject> {
        if params.object.is_some_and(|object| object.text.len() > self.limits().peer_bytes_max) {
            return Err(ErrorObject::invalid_params("this is more than a server can hold of its client"));
        }
        let offered = params.member("protocolVersion").and_then(crate::json::unescape);
        let Some(offered) = offered else {
            return Err(ErrorObject::invalid_params("`protocolVersion` must be a string"));
        };
        let same = Revision::from_name(&offered)
            .filter(|revision| revision.era() == Era::Legacy && self.me.revisions.contains(revision));
        let Some(revision) = same.or_else(|| self.me.newest(Era::Legacy)) else {
            let error = ErrorObject::new(code::UNSUPPORTED_PROTOCOL_VERSION, "this server opens no sessions");
            return Err(error.with_data(self.supported(&offered)));
        };
        // What a client leaves out, it does not have.
        let object = params.object.map_or(&b"{}"[..], |object| object.text);
        let keep =
            |name| find(object, name).map(|value| crate::json::Frame::Borrowed(value).keep(value, true));
        let capabilities = keep("capabilities").unwrap_or_else(Raw::empty_object);
        let info = keep("clientInfo").and_then(|info| Implementation::decode(&info).ok());
        Ok(Peer {
            revision,
            info: info.unwrap_or_else(|| Implementation::new("", "")),
            capabilities: Capabilities::declared(&capabilities, Side::Client, revision),
            instructions: None,
        })
    }

    fn write_welcome(&mut self, back: Back, id: &RequestId, revision: Revision) {
        let me = Arc::clone(&self.me);
        let _infallible = self.write_answer(back, |out| {
            rpc::response(out, id, |out| {
                let mut result = Object::begin(out);
                result.str("protocolVersion", revision.name());
                me.capabilities.write(result.key("capabilities"), Side::Server, revision);
                me.info.encode(revision, result.key("serverInfo"))?;
                result.opt_str("instructions", me.instructions.as_deref());
                result.end();
                Ok(())
            })
        });
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use crate::client::{Client, Config, Event};
    use crate::session::{Close, Fault, Session as _, StreamId};
    use crate::{CallOptions, Era, Instant};

    const WELCOME: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2026-07-28","capabilities":{"tools":{}},
        "serverInfo":{"name":"s","version":"1"}}}"#;

    fn answered(config: Config) -> (Client, Option<Event>) {
        let mut client = Client::new(Instant::ZERO, config.expect(Era::Legacy));
        client.outbox().poll_message().unwrap();
        client.handle_message(Instant::ZERO, StreamId::ONLY, WELCOME.as_bytes());
        let event = client.poll_event();
        (client, event)
    }

    #[test]
    fn a_welcome_of_the_modern_revision_is_taken_only_where_that_was_asked_for_t_31() {
        let (_, event) = answered(Config::new("c", "1"));
        assert!(matches!(event, Some(Event::Closed(Close::Fault(Fault::NoCommonRevision(_))))), "{event:?}");

        let (mut client, event) = answered(Config::new("c", "1").take_modern_welcome());
        assert!(matches!(event, Some(Event::Ready(_))), "{event:?}");
        client.call_raw(Instant::ZERO, "tools/list", None, CallOptions::default()).unwrap();
        let mut lines = core::iter::from_fn(|| client.outbox().poll_message());
        let lines: [String; 2] =
            [lines.next(), lines.next()].map(|line| String::from_utf8(line.unwrap().to_vec()).unwrap());
        assert!(lines[0].contains("notifications/initialized"));
        assert!(
            lines[1].contains(r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#),
            "{}",
            lines[1]
        );
    }
}
