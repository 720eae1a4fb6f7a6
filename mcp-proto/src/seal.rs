//! Authenticates request state that a server stores at the client.
//!
//! Between an input request and the retry, a server's state is held by the client as
//! [`requestState`](crate::Context::state). The state that comes back may be forged, modified,
//! expired, or issued to another user or for another request. A [`Seal`] detects this.
//!
//! **What a seal guarantees.** A sealed text opens only if it is unmodified, was sealed with one of
//! the configured keys for an equal principal and request, and has not expired.
//!
//! **What a seal does not do.** It does not encrypt: the client can read the state. It does not
//! prevent replay: until it expires, a sealed text opens for every equal request of its principal.
//! State that must be used only once needs storage on the server. A seal does not authenticate the
//! input responses that the client sends with the state.
//!
//! See <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use base64ct::{Base64UrlUnpadded, Encoding};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::json::{compact, key_is, members};
use crate::rpc::ErrorObject;
use crate::vocabulary::{Principal, Request};

/// Minimum length of a key, in bytes: 32, the length of the authentication code.
pub const KEY_BYTES_MIN: usize = 32;

/// Minimum number of distinct bytes in a key: 8.
///
/// A placeholder, such as 32 zeros, has fewer distinct bytes. A random key of 32 bytes practically
/// always has enough.
pub const KEY_DISTINCT_MIN: usize = 8;

/// Maximum length of the state to seal, in bytes: 64 KiB.
///
/// Keep larger state on the server and seal an id for it.
///
/// A sealed text is longer than its state by about a third of the state's length and 60 bytes.
/// [`Seal::open`] rejects a text that is too long for any state within this limit, without decoding
/// the text.
pub const STATE_BYTES_MAX: usize = 64 << 10;

/// Maximum number of members in the params of a request for which state is sealed: 64.
///
/// The members that a retry adds or changes do not count toward the limit; see [`Binding`].
///
/// The requests for which a server can ask for input need only a few members. Without the limit,
/// sealing state for a request with many tiny members would need many times the request's size in
/// memory.
pub const MEMBERS_MAX: usize = 64;

/// Prefix of every sealed text: the version of its format.
const VERSION: &str = "v1.";

/// Separates seals from other uses of the key, and from other versions.
const DOMAIN: &[u8] = b"mcp-proto sealed request state v1";

/// Length of the expiry time, which comes first.
const EXPIRY_BYTES: usize = 8;

/// Length of the authentication code, which follows the expiry time and precedes the state.
const CODE_BYTES: usize = 32;

/// Longest sealed text: base64 encodes three bytes as four characters.
const SEALED_CHARS_MAX: usize =
    VERSION.len() + ((EXPIRY_BYTES + CODE_BYTES + STATE_BYTES_MAX) * 4).div_ceil(3);

/// The members of the params that a retry adds or changes.
// STL-21: a retry repeats the request with these.
const RETRY_MEMBERS: [&str; 3] = ["_meta", "inputResponses", "requestState"];

