//! The authorization data of a request.

use std::sync::{Arc, OnceLock};

use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};

use mcp_proto::http::{AcceptedToken, Guard};

use crate::http::dial::Dial;

/// The guard that has accepted a request, and its token.
#[derive(Clone)]
pub(super) struct Authorized {
    pub(super) guard: Guard,
    pub(super) token: AcceptedToken,
}

/// The authorization data of a request, kept with its head.
#[derive(Default)]
pub(super) struct Authorization {
    accepted: OnceLock<Authorized>,
    /// The challenge of the response; `None` if the response must not become one.
    challenge: OnceLock<Option<String>>,
    /// The runtime of the service, on which verifiers ask other servers.
    runtime: OnceLock<Arc<dyn Dial>>,
}

impl Authorization {
    pub(super) fn accept(&self, authorized: Authorized) {
        // A request is authorized once.
        let _first = self.accepted.set(authorized);
    }

    pub(super) fn run_on(&self, runtime: &Arc<dyn Dial>) {
        let _first = self.runtime.set(Arc::clone(runtime));
    }

    /// Returns the runtime of the service; `None` before the request is authenticated.
    #[cfg_attr(
        not(feature = "auth"),
        allow(dead_code, reason = "only verifiers with these features ask other servers")
    )]
    pub(super) fn runtime(&self) -> Option<&Arc<dyn Dial>> {
        self.runtime.get()
    }

    /// Makes the response of the request a challenge, unless it must not become one.
    pub(super) fn challenge(&self, challenge: &str) {
        let _first = self.challenge.set(Some(challenge.to_owned()));
    }

    /// Keeps the response of the request from becoming a challenge.
    pub(super) fn never_challenge(&self) {
        let _first = self.challenge.set(None);
    }

    /// Makes a response a challenge, if there is one and the response is not an event stream.
    // AUT-24: 403 with a challenge.
    pub(super) fn apply<B>(&self, response: &mut Response<B>) {
        let Some(Some(challenge)) = self.challenge.get() else { return };
        let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|it| it == JSON);
        let Ok(challenge) = HeaderValue::from_str(challenge) else { return };
        if is_json {
            *response.status_mut() = StatusCode::FORBIDDEN;
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
    }

    /// Returns the guard and the token; `None` if requests are not authorized.
    pub(super) fn accepted(&self) -> Option<&Authorized> {
        self.accepted.get()
    }
}

/// The media type of responses that are one message.
const JSON: &str = "application/json";
