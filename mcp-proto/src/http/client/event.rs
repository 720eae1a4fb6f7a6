//! Events from a client over HTTP: connection events and authentication challenges.

use alloc::string::String;
use alloc::vec::Vec;

use super::action::ExchangeId;
use super::credentials::Generation;
use crate::client;
use crate::http::{Headers, header};
use crate::vocabulary::CallId;

/// An event from an [`HttpClient`](super::HttpClient).
#[derive(Debug)]
#[non_exhaustive]
pub enum HttpEvent {
    /// The server accepted the credentials of this generation: a response other than 401 arrived.
    ///
    /// Reported once for each generation that is passed to
    /// [`authorize`](super::HttpClient::authorize).
    Accepted(Generation),
    /// The server rejected a request with 401 or 403: credentials are missing or insufficient.
    ///
    /// If the request belongs to a call, the call fails. A challenge while connecting closes the
    /// connection; a later challenge does not close it. A request that is parked instead is
    /// reported by [`Parked`](Self::Parked).
    // AUT-11: the client obtains authorization from a challenge.
    Challenged {
        /// The rejected call; `None` for any other request.
        call: Option<CallId>,
        /// The HTTP status: 401 or 403.
        status: u16,
        /// The challenges in `WWW-Authenticate`, in order. Malformed values are skipped.
        challenges: Vec<Challenge>,
    },
    /// An event from the wrapped [`Client`](client::Client).
    Client(client::Event),
    /// The server rejected a request, which waits for other credentials.
    ///
    /// Occurs only with [`HttpConfig::parks`](super::HttpConfig::parks), and for a request at most
    /// twice after a 401 to credentials that it carried. If the server rejects a third token, the
    /// request fails with [`CallError::Unauthorized`](crate::CallError::Unauthorized): other
    /// requests may be accepted with these tokens, and renewals would never end.
    Parked(ParkedRequest),
}

/// A request that the server rejected, and that the client sends again once it is authorized.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ParkedRequest {
    /// The id of the exchange that will send the request again.
    pub exchange: ExchangeId,
    /// The rejected call; `None` for any other request.
    pub call: Option<CallId>,
    /// The HTTP status: 401 or 403.
    pub status: u16,
    /// The challenges in `WWW-Authenticate`, in order. Malformed values are skipped.
    pub challenges: Vec<Challenge>,
    /// The generation of the credentials that the request carried; `None` if it carried none.
    pub generation: Option<Generation>,
    /// The purpose of the request: the method and the name of its object, such as
    /// `tools/call search`. `GET` for a stream, and empty for a response to the server.
    pub operation: String,
}

/// An authentication challenge; the owned form of [`header::ChallengeRef`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Challenge {
    /// The authentication scheme, such as `Bearer`, as the server spelled it. Schemes are
    /// case-insensitive.
    pub scheme: String,
    /// The single token (`token68` in RFC 9110) that some schemes use instead of parameters.
    pub token: Option<String>,
    /// The parameters, as name-value pairs.
    ///
    /// Names are unique and in their original case; values are unquoted.
    pub params: Vec<(String, String)>,
}

impl ParkedRequest {
    /// Returns the length of the texts in bytes.
    pub(super) fn bytes(&self) -> usize {
        let params = self.challenges.iter().flat_map(|challenge| &challenge.params);
        let tokens = self.challenges.iter().filter_map(|challenge| challenge.token.as_ref());
        let params: usize = params.map(|(name, value)| name.len() + value.len()).sum();
        self.operation.len() + params + tokens.map(String::len).sum::<usize>()
    }
}

impl Challenge {
    /// Returns the value of a parameter. Names are case-insensitive.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| &**value)
    }
}

impl From<header::ChallengeRef<'_>> for Challenge {
    fn from(challenge: header::ChallengeRef<'_>) -> Self {
        let params =
            challenge.params.into_iter().map(|(name, value)| (name.into(), value.into_owned()));
        Self {
            scheme: challenge.scheme.into(),
            token: challenge.token.map(Into::into),
            params: params.collect(),
        }
    }
}

/// The maximum number of `WWW-Authenticate` headers that are parsed.
const VALUES_MAX: usize = 8;

/// The maximum length of a `WWW-Authenticate` value in bytes; longer ones are skipped.
const VALUE_BYTES_MAX: usize = 8 * 1024;

/// Returns the challenges of a response.
pub(super) fn challenges(fields: &dyn Headers) -> Vec<Challenge> {
    (0..VALUES_MAX)
        .map_while(|nth| fields.value("www-authenticate", nth))
        .filter(|value| value.len() <= VALUE_BYTES_MAX)
        .filter_map(|value| header::challenges(value).ok())
        .flatten()
        .map(Challenge::from)
        .collect()
}