/// The secret keys for sealing state and for opening sealed state, using HMAC-SHA-256.
///
/// Sealing encodes the state, together with an authentication code, as a text. Opening verifies the
/// code and returns the state. Sealed state is authenticated but not encrypted; see the [module
/// documentation](crate::seal).
///
/// If several servers may receive retries of each other's requests, they must share the key. Use
/// the key for no other purpose.
///
/// The caller supplies times in seconds since the Unix epoch. An [`Instant`](crate::Instant) would
/// not suffice, because sealed state can outlive the process.
///
/// ```
/// use mcp_proto::seal::{Binding, Seal};
/// use mcp_proto::{Context, ErrorObject, Principal, Request};
/// # use mcp_proto::server::{Config, Event, Server};
/// # use mcp_proto::{Capability, Endpoint, Instant, NeededInput, stdio::Stdio};
///
/// /// Books a table in two steps: returns the state to ask with, then the opened state.
/// fn book(
///     seal: &Seal, principal: &Principal, now: u64, request: &Request, context: &Context,
/// ) -> Result<String, ErrorObject> {
///     let bound = Binding { principal: Some(principal), request };
///     match &context.state {
///         None => Ok(seal.seal("table 7 is held", &bound, now + 600).unwrap()), // 10 min
///         Some(sealed) => Ok(seal.open(sealed, &bound, now)?),
///     }
/// }
///
/// # let config = Config::new("demo", "1.0.0").capability(Capability::Tools);
/// # let mut server = Stdio::new(Server::new(Instant::ZERO, config));
/// # server.handle_input(Instant::ZERO, concat!(
/// #     r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":"#,
/// #     r#"{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"#,
/// #     r#""clientInfo":{"name":"demo","version":"1.0.0"}}}"#, "\n",
/// #     r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "\n",
/// #     r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"book"}}"#, "\n",
/// # ).as_bytes());
/// # let next = |server: &mut Stdio<Server>| loop {
/// #     if let Event::Request { incoming, request, context } = server.poll_event().unwrap() {
/// #         break (incoming, request, context);
/// #     }
/// # };
/// # let key: [u8; 32] = core::array::from_fn(|at| at as u8);
/// let seal = Seal::new(&key).unwrap(); // 32 random bytes, kept secret
/// let now = 1_790_000_000; // in seconds since the Unix epoch
/// let ada = Principal::new("ada").unwrap();
/// # let (incoming, request, context) = next(&mut server);
/// let state = book(&seal, &ada, now, &request, &context).unwrap();
/// # let asked = [("roots", NeededInput::Roots)];
/// # server.request_input(Instant::ZERO, incoming, &asked, Some(&state)).unwrap();
/// # let answer = concat!(r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#, "\n");
/// # server.handle_input(Instant::ZERO, answer.as_bytes());
/// // … `server.request_input(.., Some(&state))`; the client answers, and the request is repeated.
/// # let (_, request, context) = next(&mut server);
/// assert_eq!(book(&seal, &ada, now + 20, &request, &context).unwrap(), "table 7 is held");
/// let eve = Principal::new("eve").unwrap();
/// assert!(book(&seal, &eve, now + 20, &request, &context).is_err()); // another principal
/// assert!(book(&seal, &ada, now + 600, &request, &context).is_err()); // expired
///
/// // A new key: state sealed with the old key still opens while that key is configured.
/// # let new_key: [u8; 32] = core::array::from_fn(|at| 100 + at as u8);
/// let seal = Seal::new(&new_key).unwrap().with_old_key(&key).unwrap();
/// assert_eq!(book(&seal, &ada, now + 20, &request, &context).unwrap(), "table 7 is held");
/// ```
#[derive(Clone)]
pub struct Seal {
    key: Hmac<Sha256>,
    old_keys: Vec<Hmac<Sha256>>,
}

impl Seal {
    /// Creates a seal that uses `key`, which must be random and kept secret.
    ///
    /// The seal keeps no copy of `key`, but hash states that are derived from it. They are wiped
    /// from memory when the seal is dropped. Wiping `key` itself is up to the caller.
    ///
    /// # Errors
    /// Fails with [`WeakKey`] if `key` is shorter than [`KEY_BYTES_MIN`] bytes or has fewer than
    /// [`KEY_DISTINCT_MIN`] distinct bytes.
    pub fn new(key: &[u8]) -> Result<Self, WeakKey> {
        Ok(Self { key: hmac_key(key)?, old_keys: Vec::new() })
    }

    /// Adds an old key, which can open sealed state but is not used to seal state.
    ///
    /// Use this method when you replace a key, so that state that clients still hold remains valid.
    /// Call the method once per old key.
    ///
    /// # Errors
    /// Fails with [`WeakKey`] if `key` is shorter than [`KEY_BYTES_MIN`] bytes or has fewer than
    /// [`KEY_DISTINCT_MIN`] distinct bytes.
    pub fn with_old_key(mut self, key: &[u8]) -> Result<Self, WeakKey> {
        self.old_keys.push(hmac_key(key)?);
        Ok(self)
    }

    /// Seals `state` for the principal and request in `bound`, and returns the sealed text.
    ///
    /// The text expires at `expires_at`, in seconds since the Unix epoch.
    ///
    /// The text consists of ASCII characters that need no JSON escapes. Equal keys and arguments
    /// give equal texts.
    ///
    /// # Errors
    /// Fails with [`TooLarge`] if the state is longer than [`STATE_BYTES_MAX`] bytes, or if the
    /// request's params have more than [`MEMBERS_MAX`] members.
    pub fn seal(
        &self,
        state: &str,
        bound: &Binding<'_>,
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

    /// Verifies `sealed` and returns the state in it.
    ///
    /// Succeeds if the text has not expired, and was sealed with one of the configured keys for a
    /// [`Binding`] equal to `bound`. `now` is the current time in seconds since the Unix epoch.
    ///
    /// For each configured key, the running time is linear in the lengths of `bound` and `sealed`.
    /// A text that is too long for a state of [`STATE_BYTES_MAX`] bytes is rejected immediately.
    /// Authentication codes are compared in constant time.
    ///
    /// # Errors
    /// Fails with [`OpenError::Expired`] if the state is authentic but has expired, and with
    /// [`OpenError::Invalid`] in all other cases. To respond with the error, convert it to an
    /// [`ErrorObject`].
    // STL-23: state is validated before use.
    pub fn open(&self, sealed: &str, bound: &Binding<'_>, now: u64) -> Result<String, OpenError> {
        if sealed.len() > SEALED_CHARS_MAX {
            return Err(OpenError::Invalid);
        }
        let content = sealed.strip_prefix(VERSION).ok_or(OpenError::Invalid)?;
        let content = Base64UrlUnpadded::decode_vec(content).map_err(|_| OpenError::Invalid)?;
        let (expiry, rest) =
            content.split_first_chunk::<EXPIRY_BYTES>().ok_or(OpenError::Invalid)?;
        let (code, state) = rest.split_first_chunk::<CODE_BYTES>().ok_or(OpenError::Invalid)?;
        let message = bound.message(expiry, state).ok_or(OpenError::Invalid)?;
        let sealed_by =
            |key: &Hmac<Sha256>| key.clone().chain_update(&message).verify(&(*code).into()).is_ok();
        if !sealed_by(&self.key) && !self.old_keys.iter().any(sealed_by) {
            return Err(OpenError::Invalid);
        }
        // Report the expiry only of state that this server sealed.
        if now >= u64::from_be_bytes(*expiry) {
            return Err(OpenError::Expired);
        }
        core::str::from_utf8(state).map(String::from).map_err(|_| OpenError::Invalid)
    }
}

/// Omits the keys from the output.
impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seal").finish_non_exhaustive()
    }
}

