//! Reads one message in one pass: the envelope's members are found, the values inside stay text.
//!
//! It knows JSON-RPC's rules for what a message is, and nothing of what its method means. Members
//! may come in any order; a repeated envelope member is refused (T-10), an unknown one is skipped
//! (JSON-18).

use alloc::borrow::Cow;
use alloc::format;
use core::str::Utf8Error;

use super::ErrorObject;
use super::id::RequestId;
use crate::error::code;
use crate::json::{Cursor, Frame, Raw, SyntaxError, find, key_is, unescape};
use crate::method::{Method, MethodId};

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
    /// A response that says how it went.
    Response {
        id: RequestId,
        outcome: Result<Object<'a>, ErrorObject>,
    },
    /// A response that carries an id of ours and cannot be understood. (JSON-07, T-16)
    BrokenResponse {
        id: RequestId,
        why: &'static str,
    },
    /// An error response without a usable id. (T-03)
    OrphanError(ErrorObject),
}

/// The method that a message names.
#[derive(Debug)]
pub(crate) struct MethodName<'a> {
    pub(crate) text: Cow<'a, str>,
    /// The method, if any revision has it.
    pub(crate) id: Option<MethodId>,
}

impl<'a> MethodName<'a> {
    /// Reads a JSON string. A method of the protocol is recognized by its bytes alone.
    fn from_json(value: &'a [u8]) -> Option<Self> {
        if let Some(id) = MethodId::from_bytes(inside(value)) {
            return Some(Self { text: Cow::Borrowed(id.name()), id: Some(id) });
        }
        let text = unescape(value)?;
        Some(Self { id: MethodId::from_name(&text), text })
    }

    pub(crate) fn to_method(&self) -> Method {
        self.id.map_or_else(|| Method::other(&self.text), Method::from)
    }
}

/// A value that is an object, as it lies in the message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object<'a> {
    pub(crate) text: &'a [u8],
    /// The message holds line breaks between its tokens.
    line_breaks: bool,
    /// The member `resultType`, found in the same pass.
    kind: Option<&'a [u8]>,
}

impl<'a> Object<'a> {
    /// What a result says it is; nothing that anyone knows when it says so in another form than a
    /// word.
    pub(crate) fn kind(&self) -> Option<Cow<'a, str>> {
        self.kind.map(|kind| unescape(kind).unwrap_or(Cow::Borrowed("?")))
    }

    /// Keeps the object beyond the message.
    pub(crate) fn keep(&self, frame: Frame<'_>) -> Raw {
        frame.keep(self.text, self.line_breaks)
    }
}

/// The params of a request or notification.
#[derive(Clone, Debug)]
pub(crate) struct Params<'a> {
    /// Absent, or an object: other forms are told apart by `malformed`.
    pub(crate) object: Option<Object<'a>>,
    /// The member `_meta`, found in the same pass.
    pub(crate) meta: Option<&'a [u8]>,
    /// What else was found in the same pass.
    members: Members<'a, MEMBERS_MAX>,
    /// The params are there and are no object. (JSON-17, T-09)
    pub(crate) malformed: bool,
}

impl<'a> Params<'a> {
    /// The member `name` of the params.
    pub(crate) fn member(&self, name: &str) -> Option<&'a [u8]> {
        self.members.find(self.object?.text, name)
    }

    /// Whether the message holds line breaks between its tokens.
    pub(crate) fn line_breaks(&self) -> bool {
        self.object.is_some_and(|object| object.line_breaks)
    }

    /// The member `name` of `_meta`.
    pub(crate) fn meta_member(&self, name: &str) -> Option<&'a [u8]> {
        find(self.meta?, name)
    }
}

/// The members of an object that were found in one pass, if they are no more than `N`.
#[derive(Clone, Copy, Debug)]
struct Members<'a, const N: usize> {
    /// Keys without their quotes, and values.
    first: [(&'a [u8], &'a [u8]); N],
    /// How many there are in all.
    count: usize,
}

/// As many as the params of a typical request have.
const MEMBERS_MAX: usize = 4;

impl<const N: usize> Default for Members<'_, N> {
    fn default() -> Self {
        Self { first: [(&[], &[]); N], count: 0 }
    }
}

impl<'a, const N: usize> Members<'a, N> {
    fn push(&mut self, key: &'a [u8], value: &'a [u8]) {
        if let Some(slot) = self.first.get_mut(self.count) {
            *slot = (key, value);
        }
        self.count += 1;
    }

