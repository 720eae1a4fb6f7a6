//! Asks the authorization server about tokens, one request for each token at a time.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_rustls::rustls::ClientConfig;
use mcp_proto::Secret;
use mcp_proto::auth::{AuthLimits, Uri};
use ring::digest::{SHA256, digest};

use super::answer;
use super::cache::Digest;
use super::questions::{Answer, Asking, Questions};
use super::slots::SlotsMax;
use crate::auth::configured_uri::configured_uri;
use crate::auth::oauth_http::OAuthHttp;
use crate::box_future::BoxFuture;
use crate::http::{Dial, Network, Proxy, RequestHead, TlsConfig, TokenVerifier, VerifyError};
use crate::trace::not_verifiable;

/// The default of [`IntrospectionVerifier::cache_life`].
const CACHE_LIFE: Duration = Duration::from_secs(30);

/// The longest life that can be set.
const CACHE_LIFE_MAX: Duration = Duration::from_secs(600);

/// The maximum number of questions in flight. Further ones wait.
const QUESTIONS_MAX: usize = 32;

/// The default of [`IntrospectionVerifier::questions_per_address_max`].
const QUESTIONS_PER_ADDRESS_MAX: usize = 8;

/// How long a request may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum length of a response.
const RESPONSE_BYTES_MAX: usize = 64 << 10;

/// Verifies access tokens by asking their authorization server ([token
/// introspection](https://www.rfc-editor.org/rfc/rfc7662)) (feature `auth`).
///
/// For tokens that only the authorization server can read, or that must be refused soon after they
/// are revoked. The [`Guard`](crate::http::Guard) checks the response, which must contain `aud`,
/// and `sub` or `client_id`. If `iss` is missing, the server itself is the issuer; a token without
/// `exp` is valid as long as the server says so. Refresh tokens and tokens bound to a key (DPoP)
/// are refused if the server says what they are.
///
/// Responses are kept for 30 s ([`cache_life`](Self::cache_life)), those about tokens that are not
/// active for at most 10 s. At most 10,000 of each kind are kept, with 16 MiB of claims, by digests
/// of the tokens; [`forget`](Self::forget) drops one immediately. Concurrent requests with one
/// token share one question to the authorization server. At most 32 questions are in flight, 8 of
/// them for one client address ([`questions_per_address_max`](Self::questions_per_address_max));
/// others wait, and the address with the fewest questions is next. A question takes at most 10 s,
/// and its response at most 64 KiB. If there is no response, or the server refuses the credentials,
/// clients receive status 503 and keep their tokens, and the failure is reported to `tracing` (with
/// that feature).
///
/// Clones share the kept responses.
///
/// ```
/// # mod mcp_tokio {
/// #     pub mod http {
/// #         pub use mcp_adapter::{auth::IntrospectionVerifier, http::*};
/// #     }
/// # }
/// use mcp_tokio::http::{Guard, Http, IntrospectionVerifier};
///
/// let guard = Guard::builder("https://mcp.example.com/mcp")
///     .authorization_server("https://id.example.com")
///     .build()
///     .map_err(std::io::Error::other)?;
/// let endpoint = "https://id.example.com/introspect";
/// let secret = "from the configuration of the server";
/// let verifier =
///     IntrospectionVerifier::new("https://id.example.com", endpoint, "notes-server", secret)?;
/// let options = Http::new().host("mcp.example.com").authorizing(guard, verifier);
/// # drop(options);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct IntrospectionVerifier {
    settings: Arc<Settings>,
    questions: Arc<Questions>,
}

/// The introspection endpoint, and the credentials and limits of the requests to it.
#[derive(Clone)]
struct Settings {
    issuer: Box<str>,
    endpoint: Uri,
    client_id: Box<str>,
    secret: Secret,
    network: Network,
    cache_life: Duration,
    questions_max: SlotsMax,
}

impl IntrospectionVerifier {
    /// Creates a verifier that asks `endpoint` about the tokens of `issuer`.
    ///
    /// This server authenticates with its id and secret at the authorization server
    /// (`client_secret_basic`). The secret is never shown.
    ///
    /// # Errors
    /// Fails if `endpoint` is malformed, or neither an `https` URL nor an `http` URL on a loopback
    /// host.
    pub fn new(
        issuer: &str,
        endpoint: &str,
        client_id: &str,
        secret: impl Into<Secret>,
    ) -> io::Result<Self> {
        let settings = Settings {
            issuer: issuer.into(),
            endpoint: configured_uri(endpoint)?,
            client_id: client_id.into(),
            secret: secret.into(),
            network: Network::default(),
            cache_life: CACHE_LIFE,
            questions_max: SlotsMax { all: QUESTIONS_MAX, per_address: QUESTIONS_PER_ADDRESS_MAX },
        };
        Ok(Self { settings: Arc::new(settings), questions: Arc::new(Questions::new()) })
    }

    /// Sets how long a response is kept. Default: 30 s; at most 10 min.
    ///
    /// A token that is revoked is accepted for this time, unless it is [forgotten](Self::forget). A
    /// response is never kept longer than the token is valid. With zero, no responses are kept:
    /// each request then asks the authorization server.
    #[must_use]
    pub fn cache_life(mut self, life: Duration) -> Self {
        Arc::make_mut(&mut self.settings).cache_life = life.min(CACHE_LIFE_MAX);
        self
    }

