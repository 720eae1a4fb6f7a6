//! Requests of the peer: which are served, which are answered here, and how they get to the application; knows nothing
//! of how they are answered later.

use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;

use super::StreamId;
use super::batch::BatchId;
use super::core::Core;
use super::event::Event;
use super::gate;
use super::guard::ViolationKind;
use super::incoming::{Open, Rare, ReplyTo};
use super::peer::{Context, Method, Peer, Request, identity_cost};
use super::phase::Phase;
use super::question::Answers;
use crate::error::code;
use crate::json::{Frame, Raw, unescape};
use crate::revision::{Era, MethodRule, Side};
use crate::rpc::{ErrorObject, Params, RequestId};
use crate::schema::Level;

/// Where a message came from: what its answer needs to know.
#[derive(Clone, Copy)]
pub(super) struct Origin<'a> {
    pub(super) stream: StreamId,
    pub(super) frame: Frame<'a>,
    pub(super) batch: Option<BatchId>,
}

impl Origin<'_> {
    pub(super) fn back(&self) -> Back {
        Back { stream: self.stream, batch: self.batch }
    }
}

/// Where an answer goes.
#[derive(Clone, Copy)]
pub(super) struct Back {
    pub(super) stream: StreamId,
    /// The batch that it goes into.
    pub(super) batch: Option<BatchId>,
}

/// Who makes a request, and what they want besides the answer.
pub(super) struct Asked {
    pub(super) peer: Arc<Peer>,
    pub(super) log_level: Option<Level>,
    pub(super) answers: Option<Answers>,
    pub(super) state: Option<Box<str>>,
}

impl Core {
    pub(super) fn request(&mut self, origin: Origin<'_>, id: RequestId, method: &str, params: &Params<'_>) {
        if self.side == Side::Client && !self.rules().servers_ask {
            let name: alloc::string::String = method.chars().take(64).collect();
            return self.violation(ViolationKind::UnexpectedRequest, name);
        }
        if self.has_id(&id) {
            let error = ErrorObject::new(code::INVALID_REQUEST, format!("request id {id} is already in use"));
            self.refuse(origin.back(), Some(&id), &error);
            return self.violation(ViolationKind::DuplicateId, format!("{id} is still open"));
        }
        if let Some(batch) = origin.batch {
            self.batches.take_id(batch, &id);
        }
        if self.is_stateless(params) {
            return self.stateless(origin, id, method, params);
        }
        let has_sessions = self.side == Side::Client || self.me.newest(Era::Legacy).is_some();
        // Answered in every phase, at once. (T-26, TMO-10)
        if method == "ping" && has_sessions {
            return self.accept(origin.back(), &id);
        }
        if method == "initialize" && self.side == Side::Server && self.phase == Phase::Opening {
            return self.initialize(origin.back(), &id, params);
        }
        if let Err(error) = self.admit_in_session(method, params) {
            return self.refuse(origin.back(), Some(&id), &error);
        }
        let Some(peer) = self.peer.clone() else { return };
        match method {
            "logging/setLevel" => self.set_level(origin.back(), &id, params),
            "resources/subscribe" => self.watch(origin.back(), &id, params, true),
            "resources/unsubscribe" => self.watch(origin.back(), &id, params, false),
            _ => {
                let log_level = self.log_level;
                self.deliver(
                    origin,
                    id,
                    method,
                    params,
                    Asked { peer, log_level, answers: None, state: None },
                );
            }
        }
    }

    /// Whether a request with this id is open.
    fn has_id(&self, id: &RequestId) -> bool {
        self.incoming.find(id).is_some() || self.batches.has_id(id) || self.subscribers.has(id)
    }

    /// Whether a request is served that leaves it to a session who makes it.
    fn admit_in_session(&self, method: &str, params: &Params<'_>) -> Result<(), ErrorObject> {
        if !self.phase.allows().serving {
            // Without a session it is a request that does not say what it must, for whoever could serve one. (T-40)
            return Err(if self.side == Side::Server && self.me.newest(Era::Modern).is_some() {
                self.lacks_context()
            } else {
                ErrorObject::new(code::INVALID_REQUEST, "the session is not initialized")
            });
        }
        if method == "initialize" && self.side == Side::Server {
            let why = "the session is initialized already";
            return Err(ErrorObject::new(code::INVALID_REQUEST, why));
        }
        self.admit(MethodRule::find(method, true, self.revision()), method, params)
    }

    /// Whether a request is served; how it is refused otherwise.
    pub(super) fn admit(
        &self,
        rule: Option<&'static MethodRule>,
        method: &str,
        params: &Params<'_>,
    ) -> Result<(), ErrorObject> {
        let besides = self.me.also_served.iter().any(|served| **served == *method);
        let said_in = self.me.says_in(self.side, self.revision());
        gate::incoming_request(rule, besides, self.side, method, params, &self.me.capabilities, said_in)?;
        let bytes = params.object.map_or(0, |object| object.text.len());
        if self.incoming.len() >= self.limits().requests_max
            || self.incoming.bytes() + bytes > self.limits().requests_bytes_max
        {
            return Err(ErrorObject::internal("too many requests are open"));
        }
        Ok(())
    }

    /// The client subscribes to a resource, or ends that.
    fn watch(&mut self, back: Back, id: &RequestId, params: &Params<'_>, wants: bool) {
        let uri = params.member("uri").and_then(unescape).unwrap_or_default();
        match self.watch_in_session(&uri, wants) {
            Ok(()) => self.accept(back, id),
            Err(error) => self.refuse(back, Some(id), &error),
        }
    }

    fn set_level(&mut self, back: Back, id: &RequestId, params: &Params<'_>) {
        let level = params.member("level").and_then(unescape).and_then(|name| Level::from_name(&name));
        let Some(level) = level else {
            let error = ErrorObject::invalid_params("`level` is not a log level");
            return self.refuse(back, Some(id), &error);
        };
        self.log_level = Some(level);
        self.accept(back, id);
    }

    /// Hands a request to the application.
    pub(super) fn deliver(
        &mut self,
        origin: Origin<'_>,
        id: RequestId,
        method: &str,
        params: &Params<'_>,
        asked: Asked,
    ) {
        let rule = MethodRule::find(method, true, asked.peer.revision);
        let (meta, progress_token) = self.keep_meta(origin.frame, params);
        let request = Request {
            method: Method::new(method, rule),
            params: params.object.map(|object| object.keep(origin.frame)),
        };
        let context = Context {
            peer: Arc::clone(&asked.peer),
            log_level: asked.log_level,
            wants_progress: progress_token.is_some(),
            answers: asked.answers,
            state: asked.state,
            meta,
        };
        let kept = |raw: &Option<Raw>| raw.as_ref().map_or(0, |raw| raw.as_bytes().len());
        let identity = context.meta.as_ref().map_or(0, identity_cost);
        let bytes = kept(&request.params) + kept(&context.meta) + identity;
        // Where clients are not asked by requests, they make theirs again by themselves.
        let may_ask = rule.is_some_and(|rule| rule.may_ask) && asked.peer.revision.rules().servers_ask;
        let again = request.params.clone().filter(|_| may_ask);
        if let Some(batch) = origin.batch {
            self.batches.expect(batch);
        }
        let incoming = self.incoming.insert(Open {
            reply: ReplyTo::Peer { wire: id, stream: origin.stream },
            peer: asked.peer,
            rule,
            log_level: asked.log_level,
            again,
            bytes,
            rare: Rare::new(origin.batch, progress_token),
        });
        self.events.push(Event::Request { incoming, call: None, request, context });
    }
}
