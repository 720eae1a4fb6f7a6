//! The events of an authorization, and the results of single inputs.

use alloc::string::String;
use core::fmt;

use super::denial::Denial;
use super::quirks::Quirk;
use crate::auth::Scopes;
use crate::http::client::{Challenge, Generation, ParkedRequest};
use crate::secret::Secret;

/// A request that the MCP server rejected with status 401 or 403.
///
/// Created from a [`ParkedRequest`] of an HTTP client:
///
/// ```
/// use mcp_proto::Instant;
/// use mcp_proto::auth::RejectedRequest;
/// use mcp_proto::client::{Client, Config};
/// use mcp_proto::http::client::{Action, HttpClient, HttpConfig, HttpEvent};
///
/// let client = Client::new(Instant::ZERO, Config::new("demo", "1.0.0"));
/// let mut http = HttpClient::new(client, HttpConfig::new(0).parks()); // 0: the seed
/// let Some(Action::Send(send)) = http.poll_action() else { panic!() };
/// http.handle_head(Instant::ZERO, send.exchange, 401, &[("www-authenticate", "Bearer")]);
/// let Some(HttpEvent::Parked(parked)) = http.poll_event() else { panic!() };
/// let rejected = RejectedRequest::from(&parked);
/// assert_eq!((rejected.status, rejected.operation), (401, "server/discover"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RejectedRequest<'a> {
    /// The generation of the credentials it was sent with; `None` if it carried none.
    pub generation: Option<Generation>,
    /// The status: 401 or 403.
    pub status: u16,
    /// The challenges of the response.
    pub challenges: &'a [Challenge],
    /// What the request does, such as `tools/call search`: repeated requests for more scopes are
    /// counted for each operation. Only the first 256 bytes count.
    pub operation: &'a str,
}

impl<'a> From<&'a ParkedRequest> for RejectedRequest<'a> {
    fn from(parked: &'a ParkedRequest) -> Self {
        Self {
            generation: parked.generation,
            status: parked.status,
            challenges: &parked.challenges,
            operation: &parked.operation,
        }
    }
}

/// How the driver must treat a rejected request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// Send the request again, with the current
    /// [`credentials`](super::Authorization::credentials).
    Retry,
    /// Keep the request until the next [`AuthEvent::Granted`] or [`AuthEvent::Denied`].
    Wait,
    /// Fail the request, for this reason.
    Denied(Denial),
}

/// An event of an [`Authorization`](super::Authorization).
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AuthEvent {
    /// There are new credentials: every waiting request can be sent again.
    Granted {
        /// The generation of the new credentials.
        generation: Generation,
        /// The scopes granted; empty if unknown.
        scopes: Scopes,
        /// The Unix time at which the access token expires, in seconds; `None` if unknown.
        expires: Option<u64>,
    },
    /// Every waiting request fails: there will be no new credentials for now.
    ///
    /// Credentials for other operations may still be valid.
    Denied(Denial),
    /// The user has to register this client with the authorization server and enter the result.
    ///
    /// Answer with [`AuthInput::Client`], within 10 minutes.
    NeedsClient {
        /// The issuer: the identifier of the authorization server.
        issuer: String,
    },
    /// An identity assertion is needed: an ID token, or the token of a workload. It is presented to
    /// obtain tokens, and before stored tokens are used, its issuer and subject are compared with
    /// those of the assertion that the tokens were issued for.
    ///
    /// Answer with [`AuthInput::Identity`], within 10 minutes.
    NeedsIdentity,
    /// The store failed: nothing was read, or a grant is valid in this process only.
    Unsaved(StoreFailure),
    /// Stored data was discarded.
    Dropped {
        /// The discarded data.
        what: Stored,
        /// The reason.
        why: DropReason,
    },
    /// A deviation from the specification, allowed by configuration, took effect.
    Deviated(Quirk),
}

/// A kind of stored data.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Stored {
    /// The refresh token.
    RefreshToken,
    /// The registration of this client at the authorization server.
    Registration,
    /// A whole record.
    Record,
}

/// The reason for discarding stored data.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum DropReason {
    /// The authorization server refused it.
    Refused,
    /// It expired.
    Expired,
    /// It belongs to an authorization server that the MCP server no longer names.
    IssuerChanged,
    /// It is bound to a key that is not in use.
    KeyChanged,
    /// It belongs to another user or workload than the identity assertion in use.
    SubjectChanged,
    /// It could not be read: it is damaged, too long, or of a later version.
    Unreadable,
}

/// A failure of the store.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum StoreFailure {
    /// Another process held the lock for too long.
    Locked,
    /// The store cannot be reached, read or written.
    Unavailable,
}

impl fmt::Display for StoreFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Locked => "another process holds the lock of the credential store",
            Self::Unavailable => "the credential store cannot be read or written",
        })
    }
}

impl core::error::Error for StoreFailure {}

/// An answer of the application to [`AuthEvent::NeedsClient`], [`AuthEvent::NeedsIdentity`] or
/// [`AuthAction::Show`](super::AuthAction::Show).
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AuthInput {
    /// The identifier and secret that the authorization server assigned to this client.
    Client {
        /// The client identifier.
        id: String,
        /// The client secret, if there is one.
        secret: Option<Secret>,
    },
    /// An ID token, or the token of a workload.
    Identity(Secret),
    /// There is no answer: the flow fails with [`Denial::Cancelled`], also while the user has the
    /// URL of [`AuthAction::Show`](super::AuthAction::Show).
    Cancel,
    /// The driver has no way to get an answer, or to show the URL to the user.
    ///
    /// The flow fails with [`Denial::NoClient`], [`Denial::NoIdentity`] or [`Denial::NoBrowser`].
    Unable,
}

/// What the redirect listener shows to the browser.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RedirectPage {
    /// The authorization succeeded: the user can close the page.
    Success,
    /// The authorization failed: the application shows the reason.
    Failure,
    /// The request does not belong to the running flow: respond with status 404.
    NotFound,
}

/// What [`Authorization::forget`](super::Authorization::forget) deletes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Forget {
    /// The tokens.
    Tokens,
    /// The registration at the authorization server in use.
    Registration,
    /// Both.
    All,
}
