//! Parses the context that a modern request carries in its `_meta`: revision, client and options.
//!
//! One connection may carry requests of both eras, so a context applies to its own request only.

// LIF-21, CAP-14, T-39: a context is not inferred from earlier requests.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::error::code;
use crate::json::{Array, Frame, Object, Raw, find_each, unescape, write_str};
use crate::printable;
use crate::revision::{Revision, Side};
use crate::rpc::{ErrorObject, Params, RequestId};
use crate::schema::{Capabilities, Decode, Implementation, Level, key};
use crate::vocabulary::{Identity, InputResponses, Peer};

/// A cache of the parsed `_meta` of the latest modern request, as most clients repeat theirs.
///
/// Each connection has such a cache. Over HTTP, each modern request has its own connection. An HTTP
/// server should therefore move the cache from one connection to the next; see
/// [`HttpServer::context_cache`](crate::http::HttpServer::context_cache). The next connection can
/// use the cached `_meta` only if the configurations of both connections are clones of one another.
///
/// The cache takes at most 32 KiB: a parsed `_meta` can take 24 times the length of its text, and a
/// `_meta` of more than 1 KiB is not cached.
#[derive(Default)]
#[allow(unreachable_pub, reason = "exported by `http`")]
pub struct ContextCache(Option<Box<CachedContext>>);

// The context comes from a client, which may send what must not be logged.
impl fmt::Debug for ContextCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextCache").finish_non_exhaustive()
    }
}

/// A parsed `_meta` and its text.
#[derive(Debug)]
struct CachedContext {
    /// The configuration under which the text was parsed and accepted.
    identity: Arc<Identity>,
    /// The text, without line breaks.
    meta: Raw,
    peer: Arc<Peer>,
    log_level: Option<Level>,
    progress_token: Option<RequestId>,
}

/// The context of an incoming request, delivered with its params.
#[derive(Debug)]
pub(crate) struct RequestContext {
    pub(crate) peer: Arc<Peer>,
    pub(crate) log_level: Option<Level>,
    pub(crate) answers: Option<InputResponses>,
    pub(crate) state: Option<Box<str>>,
    /// The request's `_meta`.
    pub(crate) meta: Option<Raw>,
    /// The progress token in `meta`.
    pub(crate) progress_token: Option<RequestId>,
}

/// The longest `_meta` that is cached; a longer one is parsed for each request.
const META_BYTES_MAX: usize = 1024;

impl ContextCache {
    /// Returns the text of the latest `_meta`, if it was parsed with this configuration; otherwise,
    /// an empty text.
    pub(crate) fn known_meta(&self, identity: &Arc<Identity>) -> &[u8] {
        let last = self.0.as_deref().filter(|last| Arc::ptr_eq(&last.identity, identity));
        last.map_or(&[], |last| last.meta.as_bytes())
    }

    /// Returns whether the latest context applies to a request with these params.
    pub(crate) fn applies_to(&self, identity: &Arc<Identity>, params: &Params<'_>) -> bool {
        self.reuse(identity, params).is_some()
    }

    /// Returns the latest context if this request carries identical bytes.
    fn reuse(&self, identity: &Arc<Identity>, params: &Params<'_>) -> Option<&CachedContext> {
        let meta = params.meta?;
        // The cached text has no line breaks. The cache may come from another configuration.
        let is_known = self.known_meta(identity) == meta && !params.needs_rewrite();
        self.0.as_deref().filter(|_| is_known)
    }

