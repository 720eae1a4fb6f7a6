//! Who makes a request, where the request itself carries that: the `_meta` of the modern era, read.
//!
//! Both eras may come over one connection; what a request carries counts for it alone. (LIF-21,
//! CAP-14, T-39)

use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::error::code;
use crate::json::{
    Array, Frame, Object, Raw, find_each, members, unescape, unescape_key, write_str,
};
use crate::revision::{Revision, Side};
use crate::rpc::{ErrorObject, Params, RequestId};
use crate::schema::{Capabilities, Decode, Implementation, Level, key};
use crate::vocabulary::{Answers, Identity, Peer};

/// The context of the latest request: a client sends the same in each, which is then read once.
#[derive(Debug, Default)]
pub(crate) struct LastContext(Option<Box<CachedContext>>);

/// What the `_meta` of a request says.
#[derive(Debug)]
struct CachedContext {
    /// The whole `_meta`, on one line.
    meta: Raw,
    peer: Arc<Peer>,
    log_level: Option<Level>,
    progress_token: Option<RequestId>,
}

/// What is delivered with a request besides its params.
#[derive(Debug)]
pub(crate) struct RequestContext {
    pub(crate) peer: Arc<Peer>,
    pub(crate) log_level: Option<Level>,
    pub(crate) answers: Option<Answers>,
    pub(crate) state: Option<Box<str>>,
    /// The request's `_meta`, and the progress token in it.
    pub(crate) meta: Option<Raw>,
    pub(crate) progress_token: Option<RequestId>,
}

/// A longer `_meta` is read for each request.
const META_BYTES_MAX: usize = 1024;

impl LastContext {
    /// The latest context, if this request carries the same bytes.
    fn same(&self, params: &Params<'_>) -> Option<&CachedContext> {
        let meta = params.meta?;
        // What is kept is on one line.
        self.0.as_deref().filter(|last| last.meta.as_bytes() == meta && !params.line_breaks())
    }

    /// Returns whether the request carries its own context, or a part of it.
    pub(crate) fn is_in(&self, params: &Params<'_>) -> bool {
        self.same(params).is_some()
            || params.meta_member(key::PROTOCOL_VERSION).is_some()
            || params.meta_member(key::CLIENT_CAPABILITIES).is_some()
    }

    /// Reads who makes a request, without the input that it may bring.
    pub(crate) fn read(
        &mut self,
        identity: &Identity,
        frame: Frame<'_>,
        params: &Params<'_>,
    ) -> Result<RequestContext, ErrorObject> {
        if let Some(last) = self.same(params) {
            return Ok(RequestContext {
                peer: Arc::clone(&last.peer),
                log_level: last.log_level,
                answers: None,
                state: None,
                meta: Some(last.meta.clone()),
                progress_token: last.progress_token.clone(),
            });
        }
        let (peer, log_level) = read_context(identity, params)?;
        let (meta, progress_token) = keep_meta(identity, frame, params);
        let short =
            params.meta.filter(|meta| meta.len() <= META_BYTES_MAX && !params.line_breaks());
        self.0 = short.map(|meta| {
            Box::new(CachedContext {
                meta: Frame::Borrowed(meta).keep(meta, false),
                peer: Arc::clone(&peer),
                log_level,
                progress_token: progress_token.clone(),
            })
        });
        Ok(RequestContext { peer, log_level, answers: None, state: None, meta, progress_token })
    }
}

/// The `_meta` of a request, to be kept, and the progress token in it.
pub(crate) fn keep_meta(
    identity: &Identity,
    frame: Frame<'_>,
    params: &Params<'_>,
) -> (Option<Raw>, Option<RequestId>) {
    let meta = params.meta.map(|meta| frame.keep(meta, params.line_breaks()));
    let token = params
        .meta_member(key::PROGRESS_TOKEN)
        .filter(|token| token.len() <= identity.limits.id_bytes_max)
        .and_then(RequestId::from_json);
    (meta, token)
}

/// Reads the context of a request. (STL-01, STL-03, STL-04, LIF-24, LOG-04)
fn read_context(
    identity: &Identity,
    params: &Params<'_>,
) -> Result<(Arc<Peer>, Option<Level>), ErrorObject> {
    let names = [key::PROTOCOL_VERSION, key::CLIENT_CAPABILITIES, key::LOG_LEVEL, key::CLIENT_INFO];
    let [version, capabilities, log_level, info] =
        find_each(params.meta.unwrap_or_default(), names);
    let Some(version) = version.and_then(unescape) else {
        return Err(missing_context(&identity.revisions));
    };
    let revision = Revision::from_name(&version)
        .filter(|revision| revision.is_modern() && identity.revisions.contains(revision));
    let Some(revision) = revision else {
        let error =
            ErrorObject::new(code::UNSUPPORTED_PROTOCOL_VERSION, "unsupported protocol version");
        return Err(error.with_data(supported(&identity.revisions, Some(&version))));
    };
    let keep = |value: Option<&[u8]>| {
        value.map(|value| Frame::Borrowed(value).keep(value, params.line_breaks()))
    };
    let Some(capabilities) = keep(capabilities).filter(Raw::is_object) else {
        return Err(missing_context(&identity.revisions));
    };
    let log_level = match log_level {
        None | Some(b"null") => None,
        Some(level) => match unescape(level).and_then(|name| Level::from_name(&name)) {
            None => {
                return Err(ErrorObject::invalid_params(format!(
                    "`{}` is no log level",
                    key::LOG_LEVEL
                )));
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

/// Reads the input that the client gathered for a request. (STL-25, STL-26)
pub(crate) fn read_input(
    questions_max: usize,
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
        if answers.len() == questions_max {
            return bad("too many `inputResponses`");
        }
        let name = unescape_key(name);
        answers.push((name.into(), frame.keep(answer, params.line_breaks())));
    }
    Ok((Some(Answers::new(answers)), state))
}

/// The error for a request that carries no context and belongs to no session, of a server that
/// speaks `revisions`. (STL-03, T-40)
pub(crate) fn missing_context(revisions: &[Revision]) -> ErrorObject {
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

/// The data of an error about revisions, of a server that speaks `revisions`: the same that
/// `server/discover` lists. (LIF-24, LIF-33)
pub(crate) fn supported(revisions: &[Revision], requested: Option<&str>) -> Raw {
    let mut out = Vec::new();
    let mut data = Object::begin(&mut out);
    write_revisions(data.key("supported"), revisions, Revision::is_modern);
    data.opt_str("requested", requested);
    data.end();
    Raw::from_written(out)
}

/// Writes the names of those of the revisions that `which` accepts, newest first.
pub(crate) fn write_revisions(
    out: &mut Vec<u8>,
    revisions: &[Revision],
    which: impl Fn(Revision) -> bool,
) {
    let mut names = Array::begin(out);
    for revision in revisions.iter().rev().filter(|revision| which(**revision)) {
        write_str(names.next(), revision.name());
    }
    names.end();
}

/// The error that names the capabilities which a question needs and the client lacks. (CAP-15)
pub(crate) fn missing_capabilities(needs: &Capabilities, revision: Revision) -> ErrorObject {
    let mut out = Vec::new();
    let mut data = Object::begin(&mut out);
    needs.write_needed(data.key("requiredCapabilities"), Side::Client, revision);
    data.end();
    let code = code::MISSING_CLIENT_CAPABILITY;
    ErrorObject::new(code, "the client did not declare what this needs")
        .with_data(Raw::from_written(out))
}

#[cfg(test)]
mod tests;
