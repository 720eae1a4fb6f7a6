//! Parses and classifies one JSON-RPC message in one pass, leaving params and results as text.
//!
//! Members may come in any order. A message with duplicate envelope members is rejected; unknown
//! members are ignored.

// T-10, JSON-18: duplicate and unknown members.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::str::Utf8Error;

use super::ErrorObject;
use super::id::{RequestId, integer};
use super::partial::{PartialEnvelope, PartialKind};
use crate::error::code;
use crate::json::{Cursor, Frame, Raw, SyntaxError, find, key_is, members, unescape};
use crate::method::{Method, MethodId};
use crate::printable::printable;

/// One well-formed message.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Notification {
        method: MethodName<'a>,
        params: Params<'a>,
    },
    Request {
        id: RequestId,
        method: MethodName<'a>,
        params: Params<'a>,
    },
    /// A response with a result or an error.
    Response {
        id: RequestId,
        outcome: Result<Object<'a>, ErrorObject>,
    },
    /// An invalid response with a valid id.
    // JSON-07, T-16: it ends the call with that id.
    BrokenResponse {
        id: RequestId,
        why: Cow<'static, str>,
    },
    /// An error response without a valid id.
    // T-03: such errors reject messages whose id could not be read.
    OrphanError(ErrorObject),
}

/// The method of a message.
#[derive(Debug)]
pub(crate) struct MethodName<'a> {
    pub(crate) text: Cow<'a, str>,
    /// The method's id, if any revision defines it.
    pub(crate) id: Option<MethodId>,
}

impl<'a> MethodName<'a> {
    /// Parses a JSON string. Methods of the protocol are looked up without unescaping.
    fn from_json(value: &'a [u8]) -> Option<Self> {
        if let Some(id) = MethodId::from_bytes(unquote(value)) {
            return Some(Self { text: Cow::Borrowed(id.name()), id: Some(id) });
        }
        let text = unescape(value)?;
        Some(Self { id: MethodId::from_name(&text), text })
    }

    pub(crate) fn to_method(&self) -> Method {
        self.id.map_or_else(|| Method::other(&self.text), Method::from)
    }
}

/// A JSON object, as a slice of the message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object<'a> {
    pub(crate) text: &'a [u8],
    /// Whether the message has line breaks between its tokens or unpaired surrogates.
    needs_rewrite: bool,
    /// The `resultType` member, found while parsing the message.
    result_type: Option<&'a [u8]>,
}

impl<'a> Object<'a> {
    /// Returns the `resultType` of a result; an unknown type if the member is not a string.
    pub(crate) fn result_type(&self) -> Option<Cow<'a, str>> {
        match self.result_type? {
            b"\"complete\"" => Some(Cow::Borrowed("complete")),
            value => Some(unescape(value).unwrap_or(Cow::Borrowed("?"))),
        }
    }

    /// Copies the object out of the message, or shares the buffer of the message.
    pub(crate) fn keep(&self, frame: Frame<'_>) -> Raw {
        frame.keep(self.text, self.needs_rewrite)
    }
}

/// The params of a request or notification.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params<'a> {
    /// The params; `None` if they are absent or not an object.
    pub(crate) object: Option<Object<'a>>,
    /// The `_meta` member, found while parsing the message.
    pub(crate) meta: Option<&'a [u8]>,
    /// Whether the params have more than one `_meta` member.
    pub(crate) is_meta_repeated: bool,
    /// The members found while parsing the message.
    members: MemberIndex<'a, MEMBERS_MAX>,
    /// Whether the params are present and neither an object nor null.
    // JSON-17, T-09: params are an object.
    pub(crate) malformed: bool,
}