    /// Parses the context of a request, except its input responses.
    ///
    /// # Errors
    /// Fails with the error to respond with if a required member is missing or invalid.
    pub(crate) fn read(
        &mut self,
        identity: &Arc<Identity>,
        frame: Frame<'_>,
        params: &Params<'_>,
    ) -> Result<RequestContext, ErrorObject> {
        if let Some(last) = self.reuse(identity, params) {
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
            params.meta.filter(|meta| meta.len() <= META_BYTES_MAX && !params.needs_rewrite());
        self.0 = short.map(|meta| {
            Box::new(CachedContext {
                identity: Arc::clone(identity),
                meta: Frame::Borrowed(meta).keep(meta, false),
                peer: Arc::clone(&peer),
                log_level,
                progress_token: progress_token.clone(),
            })
        });
        Ok(RequestContext { peer, log_level, answers: None, state: None, meta, progress_token })
    }
}

/// Returns the `_meta` of a request, copied if necessary, and the progress token in it.
pub(crate) fn keep_meta(
    identity: &Identity,
    frame: Frame<'_>,
    params: &Params<'_>,
) -> (Option<Raw>, Option<RequestId>) {
    let meta = params.meta.map(|meta| frame.keep(meta, params.needs_rewrite()));
    let token = params
        .meta_member(key::PROGRESS_TOKEN)
        .filter(|token| token.len() <= identity.limits.id_bytes_max)
        .and_then(RequestId::from_json);
    (meta, token)
}

/// Parses the client and the log level of a request.
// STL-01, STL-03, STL-04, LIF-24, LOG-04: the members of a context.
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
    // SEC-19: bounded before it is copied and decoded, which takes many times its length.
    let bytes_max = identity.limits.peer_bytes_max;
    if [capabilities, info].iter().flatten().map(|text| text.len()).sum::<usize>() > bytes_max {
        return Err(ErrorObject::invalid_params(format!(
            "`{}` and `{}` exceed {bytes_max} bytes",
            key::CLIENT_INFO,
            key::CLIENT_CAPABILITIES
        )));
    }
    let keep = |value: Option<&[u8]>| {
        value.map(|value| Frame::Borrowed(value).keep(value, params.needs_rewrite()))
    };
    let Some(capabilities) = keep(capabilities).filter(Raw::is_object) else {
        return Err(missing_context(&identity.revisions));
    };
    let log_level = match log_level {
        None | Some(b"null") => None,
        Some(level) => match unescape(level).and_then(|name| Level::from_name(&name)) {
            None => {
                return Err(ErrorObject::invalid_params(format!(
                    "`{}` must be a log level",
                    key::LOG_LEVEL
                )));
            }
            level => level,
        },
    };
    let info = info.filter(|info| info.len() <= identity.limits.identity_bytes_max());
    let info = keep(info).and_then(|info| Implementation::decode(&info).ok());
    let peer = Peer {
        revision,
        info: info.unwrap_or_else(|| Implementation::new("", "")),
        capabilities: Capabilities::declared(capabilities, Side::Client, revision),
        instructions: None,
    };
    Ok((Arc::new(peer), log_level))
}

/// Returns the error for a request that is outside a session and has no context, from a server that
/// supports `revisions`.
// STL-03, T-40: the error lists what is required and what is supported.
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

/// Returns the data of an error about an unsupported revision: the `requested` revision and the
/// revisions that `server/discover` lists.
// LIF-24, LIF-33: the client retries with a supported revision.
pub(crate) fn supported(revisions: &[Revision], requested: Option<&str>) -> Raw {
    let mut out = Vec::new();
    let mut data = Object::begin(&mut out);
    write_revisions(data.key("supported"), revisions, Revision::is_modern);
    data.opt_str("requested", requested);
    data.end();
    Raw::from_written(out)
}

/// Writes the names of the revisions that `which` accepts as a JSON array, newest first.
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

/// The maximum length of a client's name in an error message.
const NAME_CHARS_MAX: usize = 64;

/// Returns the error for an input request that needs capabilities which the client lacks.
// CAP-15: the error names the missing capabilities.
pub(crate) fn missing_capabilities(needs: &Capabilities, client: &Peer) -> ErrorObject {
    let mut list = Vec::new();
    needs.write_required(&mut list, Side::Client, client.revision);
    let list = String::from_utf8_lossy(&list);
    // Several clients may be involved: that of a user, and that of a gateway.
    let name = match printable(client.info.name.as_bytes(), NAME_CHARS_MAX) {
        name if name.is_empty() => name,
        name => format!(" `{name}`"),
    };
    let why = format!(
        "the client{name} did not declare the capabilities {list}, which the request needs: use a \
         client that declares them"
    );
    let out = format!(r#"{{"requiredCapabilities":{list}}}"#).into_bytes();
    ErrorObject::new(code::MISSING_CLIENT_CAPABILITY, why).with_data(Raw::from_written(out))
}

#[cfg(test)]
mod tests;
