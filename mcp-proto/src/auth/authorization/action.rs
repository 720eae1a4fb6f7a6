//! The actions that an authorization requires of its driver.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::record_key::RecordKey;
use crate::auth::{LoopbackHost, Reach, Scopes};
use crate::http::client::HttpMethod;
use crate::http::redact::RedactedHeaders;
use crate::secret::Secret;

/// Defines an id that prints as `name#number` and is never reused.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $shown:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name(pub(super) u64);

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($shown, "#{}"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self, f)
            }
        }
    };
}

id! {
    /// The id of a [`Fetch`].
    FetchId, "fetch"
}

id! {
    /// The id of one use of the store: from [`AuthAction::Acquire`] to [`AuthAction::Release`].
    StoreId, "store"
}

id! {
    /// The id of a signature, from [`AuthAction::Sign`].
    SignId, "sign"
}

/// An action for the driver of an [`Authorization`](super::Authorization).
// AUT-33: the core stores nothing, draws nothing at random, and holds no key.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AuthAction {
    /// Draw 32 random bytes from the operating system, and report them with
    /// [`handle_random`](super::Authorization::handle_random).
    Draw,
    /// Lock a record against all other processes, then read it.
    ///
    /// Report the record, `None` if there is none, or the failure with
    /// [`handle_store`](super::Authorization::handle_store). After a failure, nothing is locked
    /// and no `Release` follows. Several records are never locked at a time.
    Acquire {
        /// The id to report the outcome with.
        id: StoreId,
        /// The name of the record.
        key: RecordKey,
    },
    /// Replace the locked record, durably and in one piece.
    ///
    /// Report `Ok(None)` or the failure with
    /// [`handle_store`](super::Authorization::handle_store). `Release` follows in either case.
    Save {
        /// The id of the `Acquire`.
        id: StoreId,
        /// The new record, a JSON text; `None` deletes the record.
        record: Option<Secret>,
    },
    /// Unlock the record, or stop waiting for the lock. Nothing more is reported with this id.
    Release {
        /// The id of the `Acquire`.
        id: StoreId,
    },
    /// Listen for the redirect of the browser on a loopback address.
    ///
    /// Report the port with [`handle_listening`](super::Authorization::handle_listening), then the
    /// query of each GET for `path` with
    /// [`handle_redirect`](super::Authorization::handle_redirect), until `Unlisten`.
    Listen {
        /// The host to listen on.
        host: LoopbackHost,
        /// The port to prefer; if it is taken or `None`, any port.
        port: Option<u16>,
        /// The path to serve, starting with `/`.
        path: Box<str>,
    },
    /// Stop listening.
    Unlisten,
    /// Send an HTTP request.
    Fetch(Fetch),
    /// Abort a request in any state. Nothing more is reported about it.
    Abort(FetchId),
    /// Sign with a private key: ES256 over `input`, as 64 bytes `r || s` (RFC 7518 §3.4).
    ///
    /// Report the signature with [`handle_signature`](super::Authorization::handle_signature).
    Sign {
        /// The id to report the signature with.
        id: SignId,
        /// The key to sign with.
        key: KeyUse,
        /// The text to sign, in ASCII.
        input: Secret,
    },
    /// Open a URL in the user's browser, or show it to the user.
    ///
    /// The URL is `https`, or `http` to a loopback host. It must not pass through a shell.
    // AUT-53, AUT-54.
    Show {
        /// The URL of the authorization request; it contains the secret `state`.
        url: Secret,
        /// The issuer: the identifier of the authorization server.
        issuer: Box<str>,
        /// The requested scopes; empty if none are named.
        scopes: Scopes,
    },
}

/// The purpose of a private key, which names the key for [`AuthAction::Sign`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum KeyUse {
    /// The client authenticates itself: the key of [`KnownClient::signed`](super::KnownClient).
    ClientAuthentication,
    /// Tokens are bound to the key: the key of [`AuthConfig::dpop`](super::AuthConfig::dpop).
    Dpop,
}

/// An HTTP request to an authorization server, or for metadata.
///
/// It is sent without cookies and without any header of a request to the MCP server. The response
/// is reported with [`handle_head`](super::Authorization::handle_head),
/// [`handle_body`](super::Authorization::handle_body), and then either
/// [`handle_end`](super::Authorization::handle_end) or
/// [`handle_failure`](super::Authorization::handle_failure).
// AUT-68, AUT-69.
#[derive(Clone, Eq, PartialEq)]
#[non_exhaustive]
pub struct Fetch {
    /// The id to report the response with.
    pub id: FetchId,
    /// The method: `Get` or `Post`.
    pub method: HttpMethod,
    /// The URL: `https`, or `http` to a loopback host.
    pub url: Box<str>,
    /// The headers, without `Host`, `Content-Length` and `Authorization`. `DPoP` is secret.
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// The value of the `Authorization` header.
    pub authorization: Option<Secret>,
    /// The body; empty unless this is a POST.
    pub body: Secret,
    /// How private an address the request may reach, checked on the address connected to.
    pub reach: Reach,
    /// How many redirects to follow; each hop must have the origin of `url`.
    ///
    /// With 0, a redirect is reported like any other response.
    pub redirects_max: u32,
    /// Whether a redirect may lead to another origin, which [`Self::reach`] limits as well.
    pub cross_origin: bool,
}

// URLs without their query, and neither credentials nor proofs.
impl fmt::Debug for Fetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.url.split('?').next().unwrap_or_default();
        f.debug_struct("Fetch")
            .field("id", &self.id)
            .field("method", &self.method)
            .field("url", &url)
            .field("headers", &RedactedHeaders(&self.headers))
            .field("authorization", &self.authorization)
            .field("body", &self.body)
            .field("reach", &self.reach)
            .field("redirects_max", &self.redirects_max)
            .field("cross_origin", &self.cross_origin)
            .finish()
    }
}

/// The reason why a [`Fetch`] failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum FetchFailure {
    /// No connection was established, so the server has not received the request.
    Unreached,
    /// The connection broke after it was established, or the response is not valid HTTP.
    Cut,
    /// All addresses of the host are beyond [`Fetch::reach`].
    Blocked,
}