    /// Sets the TLS configuration. By default, Mozilla's root certificates are trusted.
    #[must_use]
    pub fn tls(mut self, config: Arc<ClientConfig>) -> Self {
        Arc::make_mut(&mut self.settings).network.tls = TlsConfig::new(config);
        self
    }

    /// Sets the proxy of the connections to the authorization server. Default:
    /// [`Proxy::from_env`].
    #[must_use]
    pub fn proxy(mut self, proxy: Proxy) -> Self {
        Arc::make_mut(&mut self.settings).network.proxy = proxy;
        self
    }

    /// Sets how many questions are asked for one client address at a time. Default: 8; at least 1,
    /// and at most 32, which is the number for all clients.
    ///
    /// A client that invents tokens thus does not keep those of other addresses waiting. Raise the
    /// number if all clients come from one address, as behind a proxy, or insert the
    /// [`PeerAddress`](crate::http::PeerAddress) that the proxy reports. Requests without a known
    /// address are only subject to the number for all clients.
    #[must_use]
    pub fn questions_per_address_max(mut self, questions_max: usize) -> Self {
        Arc::make_mut(&mut self.settings).questions_max.per_address =
            questions_max.clamp(1, QUESTIONS_MAX);
        self
    }

    /// Drops the kept response about a token, so that the next request with it asks the server.
    ///
    /// Call this method when you learn that the token has been revoked; it also applies to all
    /// clones of the verifier. The response to a question that is in flight is not kept, either.
    /// Sessions stay open, but each further request in them needs a token that is valid; see
    /// [`SessionControl::end_principal`](crate::http::SessionControl::end_principal) to end them.
    ///
    /// ```
    /// # mod mcp_tokio {
    /// #     pub mod http {
    /// #         pub use mcp_adapter::{auth::IntrospectionVerifier, http::*};
    /// #     }
    /// # }
    /// use mcp_tokio::http::IntrospectionVerifier;
    ///
    /// let issuer = "https://id.example.com";
    /// let endpoint = "https://id.example.com/introspect";
    /// let verifier = IntrospectionVerifier::new(issuer, endpoint, "notes-server", "secret")?;
    /// let revocations = verifier.clone(); // and `verifier` goes to `Http::authorizing`
    /// revocations.forget(&"the revoked token".into());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn forget(&self, token: &Secret) {
        self.questions.forget(&key_of(token));
    }

    /// Drops the kept responses about all tokens, like [`forget`](Self::forget).
    pub fn clear(&self) {
        self.questions.clear();
    }

    /// Verifies a token of a client at this address.
    pub(super) async fn verify_on(
        &self,
        token: Secret,
        address: Option<IpAddr>,
        runtime: Option<&Arc<dyn Dial>>,
    ) -> Answer {
        let max = self.settings.questions_max;
        let (question, asking) = self.questions.next(key_of(&token), address, max).await;
        if let Some(asking) = asking {
            self.ask(asking, token, runtime);
        }
        question.answer().await
    }

    /// Asks in its own task: other requests may wait for the response, too.
    fn ask(&self, asking: Asking, token: Secret, runtime: Option<&Arc<dyn Dial>>) {
        // Without a runtime or a task, the question ends here.
        let Some(runtime) = runtime else { return };
        let (settings, dialing) = (Arc::clone(&self.settings), Arc::clone(runtime));
        let _no_task = runtime.spawn(Box::pin(async move {
            let Settings { issuer, endpoint, client_id, secret, network, .. } = &*settings;
            let limits =
                AuthLimits { metadata_bytes_max: RESPONSE_BYTES_MAX, ..AuthLimits::default() };
            let http = OAuthHttp::with_network(dialing, network.clone(), limits);
            let http = http.timeout(REQUEST_TIMEOUT);
            let request = answer::request(endpoint.clone(), client_id, secret, &token);
            let answer = match http.send(&request).await {
                Ok(response) => {
                    let answer = answer::read(&response, issuer);
                    if answer == Err(VerifyError::Unavailable) {
                        let status = response.status;
                        unanswered(issuer, &format_args!("no usable answer, with status {status}"));
                    }
                    answer
                }
                Err(why) => {
                    unanswered(issuer, &why);
                    Err(VerifyError::Unavailable)
                }
            };
            asking.end(answer, settings.cache_life);
        }));
    }
}

impl TokenVerifier for IntrospectionVerifier {
    fn verify(&self, token: Secret, head: RequestHead) -> BoxFuture<'static, Answer> {
        let verifier = self.clone();
        Box::pin(async move { verifier.verify_on(token, head.network(), head.runtime()).await })
    }
}

/// Reports a question without a usable response. Shows neither of them.
fn unanswered(issuer: &str, why: &dyn fmt::Display) {
    not_verifiable(issuer, "the authorization server does not say if a token is active", why);
}

fn key_of(token: &Secret) -> Digest {
    let mut key = [0; 32];
    for (to, from) in key.iter_mut().zip(digest(&SHA256, token.expose().as_bytes()).as_ref()) {
        *to = *from;
    }
    key
}

impl fmt::Debug for IntrospectionVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endpoint = &self.settings.endpoint;
        f.debug_struct("IntrospectionVerifier")
            .field("issuer", &self.settings.issuer)
            .field("endpoint", &format_args!("{}{}", endpoint.origin(), endpoint.path()))
            .field("client_id", &self.settings.client_id)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