    /// The member `name` of the object that these are of; the last one where it is repeated, as
    /// anywhere. (T-10)
    fn find(&self, object: &'a [u8], name: &str) -> Option<&'a [u8]> {
        match self.first.get(..self.count) {
            Some(all) => all.iter().rfind(|(key, _)| key_is(key, name)).map(|(_, value)| *value),
            None => find(object, name),
        }
    }
}

/// A text that is not one message.
#[derive(Debug)]
pub(crate) enum Malformed {
    NotUtf8(Utf8Error),
    /// Begins like an array, which may be a batch; nothing else of it was checked.
    Array,
    /// Not JSON. (JSON-13)
    Parse(SyntaxError),
    /// JSON, but no message. (JSON-14)
    Invalid {
        /// The id, if it could be read: then whoever sent a request can be told.
        id: Option<RequestId>,
        /// It may be meant as a request: with an id it names a method, and without one it at least
        /// is no response. A response is never answered. (T-08)
        answerable: bool,
        why: &'static str,
    },
}

/// Parses `text` as one message. Work is linear in its length.
#[inline]
pub(crate) fn decode(
    text: &[u8],
    depth_max: u8,
    id_bytes_max: usize,
) -> Result<Message<'_>, Malformed> {
    // Most messages are ASCII, which is found out in a fraction of the time.
    if !text.is_ascii() {
        core::str::from_utf8(text).map_err(Malformed::NotUtf8)?;
    }
    if text.trim_ascii_start().starts_with(b"[") {
        return Err(Malformed::Array);
    }
    decode_utf8(text, depth_max, id_bytes_max)
}

/// Parses `text`, one JSON value that is known to be UTF-8. An array is not a message.
pub(crate) fn decode_utf8(
    text: &[u8],
    depth_max: u8,
    id_bytes_max: usize,
) -> Result<Message<'_>, Malformed> {
    let mut envelope = Envelope::default();
    let mut scanner = Cursor::over(text, depth_max);
    let is_object = scanner.peek() == Some(b'{');
    if is_object {
        envelope.scan(&mut scanner).map_err(Malformed::Parse)?;
    } else {
        scanner.value().map_err(Malformed::Parse)?;
    }
    scanner.finish().map_err(Malformed::Parse)?;
    if !is_object {
        return Err(Malformed::NOT_AN_OBJECT);
    }
    envelope.line_breaks = scanner.saw_line_break;
    envelope.classify(id_bytes_max)
}

/// What the envelope knows of a message.
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

#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a [u8]>,
    id: Option<&'a [u8]>,
    method: Option<&'a [u8]>,
    params: Option<&'a [u8]>,
    meta: Option<&'a [u8]>,
    params_members: Members<'a, MEMBERS_MAX>,
    result: Option<&'a [u8]>,
    kind: Option<&'a [u8]>,
    error: Option<&'a [u8]>,
    repeated: bool,
    repeated_id: bool,
    line_breaks: bool,
}

impl<'a> Envelope<'a> {
    fn scan(&mut self, scanner: &mut Cursor<'a>) -> Result<(), SyntaxError> {
        scanner.object(|scanner, key| {
            // Escapes in keys are rare enough to take the long way.
            let member = Member::of(inside(key)).or_else(|| {
                unescape(key)
                    .filter(|_| key.contains(&b'\\'))
                    .and_then(|key| Member::of(key.as_bytes()))
            });
            let value = match member {
                Some(Member::Params) => {
                    let (mut members, mut meta) = (Members::default(), None);
                    let value = scan_members(scanner, |key, value| {
                        members.push(key, value);
                        if key_is(key, "_meta") {
                            meta = Some(value);
                        }
                    })?;
                    self.meta = meta;
                    self.params_members = members;
                    value
                }
                Some(Member::Result) => {
                    let mut kind = None;
                    let value = scan_members(scanner, |key, value| {
                        if key_is(key, "resultType") {
                            kind = Some(value);
                        }
                    })?;
                    self.kind = kind;
                    value
                }
                _ => scanner.value()?,
            };
            let slot = match member {
                Some(Member::Jsonrpc) => &mut self.jsonrpc,
                Some(Member::Id) => &mut self.id,
                Some(Member::Method) => &mut self.method,
                Some(Member::Params) => &mut self.params,
                Some(Member::Result) => &mut self.result,
                Some(Member::Error) => &mut self.error,
                None => return Ok(()),
            };
            let repeated = slot.replace(value).is_some();
            self.repeated |= repeated;
            self.repeated_id |= repeated && member == Some(Member::Id);
            Ok(())
        })?;
        Ok(())
    }