impl<'a> Params<'a> {
    /// Returns the `name` member of the params.
    pub(crate) fn member(&self, name: &str) -> Option<&'a [u8]> {
        self.members.find(self.object?.text, name)
    }

    /// Returns the `name` member of the params.
    ///
    /// # Errors
    /// Fails if it occurs more than once.
    // T-10: peers and proxies may read different ones.
    pub(crate) fn unique_member(&self, name: &str) -> Result<Option<&'a [u8]>, Repeated> {
        self.object.map_or(Ok(None), |object| self.members.find_unique(object.text, name))
    }

    /// Returns whether the message has line breaks between its tokens or unpaired surrogates.
    pub(crate) fn needs_rewrite(&self) -> bool {
        self.object.is_some_and(|object| object.needs_rewrite)
    }

    /// Returns the `name` member of `_meta`.
    pub(crate) fn meta_member(&self, name: &str) -> Option<&'a [u8]> {
        find(self.meta?, name)
    }
}

/// An index of the members of an object, complete up to `N` members.
#[derive(Clone, Copy, Debug)]
struct MemberIndex<'a, const N: usize> {
    /// Keys without quotes, and values.
    first: [(&'a [u8], &'a [u8]); N],
    /// The number of members, which may exceed `N`.
    count: usize,
}

/// The number of indexed members, enough for the params of a typical request.
const MEMBERS_MAX: usize = 4;

impl<const N: usize> Default for MemberIndex<'_, N> {
    fn default() -> Self {
        Self { first: [(&[], &[]); N], count: 0 }
    }
}

impl<'a, const N: usize> MemberIndex<'a, N> {
    fn push(&mut self, key: &'a [u8], value: &'a [u8]) {
        if let Some(slot) = self.first.get_mut(self.count) {
            *slot = (key, value);
        }
        self.count += 1;
    }

    /// Returns the member `name` of the indexed `object`, which must not occur several times.
    fn find_unique(&self, object: &'a [u8], name: &str) -> Result<Option<&'a [u8]>, Repeated> {
        match self.first.get(..self.count) {
            Some(all) => only(all.iter().copied(), name),
            None => only(members(object), name),
        }
    }

    /// Returns the member `name` of the indexed `object`. If it occurs several times, the last one
    /// counts.
    // T-10: duplicates within params.
    fn find(&self, object: &'a [u8], name: &str) -> Option<&'a [u8]> {
        match self.first.get(..self.count) {
            Some(all) => all.iter().rfind(|(key, _)| key_is(key, name)).map(|(_, value)| *value),
            None => find(object, name),
        }
    }
}

/// A member that must occur at most once occurs more than once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeated;

/// Returns the value of the only member called `name`.
fn only<'a>(
    mut members: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    name: &str,
) -> Result<Option<&'a [u8]>, Repeated> {
    let found = members.find(|(key, _)| key_is(key, name));
    if found.is_some() && members.any(|(key, _)| key_is(key, name)) {
        return Err(Repeated);
    }
    Ok(found.map(|(_, value)| value))
}

/// Why a text is not a message.
#[derive(Debug)]
pub(crate) enum Malformed {
    /// Text that starts like an array, possibly a batch. The rest was not parsed.
    Array,
    /// Text that is no message.
    Invalid {
        /// The id, if it is valid, for an error response.
        id: Option<RequestId>,
        /// Whether the text may be a request, so that it may be answered.
        ///
        /// With an id it has a method; without an id it has neither a result nor an error.
        // T-08: responses are never answered.
        answerable: bool,
        why: Defect,
    },
}

/// The reason why a text is not a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Defect {
    /// It is JSON, but not a message.
    // JSON-14: an invalid request.
    Message(&'static str),
    // JSON-20: a parse error.
    NotUtf8(Utf8Error),
    /// It is not JSON.
    // JSON-13: a parse error.
    Syntax(SyntaxError),
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(why) => f.write_str(why),
            Self::NotUtf8(error) => write!(f, "invalid UTF-8 at byte {}", error.valid_up_to()),
            Self::Syntax(error) => error.fmt(f),
        }
    }
}

