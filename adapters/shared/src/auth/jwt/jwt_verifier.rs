//! Verifies tokens with keys that are fetched when they are needed.

use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use event_listener::Event;
use futures_lite::future::or;
use mcp_proto::http::VerifiedToken;
use mcp_proto::{Raw, Secret};

use super::key_set::KeySet;
use super::rotation::{Next, Rotation};
use super::signed_token::SignedToken;
use crate::box_future::BoxFuture;
use crate::exec::workers::catch_panic;
use crate::http::{Dial, Network, RequestHead, TokenVerifier, VerifyError};
use crate::trace::not_verifiable;

/// How long a fetch may take.
const FETCH_TIMEOUT: Duration = Duration::from_secs(20);

/// Verifies access tokens that are JSON Web Tokens, by the public keys of their issuer (feature
/// `auth`).
///
/// A token must be signed with ES256, ES384, RS256, PS256 or EdDSA (Ed25519), by a key of the
/// issuer that is for this algorithm. Algorithms with shared keys are never accepted. The type in
/// the header, if any, must be `JWT` or `at+jwt`, and critical extensions are refused. The
/// [`Guard`](crate::http::Guard) checks the claims.
///
/// The keys are a [JSON Web Key Set](https://www.rfc-editor.org/rfc/rfc7517). With the feature
/// `auth`, `JwtVerifier::discover` finds and fetches it; otherwise, the application fetches it from
/// the `jwks_uri` of the authorization server. Keys are fetched when the first token arrives, in
/// the background after an hour, and when a token names an unknown key, but then never twice within
/// a minute. After two hours, tokens wait for the fetch, so that keys that the issuer has withdrawn
/// are not used. While fetching fails, keys are used for up to a day, and without keys it is tried
/// again 5 s after the failure. A fetch may take 20 s, and continues if the request that caused it
/// is given up. At most 32 keys are kept. Failed fetches are reported to `tracing`, with that
/// feature.
///
/// ```
/// # use mcp_adapter::api as mcp_tokio;
/// use std::io;
///
/// use mcp_tokio::http::{Guard, Http, JwtVerifier};
///
/// async fn fetch_keys() -> io::Result<String> {
///     // Fetch the URL with the HTTP client of your program; bound the length.
///     # Ok(r#"{"keys":[]}"#.to_owned())
/// }
///
/// let guard = Guard::builder("https://mcp.example.com/mcp")
///     .authorization_server("https://id.example.com")
///     .build()?;
/// let verifier = JwtVerifier::new("https://id.example.com", fetch_keys);
/// let options = Http::new().host("mcp.example.com").authorizing(guard, verifier);
/// # drop(options);
/// # Ok::<(), mcp_tokio::proto::http::InvalidGuard>(())
/// ```
#[derive(Clone)]
pub struct JwtVerifier {
    keys: Arc<IssuerKeys>,
    at_jwt_only: bool,
}

/// The keys of an issuer, and how they are fetched.
struct IssuerKeys {
    issuer: Box<str>,
    fetch: FetchKeys,
    network: Network,
    began: Instant,
    rotation: Mutex<Rotation>,
    /// Notified when a fetch has ended.
    fetched: Event,
}

/// Fetches a key set with the runtime of the service.
type FetchKeys =
    Arc<dyn Fn(Arc<dyn Dial>, Network) -> BoxFuture<'static, io::Result<String>> + Send + Sync>;

impl JwtVerifier {
    /// Creates a verifier for the tokens of `issuer`, whose key set `fetch` returns as JSON.
    ///
    /// Tokens with another `iss` are refused, even if one of the keys has signed them.
    #[must_use]
    pub fn new<F>(issuer: &str, fetch: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = io::Result<String>> + Send + 'static,
    {
        Self::fetching(issuer, move |_, _| Box::pin(fetch()))
    }

    /// Creates a verifier whose key set is fetched with the runtime of the service, over the
    /// default network.
    pub(crate) fn fetching(
        issuer: &str,
        fetch: impl Fn(Arc<dyn Dial>, Network) -> BoxFuture<'static, io::Result<String>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let keys = IssuerKeys::new(issuer.into(), Arc::new(fetch), Network::default());
        Self { keys: Arc::new(keys), at_jwt_only: false }
    }

    /// Changes how connections are opened; keys that were fetched before are not kept.
    pub(crate) fn with_network(mut self, change: impl FnOnce(&mut Network)) -> Self {
        let IssuerKeys { issuer, fetch, network, .. } = &*self.keys;
        let mut network = network.clone();
        change(&mut network);
        self.keys = Arc::new(IssuerKeys::new(issuer.clone(), Arc::clone(fetch), network));
        self
    }

    /// Refuses tokens whose header does not have the type `at+jwt`, as
    /// [RFC 9068](https://www.rfc-editor.org/rfc/rfc9068#section-4) demands. Default: off.
    ///
    /// Use this method if the authorization server sets the type. Other JSON Web Tokens of the
    /// issuer, such as ID tokens, are then never taken for access tokens, whatever their audience.
    #[must_use]
    pub const fn at_jwt_only(mut self) -> Self {
        self.at_jwt_only = true;
        self
    }

    async fn verify_on(
        &self,
        token: &Secret,
        runtime: Option<&Arc<dyn Dial>>,
    ) -> Result<VerifiedToken, VerifyError> {
        let signed = SignedToken::read(token.expose(), self.at_jwt_only);
        let signed = signed.ok_or(VerifyError::Invalid)?;
        let keys = self.keys.of(&signed, runtime).await?;
        let claims = signed.verified_claims(&keys).ok_or(VerifyError::Invalid)?;
        self.keys.read_claims(&claims).ok_or(VerifyError::Invalid)
    }
}

impl TokenVerifier for JwtVerifier {
    fn verify(
        &self,
        token: Secret,
        head: RequestHead,
    ) -> BoxFuture<'static, Result<VerifiedToken, VerifyError>> {
        let verifier = self.clone();
        Box::pin(async move { verifier.verify_on(&token, head.runtime()).await })
    }
}

