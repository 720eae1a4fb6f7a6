//! State that travels through a client and comes back unchanged, or not at all; knows no clock, no
//! randomness and nothing of how requests travel.
//!
//! Between asking for input and the retry, a server's state lies with the client, as
//! [`requestState`](crate::Context::state). Whatever comes back may be forged, changed, old, or
//! meant for another user or another request. A [`Seal`] tells. (STL-23, STL-24)
//!
//! **What a seal does.** A sealed text opens only as it was made, with the key it was made with,
//! for the principal and the request it was made for, and before it expires.
//!
//! **What it does not.** It hides nothing: the client can read the state. It does not count: until
//! it expires, the same text opens as often as the same request comes from the same principal;
//! state that may be used only once needs a memory on the server. It says nothing of the answers
//! that come with the state: those are the client's.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use base64ct::{Base64UrlUnpadded, Encoding};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::connection::Request;
use crate::json::{compact, key_is, members};
use crate::rpc::ErrorObject;

/// The shortest key, in bytes: as many as the authentication code has.
pub const KEY_BYTES_MIN: usize = 32;

/// The longest state that can be sealed, in bytes: 64 KiB. What is larger belongs on the server,
/// under an id.
///
/// A sealed text is about a third longer, and a text longer than that is not looked at.
pub const STATE_BYTES_MAX: usize = 64 << 10;

/// The most members that the params of a request may have so that state can be sealed for it: 64,
/// those that a retry adds not counted.
///
/// The requests that can ask have a handful; without a bound, tiny members would cost many times
/// their own bytes.
pub const MEMBERS_MAX: usize = 64;

/// What every sealed text begins with: the version of its form.
const VERSION: &str = "v1.";

/// Keeps these seals apart from whatever else is made with the same key, and from other versions.
const DOMAIN: &[u8] = b"mcp-proto sealed request state v1";

/// The bytes of the expiry, which come first.
const EXPIRY_BYTES: usize = 8;

/// The bytes of the authentication code, which come next, before the state.
const CODE_BYTES: usize = 32;

/// No sealed text is longer: four characters stand for three bytes.
const SEALED_CHARS_MAX: usize =
    VERSION.len() + ((EXPIRY_BYTES + CODE_BYTES + STATE_BYTES_MAX) * 4).div_ceil(3);

/// The members that a retry adds to its params, or changes. (STL-21)
const RETRY_MEMBERS: [&str; 3] = ["_meta", "inputResponses", "requestState"];

/// Seals state with a secret key, and opens what it sealed: HMAC-SHA-256.
///
/// Servers that answer each other's retries share the key. Use it for nothing else.
///
/// Times are whole seconds since the Unix epoch, and the caller's: sealed state can outlive the
/// process, which an [`Instant`](crate::Instant) cannot.
///
/// ```
/// use mcp_proto::seal::{Bound, Seal};
/// use mcp_proto::{Context, ErrorObject, Request};
/// # use mcp_proto::server::{Config, Event, Server};
/// # use mcp_proto::{Capability, Endpoint, Instant, Question, stdio::Stdio};
///
/// /// Books a table in two steps: the state to ask with, or the state of the first step once it is answered.
/// fn book(
///     seal: &Seal, principal: &str, now: u64, request: &Request, context: &Context,
/// ) -> Result<String, ErrorObject> {
///     let bound = Bound { principal, request };
///     match &context.state {
///         None => Ok(seal.seal("table 7 is held", &bound, now + 600).unwrap()),
///         Some(sealed) => Ok(seal.open(sealed, &bound, now)?),
///     }
/// }
///
/// # let config = Config::new("demo", "1.0.0").capability(Capability::Tools);
/// # let mut server = Stdio::new(Server::new(Instant::ZERO, config));
/// # server.handle_input(Instant::ZERO, concat!(
/// #     r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
/// #     r#""capabilities":{"roots":{}},"clientInfo":{"name":"demo","version":"1.0.0"}}}"#, "\n",
/// #     r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "\n",
/// #     r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"book"}}"#, "\n",
/// # ).as_bytes());
/// # let next = |server: &mut Stdio<Server>| loop {
/// #     if let Event::Request { incoming, request, context } = server.poll_event().unwrap() {
/// #         break (incoming, request, context);
/// #     }
/// # };
/// let seal = Seal::new(&[7; 32]).unwrap(); // 32 bytes from the system's randomness, kept secret
/// let now = 1_790_000_000;
/// # let (incoming, request, context) = next(&mut server);
/// let state = book(&seal, "ada", now, &request, &context).unwrap();
/// # server.request_input(Instant::ZERO, incoming, &[("roots", Question::Roots)], Some(&state)).unwrap();
/// # server.handle_input(Instant::ZERO, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"roots\":[]}}\n");
/// // … `server.request_input(.., Some(&state))`; the client answers, and the request comes again.
/// # let (_, request, context) = next(&mut server);
/// assert_eq!(book(&seal, "ada", now + 20, &request, &context).unwrap(), "table 7 is held");
/// assert!(book(&seal, "eve", now + 20, &request, &context).is_err());
/// assert!(book(&seal, "ada", now + 600, &request, &context).is_err());
///
/// // A new key: what the old one sealed still opens, until that key is left out.
/// let seal = Seal::new(&[8; 32]).unwrap().with_old_key(&[7; 32]).unwrap();
/// assert_eq!(book(&seal, "ada", now + 20, &request, &context).unwrap(), "table 7 is held");
/// ```
#[derive(Clone)]
pub struct Seal {
    key: Hmac<Sha256>,
    old_keys: Vec<Hmac<Sha256>>,
}