/// Parses `text` as one message. The work is linear in its length.
///
/// A `_meta` of the params that equals `known_meta` is not parsed again. `known_meta` is empty, or
/// an object that was the `_meta` of a message parsed with this `depth_max` and that needed no
/// rewriting.
// Inlined, the result would be moved: 40 instructions a message.
#[inline(never)]
pub(crate) fn decode<'a>(
    text: &'a [u8],
    depth_max: u8,
    id_bytes_max: usize,
    known_meta: &[u8],
) -> Result<Message<'a>, Malformed> {
    // Most messages are ASCII, which is much faster to check than UTF-8.
    if !text.is_ascii()
        && let Err(error) = core::str::from_utf8(text)
    {
        return unreadable(text, id_bytes_max, Defect::NotUtf8(error));
    }
    if text.trim_ascii_start().starts_with(b"[") {
        return Err(Malformed::Array);
    }
    decode_utf8(text, depth_max, id_bytes_max, known_meta)
}

/// Parses `text`, which must be UTF-8, as one message. An array is not a message.
pub(crate) fn decode_utf8<'a>(
    text: &'a [u8],
    depth_max: u8,
    id_bytes_max: usize,
    known_meta: &[u8],
) -> Result<Message<'a>, Malformed> {
    let mut envelope = Envelope::default();
    let mut scanner = Cursor::over(text, depth_max);
    let is_object = scanner.peek() == Some(b'{');
    let scanned = if is_object {
        envelope.scan(&mut scanner, known_meta)
    } else {
        scanner.value().map(|_| ())
    };
    if let Err(error) = scanned.and_then(|()| scanner.finish()) {
        return unreadable(text, id_bytes_max, Defect::Syntax(error));
    }
    if !is_object {
        return Err(Malformed::NOT_AN_OBJECT);
    }
    envelope.needs_rewrite = scanner.needs_rewrite;
    envelope.classify(id_bytes_max)
}

/// Identifies `text`, which cannot be parsed, by the part of its envelope that can be read.
#[cold]
fn unreadable<'a>(text: &[u8], id_bytes_max: usize, why: Defect) -> Result<Message<'a>, Malformed> {
    match PartialEnvelope::of(text, id_bytes_max) {
        // Ending the pending call is better than letting it time out.
        PartialEnvelope { id: Some(id), kind: PartialKind::Response } => {
            Ok(Message::BrokenResponse { id, why: format!("parse error: {why}").into() })
        }
        PartialEnvelope { id, kind } => {
            let answerable = match &id {
                Some(_) => kind == PartialKind::Request,
                None => kind != PartialKind::Response,
            };
            Err(Malformed::Invalid { id, answerable, why })
        }
    }
}

/// The members of the JSON-RPC envelope.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Member {
    Error,
    Id,
    Jsonrpc,
    Method,
    Params,
    Result,
}

impl Member {
    fn of(key: &[u8]) -> Option<Self> {
        Some(match key {
            b"error" => Self::Error,
            b"id" => Self::Id,
            b"jsonrpc" => Self::Jsonrpc,
            b"method" => Self::Method,
            b"params" => Self::Params,
            b"result" => Self::Result,
            _ => return None,
        })
    }
}

/// The value of `params`, and the members found while scanning it.
struct ScannedParams<'a> {
    text: &'a [u8],
    meta: Option<&'a [u8]>,
    is_meta_repeated: bool,
    members: MemberIndex<'a, MEMBERS_MAX>,
}

#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a [u8]>,
    id: Option<&'a [u8]>,
    method: Option<&'a [u8]>,
    params: Option<ScannedParams<'a>>,
    result: Option<&'a [u8]>,
    result_type: Option<&'a [u8]>,
    error: Option<&'a [u8]>,
    repeated: bool,
    repeated_id: bool,
    needs_rewrite: bool,
}