impl IssuerKeys {
    fn new(issuer: Box<str>, fetch: FetchKeys, network: Network) -> Self {
        Self {
            issuer,
            fetch,
            network,
            began: Instant::now(),
            rotation: Mutex::default(),
            fetched: Event::new(),
        }
    }

    /// The keys say nothing about tokens of other issuers.
    fn read_claims(&self, claims: &Raw) -> Option<VerifiedToken> {
        let token = VerifiedToken::from_claims(claims).ok()?;
        (token.issuer.as_ref() == Some(&self.issuer)).then_some(token)
    }

    /// Returns the keys to verify a token with, which are fetched if necessary.
    async fn of(
        self: &Arc<Self>,
        token: &SignedToken<'_>,
        runtime: Option<&Arc<dyn Dial>>,
    ) -> Result<Arc<KeySet>, VerifyError> {
        loop {
            let fetched = self.fetched.listen();
            let (next, starts) = self.lock().next(self.began.elapsed(), |keys| token.has_key(keys));
            if starts {
                self.start_fetch(runtime);
            }
            match next {
                Next::Use(keys) => return Ok(keys),
                Next::Unavailable => return Err(VerifyError::Unavailable),
                Next::Wait => fetched.await,
            }
        }
    }

    /// Fetches the keys in its own task: a client that gives up its request must not be able
    /// to keep others from having keys.
    fn start_fetch(self: &Arc<Self>, runtime: Option<&Arc<dyn Dial>>) {
        let fetching = Fetching { keys: Arc::clone(self), fetched: None };
        // Without a runtime or a task, the fetch ends here.
        let Some(runtime) = runtime.cloned() else { return };
        let sleep = runtime.sleep(FETCH_TIMEOUT);
        let (fetcher, dialing) = (Arc::clone(self), Arc::clone(&runtime));
        let _no_task = runtime.spawn(Box::pin(async move {
            // Called inside the future, where a panic is caught.
            let network = fetcher.network.clone();
            let fetch = catch_panic(async move { (fetcher.fetch)(dialing, network).await });
            let panicked = || Err(io::Error::other("the function that fetches them has panicked"));
            let text = or(async { fetch.await.unwrap_or_else(panicked) }, async {
                sleep.await;
                Err(io::ErrorKind::TimedOut.into())
            });
            let no_keys = || io::Error::other("the document is no JSON Web Key Set");
            let keys = text.await.and_then(|text| KeySet::read(&text).ok_or_else(no_keys));
            if let Err(why) = &keys {
                not_verifiable(
                    &fetching.keys.issuer,
                    "the keys of the issuer are not fetched",
                    why,
                );
            }
            fetching.complete(keys.ok());
        }));
    }

    fn lock(&self) -> MutexGuard<'_, Rotation> {
        self.rotation.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A fetch in progress. Dropping it ends the fetch, also if its task is dropped.
struct Fetching {
    keys: Arc<IssuerKeys>,
    fetched: Option<KeySet>,
}

impl Fetching {
    fn complete(mut self, fetched: Option<KeySet>) {
        self.fetched = fetched;
    }
}

impl Drop for Fetching {
    fn drop(&mut self) {
        let now = self.keys.began.elapsed();
        self.keys.lock().end(now, self.fetched.take());
        self.keys.fetched.notify(usize::MAX);
    }
}

opaque_debug!(JwtVerifier, it => issuer: it.keys.issuer);

#[cfg(test)]
mod tests;
