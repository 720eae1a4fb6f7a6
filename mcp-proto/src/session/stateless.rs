//! Requests that say by themselves who makes them and in which revision: what a server makes of that; knows nothing of
//! sessions. All that it keeps from one request for the next is what the same bytes mean.
//!
//! Both eras may come over one connection. What a request says of itself counts for it alone. (LIF-21, CAP-14, T-39)

use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::core::{Core, Identity};
use super::peer::Peer;
use super::question::Answers;
use super::requests::{Asked, Back, Origin};
use crate::error::code;
use crate::json::{Array, Frame, Object, Raw, find_each, members, unescape, unescape_key, write_str};
use crate::revision::{Era, MethodRule, Revision, Side};
use crate::rpc::{self, ErrorObject, Params, RequestId};
use crate::schema::{Capabilities, Decode, Implementation, Level, key};

/// What a request said of who makes it, and the bytes it said that in: a client says the same in each.
///
/// Where the next request has a machine of its own, [`Session::recall`](crate::http::Session::recall) spares it reading
/// the same bytes again. It is a function of these bytes and of the server's configuration alone: what other clients
/// say is never taken for it.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "http"), allow(unreachable_pub, reason = "only HTTP hands it on"))]
pub struct Said(Arc<Meaning>);

#[cfg(feature = "http")]
impl Said {
    /// Whether it is the very same, and no other of the same bytes.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[derive(Debug)]
struct Meaning {
    /// To whom it was said: what it means depends on that.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP hands it on"))]
    to: Arc<Identity>,
    /// The whole `_meta`, on one line.
    meta: Raw,
    peer: Arc<Peer>,
    log_level: Option<Level>,
    progress_token: Option<RequestId>,
}

/// What is said in more is read anew for each request, and not kept.
const SAID_BYTES_MAX: usize = 1024;

impl Core {
    /// What was made of the same bytes before.
    fn said_before(&self, params: &Params<'_>) -> Option<&Meaning> {
        let meta = params.meta?;
        let said = self.said.as_ref().map(|said| &*said.0);
        // What is kept is on one line.
        said.filter(|said| said.meta.as_bytes() == meta && !params.line_breaks())
    }

    /// What the latest request that says of itself who makes it said, if that was short.
    #[cfg(feature = "http")]
    pub(crate) fn said(&self) -> Option<&Said> {
        self.said.as_ref()
    }

    /// Takes what was said to another machine of the same server.
    #[cfg(feature = "http")]
    pub(crate) fn recall(&mut self, said: &Said) {
        if Arc::ptr_eq(&said.0.to, &self.me) {
            self.said = Some(said.clone());
        }
    }

    /// The `_meta` of a request, to be kept, and the token in it.
    pub(super) fn keep_meta(
        &self,
        frame: Frame<'_>,
        params: &Params<'_>,
    ) -> (Option<Raw>, Option<RequestId>) {
        if let Some(said) = self.said_before(params) {
            return (Some(said.meta.clone()), said.progress_token.clone());
        }
        let meta = params.meta.map(|meta| frame.keep(meta, params.line_breaks()));
        (meta, self.progress_token(params))
    }

    fn progress_token(&self, params: &Params<'_>) -> Option<RequestId> {
        params
            .meta_member(key::PROGRESS_TOKEN)
            .filter(|token| token.len() <= self.limits().id_bytes_max)
            .and_then(RequestId::from_json)
    }

    /// Server: whether a request says of itself what others leave to a session.
    pub(super) fn is_stateless(&self, params: &Params<'_>) -> bool {
        self.side == Side::Server
            && self.me.newest(Era::Modern).is_some()
            && (self.said_before(params).is_some()
                || params.meta_member(key::PROTOCOL_VERSION).is_some()
                || params.meta_member(key::CLIENT_CAPABILITIES).is_some())
    }

    /// Serves a request that says of itself what it needs.
    pub(super) fn stateless(&mut self, origin: Origin<'_>, id: RequestId, method: &str, params: &Params<'_>) {
        if let Err(error) = self.try_stateless(origin, &id, method, params) {
            self.refuse(origin.back(), Some(&id), &error);
        }
    }