impl Seal {
    /// Seals and opens with `key`, which must be random and secret.
    ///
    /// # Errors
    /// When the key is shorter than [`KEY_BYTES_MIN`].
    pub fn new(key: &[u8]) -> Result<Self, ShortKey> {
        Ok(Self { key: keyed(key)?, old_keys: Vec::new() })
    }

    /// Opens with `key` too, and never seals with it. Each call adds one more old key.
    ///
    /// # Errors
    /// When the key is shorter than [`KEY_BYTES_MIN`].
    pub fn with_old_key(mut self, key: &[u8]) -> Result<Self, ShortKey> {
        self.old_keys.push(keyed(key)?);
        Ok(self)
    }

    /// Seals `state`: the text opens for the same `bound` until `expires_at`, and from that second
    /// on no more.
    ///
    /// The text is ASCII without quotes, blanks or escapes. The same arguments give the same text.
    ///
    /// # Errors
    /// When the state is longer than [`STATE_BYTES_MAX`], or the request has more members than
    /// [`MEMBERS_MAX`].
    pub fn seal(
        &self,
        state: &str,
        bound: &Bound<'_>,
        expires_at: u64,
    ) -> Result<String, TooLarge> {
        if state.len() > STATE_BYTES_MAX {
            return Err(TooLarge);
        }
        let expiry = expires_at.to_be_bytes();
        let message = bound.message(&expiry, state.as_bytes()).ok_or(TooLarge)?;
        let code = self.key.clone().chain_update(message).finalize().into_bytes();
        let content = [&expiry, code.as_slice(), state.as_bytes()].concat();
        let mut sealed = String::from(VERSION);
        sealed.push_str(&Base64UrlUnpadded::encode_string(&content));
        Ok(sealed)
    }

    /// The state in `sealed`, if one of the keys sealed it for the same `bound` and it has not
    /// expired at `now`.
    ///
    /// The work is linear in the lengths of `sealed`, which is bounded, and of the request; the
    /// codes are compared in constant time.
    ///
    /// # Errors
    /// When it does not open: the [`ErrorObject`] made from the error is the answer to give.
    /// (STL-23)
    pub fn open(&self, sealed: &str, bound: &Bound<'_>, now: u64) -> Result<String, Unsealed> {
        if sealed.len() > SEALED_CHARS_MAX {
            return Err(Unsealed::Broken);
        }
        let content = sealed.strip_prefix(VERSION).ok_or(Unsealed::Broken)?;
        let content = Base64UrlUnpadded::decode_vec(content).map_err(|_| Unsealed::Broken)?;
        let (expiry, rest) = content.split_first_chunk::<EXPIRY_BYTES>().ok_or(Unsealed::Broken)?;
        let (code, state) = rest.split_first_chunk::<CODE_BYTES>().ok_or(Unsealed::Broken)?;
        let message = bound.message(expiry, state).ok_or(Unsealed::Broken)?;
        let sealed_by =
            |key: &Hmac<Sha256>| key.clone().chain_update(&message).verify(&(*code).into()).is_ok();
        if !sealed_by(&self.key) && !self.old_keys.iter().any(sealed_by) {
            return Err(Unsealed::Broken);
        }
        // Only of what this server sealed is it said that it has expired.
        if now >= u64::from_be_bytes(*expiry) {
            return Err(Unsealed::Expired);
        }
        core::str::from_utf8(state).map(String::from).map_err(|_| Unsealed::Broken)
    }
}

/// Shows no key.
impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seal").finish_non_exhaustive()
    }
}

fn keyed(key: &[u8]) -> Result<Hmac<Sha256>, ShortKey> {
    if key.len() < KEY_BYTES_MIN {
        return Err(ShortKey);
    }
    Hmac::new_from_slice(key).map_err(|_| ShortKey)
}