impl<'a> Envelope<'a> {
    fn scan(&mut self, scanner: &mut Cursor<'a>, known_meta: &[u8]) -> Result<(), SyntaxError> {
        scanner.object(|scanner, key| {
            // Keys with escapes are rare, so they may take the slow path.
            let member = Member::of(unquote(key)).or_else(|| {
                unescape(key)
                    .filter(|_| key.contains(&b'\\'))
                    .and_then(|key| Member::of(key.as_bytes()))
            });
            let value = match member {
                Some(Member::Params) => {
                    let (mut members, mut meta) = (MemberIndex::default(), None);
                    let mut is_meta_repeated = false;
                    let text = scan_members(scanner, known_meta, |key, value| {
                        members.push(key, value);
                        if key_is(key, "_meta") {
                            is_meta_repeated |= meta.replace(value).is_some();
                        }
                    })?;
                    let scanned = ScannedParams { text, meta, is_meta_repeated, members };
                    let earlier = self.params.replace(scanned);
                    self.repeated |= earlier.is_some();
                    return Ok(());
                }
                Some(Member::Result) => {
                    let mut result_type = None;
                    let value = scan_members(scanner, &[], |key, value| {
                        if key_is(key, "resultType") {
                            result_type = Some(value);
                        }
                    })?;
                    self.result_type = result_type;
                    value
                }
                _ => scanner.value()?,
            };
            let slot = match member {
                Some(Member::Jsonrpc) => &mut self.jsonrpc,
                Some(Member::Id) => &mut self.id,
                Some(Member::Method) => &mut self.method,
                Some(Member::Result) => &mut self.result,
                Some(Member::Error) => &mut self.error,
                Some(Member::Params) | None => return Ok(()),
            };
            let repeated = slot.replace(value).is_some();
            self.repeated |= repeated;
            self.repeated_id |= repeated && member == Some(Member::Id);
            Ok(())
        })?;
        Ok(())
    }

    /// Determines the kind of message from the members that are present.
    // T-01: `method` and `id` decide.
    fn classify(self, id_bytes_max: usize) -> Result<Message<'a>, Malformed> {
        let has_id = self.id.is_some_and(|id| id != b"null");
        let id = self.id.filter(|id| id.len() <= id_bytes_max).and_then(RequestId::from_json);
        let has_outcome = self.result.is_some() || self.error.is_some();
        // With duplicate ids it is unclear which one to respond to.
        let id = id.filter(|_| !self.repeated_id);
        let answerable = if id.is_some() { self.method.is_some() } else { !has_outcome };
        let invalid =
            |why| Err(Malformed::Invalid { id: id.clone(), answerable, why: Defect::Message(why) });
        // JSON-01: every message names version 2.0.
        let is_2_0 = self.jsonrpc == Some(b"\"2.0\"")
            || self.jsonrpc.and_then(unescape).as_deref() == Some("2.0");
        if self.repeated || !is_2_0 {
            let why = if self.repeated {
                "duplicate envelope member"
            } else {
                "`jsonrpc` must be \"2.0\""
            };
            return match id {
                // Ending the pending call is better than letting it time out.
                Some(id) if has_outcome && self.method.is_none() => {
                    Ok(Message::BrokenResponse { id, why: why.into() })
                }
                id => Err(Malformed::Invalid { id, answerable, why: Defect::Message(why) }),
            };
        }
        let Some(method) = self.method else { return self.response(id) };
        let Some(method) = MethodName::from_json(method) else {
            let why = "`method` must be a string";
            return match id {
                // Not a request, so it must be the response to a pending call.
                Some(id) if has_outcome => Ok(Message::BrokenResponse { id, why: why.into() }),
                _ => invalid(why),
            };
        };
        if has_outcome {
            return invalid("message has both a `method` and a `result` or `error`");
        }
        let params = self.params.map_or_else(Params::default, |params| {
            let is_object = params.text.starts_with(b"{");
            let object =
                Object { text: params.text, needs_rewrite: self.needs_rewrite, result_type: None };
            Params {
                object: is_object.then_some(object),
                meta: params.meta,
                is_meta_repeated: params.is_meta_repeated,
                members: params.members,
                // T-09: `null` counts as absent.
                malformed: !is_object && params.text != b"null",
            }
        });
        // JSON-03…05: a notification has no `id` and gets no response; `null` is not an id.
        match (self.id, id) {
            (None, _) => Ok(Message::Notification { method, params }),
            (Some(_), Some(id)) => Ok(Message::Request { id, method, params }),
            (Some(_), None) => {
                let why = if has_id {
                    "`id` must be an integer or a short string"
                } else {
                    "`id` must not be null"
                };
                Err(Malformed::Invalid { id: None, answerable: true, why: Defect::Message(why) })
            }
        }
    }

    fn response(self, id: Option<RequestId>) -> Result<Message<'a>, Malformed> {
        let Some(id) = id else {
            return match self.error.and_then(|error| error_object(error, self.needs_rewrite).ok()) {
                Some(error) if self.result.is_none() => Ok(Message::OrphanError(error)),
                _ => Err(Malformed::Invalid {
                    id: None,
                    answerable: self.result.is_none() && self.error.is_none(),
                    why: Defect::Message(
                        "message is neither a request, a notification nor a response",
                    ),
                }),
            };
        };
        Ok(match (self.result, self.error) {
            (None, None) => {
                let why = Defect::Message("message has no `method`, `result` or `error`");
                return Err(Malformed::Invalid { id: Some(id), answerable: false, why });
            }
            (Some(_), Some(_)) => {
                let why = "response has both a `result` and an `error`".into();
                Message::BrokenResponse { id, why }
            }
            (Some(text), None) if text.starts_with(b"{") => {
                let result = Object {
                    text,
                    needs_rewrite: self.needs_rewrite,
                    result_type: self.result_type,
                };
                Message::Response { id, outcome: Ok(result) }
            }
            (Some(_), None) => {
                Message::BrokenResponse { id, why: "`result` must be an object".into() }
            }
            (None, Some(error)) => match error_object(error, self.needs_rewrite) {
                Ok(error) => Message::Response { id, outcome: Err(error) },
                Err(why) => Message::BrokenResponse { id, why: why.into() },
            },
        })
    }
}