    fn try_stateless(
        &mut self,
        origin: Origin<'_>,
        id: &RequestId,
        method: &str,
        params: &Params<'_>,
    ) -> Result<(), ErrorObject> {
        if origin.batch.is_some() {
            return Err(ErrorObject::new(code::INVALID_REQUEST, "this revision has no batches"));
        }
        let (peer, log_level) = match self.said_before(params) {
            Some(said) => (Arc::clone(&said.peer), said.log_level),
            None => self.read_and_keep_context(origin.frame, params)?,
        };
        let rule = MethodRule::find(method, true, peer.revision);
        match method {
            "server/discover" => {
                self.answer_discover(origin.back(), id, &peer);
                return Ok(());
            }
            "subscriptions/listen" => return self.subscribe(origin.stream, id, params),
            _ => {}
        }
        self.admit(rule, method, params)?;
        let (answers, state) = match rule.filter(|rule| rule.may_ask) {
            Some(_) => self.read_input(origin.frame, params)?,
            None => (None, None),
        };
        self.deliver(origin, id.clone(), method, params, Asked { peer, log_level, answers, state });
        Ok(())
    }

    fn read_and_keep_context(
        &mut self,
        frame: Frame<'_>,
        params: &Params<'_>,
    ) -> Result<(Arc<Peer>, Option<Level>), ErrorObject> {
        let (peer, log_level) = self.read_context(params)?;
        let short = params.meta.filter(|meta| meta.len() <= SAID_BYTES_MAX && !params.line_breaks());
        let said = short.map(|meta| Meaning {
            to: Arc::clone(&self.me),
            meta: frame.keep(meta, false),
            peer: Arc::clone(&peer),
            log_level,
            progress_token: self.progress_token(params),
        });
        let before = self.said.as_mut().and_then(|said| Arc::get_mut(&mut said.0));
        match (said, before) {
            (Some(said), Some(before)) => *before = said,
            (said, _) => self.said = said.map(|said| Said(Arc::new(said))),
        }
        Ok((peer, log_level))
    }

    /// Reads who asks. (STL-01, STL-03, STL-04, LIF-24, LOG-04)
    fn read_context(&self, params: &Params<'_>) -> Result<(Arc<Peer>, Option<Level>), ErrorObject> {
        let names = [key::PROTOCOL_VERSION, key::CLIENT_CAPABILITIES, key::LOG_LEVEL, key::CLIENT_INFO];
        let [version, capabilities, log_level, info] = names.map(|name| params.meta_member(name));
        let Some(version) = version.and_then(unescape) else {
            return Err(self.lacks_context());
        };
        let revision = Revision::from_name(&version)
            .filter(|revision| revision.era() == Era::Modern && self.me.revisions.contains(revision));
        let Some(revision) = revision else {
            let error = ErrorObject::new(code::UNSUPPORTED_PROTOCOL_VERSION, "unsupported protocol version");
            return Err(error.with_data(self.supported(&version)));
        };
        let keep = |value: Option<&[u8]>| {
            value.map(|value| Frame::Borrowed(value).keep(value, params.line_breaks()))
        };
        let Some(capabilities) = keep(capabilities).filter(Raw::is_object) else {
            return Err(self.lacks_context());
        };
        let log_level = match log_level {
            None | Some(b"null") => None,
            Some(level) => match unescape(level).and_then(|name| Level::from_name(&name)) {
                None => {
                    return Err(ErrorObject::invalid_params(format!("`{}` is no log level", key::LOG_LEVEL)));
                }
                level => level,
            },
        };
        let info = keep(info).and_then(|info| Implementation::decode(&info).ok());
        let peer = Peer {
            revision,
            info: info.unwrap_or_else(|| Implementation::new("", "")),
            capabilities: Capabilities::declared(&capabilities, Side::Client, revision),
            instructions: None,
        };
        Ok((Arc::new(peer), log_level))
    }

    /// The error for a request that neither says what it needs nor has a session that does. (STL-03, T-40)
    pub(super) fn lacks_context(&self) -> ErrorObject {
        lacks_context(&self.me.revisions)
    }