/// Whom and what a sealed text is for: it opens for nobody and nothing else. (STL-24)
///
/// Two requests are the same when they have the same method and the same members in their params,
/// whatever the order of these members and the white space between tokens. The members that a retry
/// adds do not count: `_meta`, `inputResponses` and `requestState`; with only these, params are the
/// same as none. All else is compared as it is written: `1.0` is not `1`, `"\u0061"` is not `"a"`,
/// and inside a member the order matters. A repeated member counts every time.
///
/// ```
/// use mcp_proto::seal::{Bound, Seal, Unsealed};
/// # use mcp_proto::server::{Config, Event, Server};
/// # use mcp_proto::{Capability, Endpoint, Instant, Request, stdio::Stdio};
/// # let config = Config::new("demo", "1.0.0").capability(Capability::Tools);
/// # let mut server = Stdio::new(Server::new(Instant::ZERO, config));
/// # server.handle_input(Instant::ZERO, concat!(
/// #     r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
/// #     r#""capabilities":{},"clientInfo":{"name":"demo","version":"1.0.0"}}}"#, "\n",
/// #     r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "\n",
/// # ).as_bytes());
/// # let mut id = 1;
/// # let mut request = |params: &str| loop {
/// #     id += 1;
/// #     let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
/// #     server.handle_input(Instant::ZERO, format!("{line}\n").as_bytes());
/// #     while let Some(event) = server.poll_event() {
/// #         if let Event::Request { request, .. } = event { return request; }
/// #     }
/// # };
///
/// let seal = Seal::new(&[7; 32]).unwrap();
/// let first = request(r#"{"name":"book","arguments":{"seats":2}}"#);
/// let bound = Bound { principal: "ada", request: &first };
/// let sealed = seal.seal("table 7", &bound, 1_790_000_600).unwrap();
///
/// let retry = request(r#"{"inputResponses":{}, "arguments":{"seats":2}, "name":"book"}"#);
/// let bound = Bound { principal: "ada", request: &retry };
/// assert_eq!(seal.open(&sealed, &bound, 1_790_000_000).unwrap(), "table 7");
///
/// let other = request(r#"{"name":"book","arguments":{"seats":200}}"#);
/// let bound = Bound { principal: "ada", request: &other };
/// assert_eq!(seal.open(&sealed, &bound, 1_790_000_000), Err(Unsealed::Broken));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a> {
    /// Who asks, as this side authenticated them, never as they name themselves; empty where all
    /// are one, as on stdio.
    pub principal: &'a str,
    /// The request that is answered with questions; at the retry, the retry.
    pub request: &'a Request,
}

impl Bound<'_> {
    /// What is authenticated: all of it, and nothing can be read in two ways. `None` with too many
    /// members.
    fn message(&self, expiry: &[u8; EXPIRY_BYTES], state: &[u8]) -> Option<Vec<u8>> {
        let params = self
            .request
            .params
            .as_ref()
            .map(|params| compact(params.as_bytes()))
            .unwrap_or_default();
        let counts = |key: &[u8]| !RETRY_MEMBERS.iter().any(|name| key_is(key, name));
        let bound = members(&params).filter(|(key, _)| counts(key));
        let mut bound: Vec<(&[u8], &[u8])> = bound.take(MEMBERS_MAX + 1).collect();
        if bound.len() > MEMBERS_MAX {
            return None;
        }
        // The sort is stable: repeated members keep their order, so that none can take another's
        // place.
        bound.sort_by_key(|(key, _)| *key);

        let mut out = Vec::new();
        for part in
            [DOMAIN, expiry, self.principal.as_bytes(), self.request.method.as_bytes(), state]
        {
            write_part(&mut out, part);
        }
        for (key, value) in bound {
            write_part(&mut out, key);
            write_part(&mut out, value);
        }
        Some(out)
    }
}

/// Writes the length of `part` before it, so that no byte can move from one part to the next.
fn write_part(out: &mut Vec<u8>, part: &[u8]) {
    out.extend_from_slice(&(part.len() as u64).to_be_bytes());
    out.extend_from_slice(part);
}

/// Why a sealed text does not open.
///
/// It converts into the error to answer with, which tells the peer no more than this.
///
/// ```
/// use mcp_proto::seal::Unsealed;
/// use mcp_proto::{ErrorObject, code};
///
/// let error = ErrorObject::from(Unsealed::Expired);
/// assert_eq!(error.code, code::INVALID_PARAMS);
/// assert_eq!(&*error.message, "the request state has expired");
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Unsealed {
    /// It is genuine, and its time is over: the client may ask anew, without state.
    Expired,
    /// It was not sealed by this server, not for this principal or not for this request, or it was
    /// changed. Which of these is not told.
    Broken,
}

impl fmt::Display for Unsealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expired => "the request state has expired",
            Self::Broken => "the request state is not valid for this request",
        })
    }
}

impl core::error::Error for Unsealed {}

impl From<Unsealed> for ErrorObject {
    fn from(unsealed: Unsealed) -> Self {
        Self::invalid_params(alloc::format!("{unsealed}"))
    }
}

/// A key that is too short to be safe.
///
/// ```
/// use mcp_proto::seal::{Seal, ShortKey};
///
/// assert_eq!(Seal::new(b"password").unwrap_err(), ShortKey);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ShortKey;

impl fmt::Display for ShortKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a key to seal with has at least {KEY_BYTES_MIN} bytes")
    }
}

impl core::error::Error for ShortKey {}

/// A state that is too long to be sealed, or a request with too many members to seal one for it.
///
/// ```
/// use mcp_proto::seal::TooLarge;
///
/// assert_eq!(TooLarge.to_string(), "the state is too long to be sealed, or the request has too many members");
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the state is too long to be sealed, or the request has too many members")
    }
}

impl core::error::Error for TooLarge {}

#[cfg(test)]
mod tests;