/// Scans one value. If it is an object, passes each key, without quotes, and value to `member`.
fn scan_members<'a>(
    scanner: &mut Cursor<'a>,
    known_meta: &[u8],
    mut member: impl FnMut(&'a [u8], &'a [u8]),
) -> Result<&'a [u8], SyntaxError> {
    if scanner.peek() != Some(b'{') {
        return scanner.value();
    }
    scanner.object(|scanner, key| {
        // An object ends where an equal one ends.
        let value = match key {
            b"\"_meta\"" => scanner.value_or_known(known_meta)?,
            _ => scanner.value()?,
        };
        member(unquote(key), value);
        Ok(())
    })
}

/// Returns a JSON string without its quotes.
fn unquote(key: &[u8]) -> &[u8] {
    key.get(1..key.len() - 1).unwrap_or_default()
}

// JSON-09: an integer `code` and a string `message`.
fn error_object(error: &[u8], needs_rewrite: bool) -> Result<ErrorObject, String> {
    let code = find(error, "code").and_then(|code| {
        let code = core::str::from_utf8(code).ok()?;
        code.parse().ok().or_else(|| i64::try_from(integer(code)?).ok())
    });
    let message = find(error, "message").and_then(unescape);
    let (Some(code), Some(message)) = (code, message) else {
        let shown = printable(error, ERROR_CHARS_MAX);
        return Err(format!(
            "`error` must have an integer `code` and a string `message`, but is {shown}"
        ));
    };
    let data = find(error, "data").map(|data| Frame::Borrowed(data).keep(data, needs_rewrite));
    Ok(ErrorObject { code, message: message.into(), data })
}

/// The maximum length of an invalid error that is quoted, in characters.
const ERROR_CHARS_MAX: usize = 256;

impl Malformed {
    pub(crate) const NOT_AN_OBJECT: Self = Self::Invalid {
        id: None,
        answerable: true,
        why: Defect::Message("message must be an object"),
    };
}

impl Defect {
    /// Returns the error to respond with.
    pub(crate) fn to_error(self) -> ErrorObject {
        match self {
            Self::Message(why) => {
                ErrorObject::new(code::INVALID_REQUEST, format!("invalid request: {why}"))
            }
            Self::NotUtf8(_) | Self::Syntax(_) => {
                ErrorObject::new(code::PARSE_ERROR, format!("parse error: {self}"))
            }
        }
    }
}

#[cfg(test)]
mod tests;