fn hmac_key(key: &[u8]) -> Result<Hmac<Sha256>, WeakKey> {
    let is_distinct = |byte: u8| key.contains(&byte);
    let distinct = (0..=u8::MAX).filter(|byte| is_distinct(*byte)).take(KEY_DISTINCT_MIN).count();
    if key.len() < KEY_BYTES_MIN || distinct < KEY_DISTINCT_MIN {
        return Err(WeakKey);
    }
    Hmac::new_from_slice(key).map_err(|_| WeakKey)
}

/// The principal and the request for which state is sealed.
///
/// Two bindings are equal if their principals and their requests are equal. Two requests are equal
/// if their methods are equal and their params have equal members:
///
/// - The order of the members and the white space between tokens do not matter.
/// - The members that a retry adds or changes are ignored: `_meta`, `inputResponses` and
///   `requestState`. Params that contain only these members are equal to absent params.
/// - Names and values are compared as text: `1.0` differs from `1`, and `"\u0061"` differs from
///   `"a"`. The order of members within a value matters.
/// - If a member is repeated, every occurrence is compared.
///
/// ```
/// use mcp_proto::seal::{Binding, Seal, OpenError};
/// # use mcp_proto::server::{Config, Event, Server};
/// use mcp_proto::Principal;
/// # use mcp_proto::{Capability, Endpoint, Instant, Request, stdio::Stdio};
/// # let config = Config::new("demo", "1.0.0").capability(Capability::Tools);
/// # let mut server = Stdio::new(Server::new(Instant::ZERO, config));
/// # server.handle_input(Instant::ZERO, concat!(
/// #     r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":"#,
/// #     r#"{"protocolVersion":"2025-11-25","capabilities":{},"#,
/// #     r#""clientInfo":{"name":"demo","version":"1.0.0"}}}"#, "\n",
/// #     r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "\n",
/// # ).as_bytes());
/// # let mut id = 1;
/// # let mut request = |params: &str| loop {
/// #     id += 1;
/// #     let line = format!(
/// #         r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#
/// #     ) + "\n";
/// #     server.handle_input(Instant::ZERO, line.as_bytes());
/// #     while let Some(event) = server.poll_event() {
/// #         if let Event::Request { request, .. } = event { return request; }
/// #     }
/// # };
///
/// # let key: [u8; 32] = core::array::from_fn(|at| at as u8);
/// let seal = Seal::new(&key).unwrap(); // 32 random bytes, kept secret
/// let ada = Principal::new("ada").unwrap();
/// let first = request(r#"{"name":"book","arguments":{"seats":2}}"#);
/// let bound = Binding { principal: Some(&ada), request: &first };
/// let sealed = seal.seal("table 7", &bound, 1_790_000_600).unwrap(); // valid until then
///
/// let retry = request(r#"{"inputResponses":{}, "arguments":{"seats":2}, "name":"book"}"#);
/// let bound = Binding { principal: Some(&ada), request: &retry };
/// assert_eq!(seal.open(&sealed, &bound, 1_790_000_000).unwrap(), "table 7");
///
/// let other = request(r#"{"name":"book","arguments":{"seats":200}}"#);
/// let bound = Binding { principal: Some(&ada), request: &other };
/// assert_eq!(seal.open(&sealed, &bound, 1_790_000_000), Err(OpenError::Invalid));
/// ```
// AUT-75, STL-24: state is bound to its principal and request.
#[derive(Clone, Copy, Debug)]
pub struct Binding<'a> {
    /// The authenticated identity of the client; `None` if the client is not authenticated.
    ///
    /// State sealed for `None` opens for every unauthenticated client, and for no principal.
    pub principal: Option<&'a Principal>,
    /// The request that the state belongs to.
    ///
    /// For [`Seal::seal`], pass the request for which the server asks for input. For
    /// [`Seal::open`], pass the retry of that request.
    pub request: &'a Request,
}