    /// What the client gathered for a request that asked for input. (STL-25, STL-26)
    fn read_input(
        &self,
        frame: Frame<'_>,
        params: &Params<'_>,
    ) -> Result<(Option<Answers>, Option<Box<str>>), ErrorObject> {
        let bad = |why| Err(ErrorObject::invalid_params(why));
        let object = params.object.map_or(&[][..], |object| object.text);
        let [state, responses] = find_each(object, ["requestState", "inputResponses"]);
        let state = match state {
            None | Some(b"null") => None,
            Some(state) => match unescape(state) {
                Some(state) => Some(state.into()),
                None => return bad("`requestState` must be a string"),
            },
        };
        let responses = match responses {
            None | Some(b"null") => return Ok((None, state)),
            Some(responses) if responses.starts_with(b"{") => responses,
            Some(_) => return bad("`inputResponses` must be an object"),
        };
        let mut answers = Vec::new();
        for (name, answer) in members(responses) {
            if !answer.starts_with(b"{") {
                return bad("each of the `inputResponses` must be an object");
            }
            if answers.len() == self.limits().questions_max {
                return bad("too many `inputResponses`");
            }
            let name = unescape_key(name);
            answers.push((name.into(), frame.keep(answer, params.line_breaks())));
        }
        Ok((Some(Answers::new(answers)), state))
    }

    /// What we are. (LIF-22, STL-39)
    fn answer_discover(&mut self, back: Back, id: &RequestId, peer: &Peer) {
        let rule = MethodRule::find("server/discover", true, peer.revision);
        let mut result = Vec::new();
        let mut object = Object::begin(&mut result);
        write_revisions(object.key("supportedVersions"), &self.me.revisions, |revision| {
            revision.era() == Era::Modern
        });
        self.me.capabilities.write(object.key("capabilities"), Side::Server, peer.revision);
        object.opt_str("instructions", self.me.instructions.as_deref());
        object.end();
        self.stamp.finish_result(&mut result, 0, rule);
        let _infallible = self.write_answer(back, |out| {
            rpc::response(out, id, |out| {
                out.extend_from_slice(&result);
                Ok(())
            })
        });
    }

    /// The data of an error about revisions. (LIF-24, LIF-33)
    pub(super) fn supported(&self, requested: &str) -> Raw {
        supported(&self.me.revisions, Some(requested))
    }
}

/// The error of a server that speaks `revisions` for a request that does not say what it needs. (STL-03)
pub(crate) fn lacks_context(revisions: &[Revision]) -> ErrorObject {
    let mut out = Vec::new();
    let mut data = Object::begin(&mut out);
    let mut required = Array::begin(data.key("required"));
    for name in [key::PROTOCOL_VERSION, key::CLIENT_CAPABILITIES] {
        write_str(required.next(), name);
    }
    required.end();
    write_revisions(data.key("supported"), revisions, |_| true);
    data.end();
    let why = "the request's `_meta` must name its protocol version and the client's capabilities";
    ErrorObject::invalid_params(why).with_data(Raw::from_written(out))
}

/// The data of an error about revisions, of a server that speaks `revisions`: the same that it says when it is asked
/// for them. (LIF-24, LIF-33)
pub(crate) fn supported(revisions: &[Revision], requested: Option<&str>) -> Raw {
    let mut out = Vec::new();
    let mut data = Object::begin(&mut out);
    write_revisions(data.key("supported"), revisions, |revision| revision.era() == Era::Modern);
    data.opt_str("requested", requested);
    data.end();
    Raw::from_written(out)
}

/// Writes the names of those of the revisions that `which` takes, newest first.
fn write_revisions(out: &mut Vec<u8>, revisions: &[Revision], which: impl Fn(Revision) -> bool) {
    let mut names = Array::begin(out);
    for revision in revisions.iter().rev().filter(|revision| which(**revision)) {
        write_str(names.next(), revision.name());
    }
    names.end();
}

/// What a question of ours needs the client to have declared, as one can be told in an error. (CAP-15)
pub(super) fn missing(needs: &Capabilities, revision: Revision) -> ErrorObject {
    let mut out = Vec::new();
    let mut data = Object::begin(&mut out);
    needs.write_needed(data.key("requiredCapabilities"), Side::Client, revision);
    data.end();
    let code = code::MISSING_CLIENT_CAPABILITY;
    ErrorObject::new(code, "the client did not declare what this needs").with_data(Raw::from_written(out))
}