    /// Tells by the members that are there what kind of message it is. (T-01)
    fn classify(self, id_bytes_max: usize) -> Result<Message<'a>, Malformed> {
        let has_id = self.id.is_some_and(|id| id != b"null");
        let id = self.id.filter(|id| id.len() <= id_bytes_max).and_then(RequestId::from_json);
        let has_outcome = self.result.is_some() || self.error.is_some();
        // Of two ids, which would be answered?
        let id = id.filter(|_| !self.repeated_id);
        let answerable = if id.is_some() { self.method.is_some() } else { !has_outcome };
        let invalid = |why| Err(Malformed::Invalid { id: id.clone(), answerable, why });
        let is_2_0 = self.jsonrpc == Some(b"\"2.0\"")
            || self.jsonrpc.and_then(unescape).as_deref() == Some("2.0");
        if self.repeated || !is_2_0 {
            let why = if self.repeated {
                "an envelope member is repeated"
            } else {
                "`jsonrpc` is not \"2.0\""
            };
            return match id {
                // Whoever waits for it is better told than left waiting.
                Some(id) if has_outcome && self.method.is_none() => {
                    Ok(Message::BrokenResponse { id, why })
                }
                id => Err(Malformed::Invalid { id, answerable, why }),
            };
        }
        let Some(method) = self.method else { return self.response(id) };
        let Some(method) = MethodName::from_json(method) else {
            return invalid("`method` is not a string");
        };
        if has_outcome {
            return invalid("a message has both a method and an outcome");
        }
        let params = Params {
            object: self.params.filter(|text| text.starts_with(b"{")).map(|text| Object {
                text,
                line_breaks: self.line_breaks,
                kind: None,
            }),
            meta: self.meta,
            members: self.params_members,
            // `null` stands for absent. (T-09)
            malformed: self.params.is_some_and(|text| !text.starts_with(b"{") && text != b"null"),
        };
        match (self.id, id) {
            (None, _) => Ok(Message::Notification { method, params }),
            (Some(_), Some(id)) => Ok(Message::Request { id, method, params }),
            (Some(_), None) => {
                let why = if has_id {
                    "`id` is neither an integer nor a short string"
                } else {
                    "`id` is null"
                };
                Err(Malformed::Invalid { id: None, answerable: true, why })
            }
        }
    }

    fn response(self, id: Option<RequestId>) -> Result<Message<'a>, Malformed> {
        let Some(id) = id else {
            return match self.error.and_then(|error| error_object(error, self.line_breaks).ok()) {
                Some(error) if self.result.is_none() => Ok(Message::OrphanError(error)),
                _ => Err(Malformed::Invalid {
                    id: None,
                    answerable: self.result.is_none() && self.error.is_none(),
                    why: "neither a request, a notification nor a response",
                }),
            };
        };
        Ok(match (self.result, self.error) {
            (None, None) => {
                let why = "neither a method nor an outcome";
                return Err(Malformed::Invalid { id: Some(id), answerable: false, why });
            }
            (Some(_), Some(_)) => {
                Message::BrokenResponse { id, why: "the response has both a result and an error" }
            }
            (Some(text), None) if text.starts_with(b"{") => {
                let result = Object { text, line_breaks: self.line_breaks, kind: self.kind };
                Message::Response { id, outcome: Ok(result) }
            }
            (Some(_), None) => Message::BrokenResponse { id, why: "the result is not an object" },
            (None, Some(error)) => match error_object(error, self.line_breaks) {
                Ok(error) => Message::Response { id, outcome: Err(error) },
                Err(why) => Message::BrokenResponse { id, why },
            },
        })
    }
}

/// Takes a value, and if it is an object shows its members on the way: keys without their quotes,
/// and values.
fn scan_members<'a>(
    scanner: &mut Cursor<'a>,
    mut member: impl FnMut(&'a [u8], &'a [u8]),
) -> Result<&'a [u8], SyntaxError> {
    if scanner.peek() != Some(b'{') {
        return scanner.value();
    }
    scanner.object(|scanner, key| {
        let value = scanner.value()?;
        member(inside(key), value);
        Ok(())
    })
}

/// A key without its quotes.
fn inside(key: &[u8]) -> &[u8] {
    key.get(1..key.len() - 1).unwrap_or_default()
}

fn error_object(error: &[u8], line_breaks: bool) -> Result<ErrorObject, &'static str> {
    let code = find(error, "code").and_then(|code| core::str::from_utf8(code).ok()?.parse().ok());
    let message = find(error, "message").and_then(unescape);
    let (Some(code), Some(message)) = (code, message) else {
        return Err("the error lacks an integer `code` or a string `message`");
    };
    let data = find(error, "data").map(|data| Frame::Borrowed(data).keep(data, line_breaks));
    Ok(ErrorObject { code, message: message.into(), data })
}

impl Malformed {
    pub(crate) const NOT_AN_OBJECT: Self =
        Self::Invalid { id: None, answerable: true, why: "a message is an object" };

    /// The id to answer, if the text may be meant as a request.
    pub(crate) fn request_id(&self) -> Option<&RequestId> {
        match self {
            Self::Invalid { id, answerable: true, .. } => id.as_ref(),
            Self::Invalid { .. } | Self::Parse(_) | Self::NotUtf8(_) | Self::Array => None,
        }
    }

    /// The error that answers the text.
    pub(crate) fn to_error(&self) -> ErrorObject {
        match self {
            Self::NotUtf8(error) => {
                let at = error.valid_up_to();
                ErrorObject::new(
                    code::PARSE_ERROR,
                    format!("parse error: invalid UTF-8 at byte {at}"),
                )
            }
            Self::Parse(error) => {
                ErrorObject::new(code::PARSE_ERROR, format!("parse error: {error}"))
            }
            Self::Invalid { why, .. } => {
                ErrorObject::new(code::INVALID_REQUEST, format!("invalid request: {why}"))
            }
            Self::Array => Self::NOT_AN_OBJECT.to_error(),
        }
    }
}

#[cfg(test)]
mod tests;