impl Binding<'_> {
    /// Returns the bytes to authenticate, an unambiguous encoding of the principal, request, expiry
    /// time and state. Returns `None` if the params have too many members.
    fn message(&self, expiry: &[u8; EXPIRY_BYTES], state: &[u8]) -> Option<Vec<u8>> {
        let params = self
            .request
            .params
            .as_ref()
            .map(|params| compact(params.as_bytes()))
            .unwrap_or_default();
        let is_bound = |key: &[u8]| !RETRY_MEMBERS.iter().any(|name| key_is(key, name));
        let bound = members(&params).filter(|(key, _)| is_bound(key));
        let mut bound: Vec<(&[u8], &[u8])> = bound.take(MEMBERS_MAX + 1).collect();
        if bound.len() > MEMBERS_MAX {
            return None;
        }
        // The sort is stable, so that repeated members keep their order and cannot be swapped.
        bound.sort_by_key(|(key, _)| *key);

        // The id of a principal is never empty.
        let principal = self.principal.map_or(&[][..], |principal| principal.id().as_bytes());
        let mut out = Vec::new();
        for part in [DOMAIN, expiry, principal, self.request.method.as_bytes(), state] {
            write_part(&mut out, part);
        }
        for (key, value) in bound {
            write_part(&mut out, key);
            write_part(&mut out, value);
        }
        Some(out)
    }
}

/// Writes `part` with its length first, so that no byte can move between parts.
fn write_part(out: &mut Vec<u8>, part: &[u8]) {
    out.extend_from_slice(&(part.len() as u64).to_be_bytes());
    out.extend_from_slice(part);
}

/// Why [`Seal::open`] failed.
///
/// To respond with the error, convert it to an [`ErrorObject`], which reveals only the variant.
///
/// ```
/// use mcp_proto::seal::OpenError;
/// use mcp_proto::{ErrorObject, code};
///
/// let error = ErrorObject::from(OpenError::Expired);
/// assert_eq!(error.code, code::INVALID_PARAMS);
/// assert_eq!(&*error.message, "the request state has expired");
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum OpenError {
    /// The state is authentic but has expired. The client can send the request again without state.
    Expired,
    /// The text was modified, or no configured key sealed it for this principal and request.
    ///
    /// The error deliberately does not distinguish these causes.
    Invalid,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expired => "the request state has expired",
            Self::Invalid => "the request state is not valid for this request",
        })
    }
}

impl core::error::Error for OpenError {}

impl From<OpenError> for ErrorObject {
    fn from(unsealed: OpenError) -> Self {
        Self::invalid_params(alloc::format!("{unsealed}"))
    }
}

/// The error returned for a key that is too short or not random.
///
/// The key is shorter than [`KEY_BYTES_MIN`] bytes, or has fewer than [`KEY_DISTINCT_MIN`] distinct
/// bytes.
///
/// ```
/// use mcp_proto::seal::{Seal, WeakKey};
///
/// assert_eq!(Seal::new(b"password").unwrap_err(), WeakKey);
/// assert_eq!(Seal::new(&[0; 32]).unwrap_err(), WeakKey);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct WeakKey;

impl fmt::Display for WeakKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the key is shorter than {KEY_BYTES_MIN} bytes (`KEY_BYTES_MIN`) \
             or has fewer than {KEY_DISTINCT_MIN} distinct bytes (`KEY_DISTINCT_MIN`): \
             use random bytes"
        )
    }
}

impl core::error::Error for WeakKey {}

/// The error returned if the state or the request is too large for sealing.
///
/// The state is longer than [`STATE_BYTES_MAX`] bytes, or the request's params have more than
/// [`MEMBERS_MAX`] members.
///
/// ```
/// use mcp_proto::seal::TooLarge;
///
/// assert_eq!(
///     TooLarge.to_string(),
///     "the state exceeds 65536 bytes (`STATE_BYTES_MAX`) \
///      or the request has more than 64 members (`MEMBERS_MAX`)",
/// );
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the state exceeds {STATE_BYTES_MAX} bytes (`STATE_BYTES_MAX`) \
             or the request has more than {MEMBERS_MAX} members (`MEMBERS_MAX`)"
        )
    }
}

impl core::error::Error for TooLarge {}

#[cfg(test)]
mod tests;
