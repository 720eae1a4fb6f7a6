//! Finds and fetches the keys of an authorization server.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_rustls::rustls::ClientConfig;
use mcp_proto::Raw;
use mcp_proto::auth::{
    AuthLimits, AuthorizationServerMetadata, ExpectedIssuer, MetadataError, Reach, Uri, UriPolicy,
};

use super::JwtVerifier;
use crate::auth::configured_uri::configured_uri;
use crate::auth::oauth_http::{OAuthHttp, OAuthRequest};
use crate::http::{Dial, Network, Proxy, TlsConfig};

/// How many redirects within its origin the fetch of a document follows.
const REDIRECTS_MAX: u32 = 3;

/// How long the fetch of a document may take. A location that does not answer leaves time for the
/// next ones.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

impl JwtVerifier {
    /// Creates a verifier for the tokens of `issuer`, whose keys are found and fetched over HTTP.
    ///
    /// The metadata of the authorization server name its key set (`jwks_uri`), which is fetched
    /// with the HTTP client of this crate each time keys are needed. The key set must not be in a
    /// more private network than the issuer. [`tls`](Self::tls) and [`proxy`](Self::proxy) set how
    /// connections are opened.
    ///
    /// ```
    /// # use mcp_adapter::api as mcp_tokio;
    /// use mcp_tokio::http::{Guard, Http, JwtVerifier};
    ///
    /// let guard = Guard::builder("https://mcp.example.com/mcp")
    ///     .authorization_server("https://id.example.com")
    ///     .build()
    ///     .map_err(std::io::Error::other)?;
    /// let verifier = JwtVerifier::discover("https://id.example.com")?.at_jwt_only();
    /// let options = Http::new().host("mcp.example.com").authorizing(guard, verifier);
    /// # drop(options);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if `issuer` is malformed, or neither an `https` URL nor an `http` URL on a loopback
    /// host.
    pub fn discover(issuer: &str) -> io::Result<Self> {
        let uri = configured_uri(issuer)?;
        Ok(Self::fetching(issuer, move |runtime, network| {
            let issuer = uri.clone();
            Box::pin(async move { fetch_key_set(runtime, &issuer, network).await })
        }))
    }

    /// Sets the TLS configuration of the connections that [`discover`](Self::discover) opens. By
    /// default, Mozilla's root certificates are trusted.
    #[must_use]
    pub fn tls(self, config: Arc<ClientConfig>) -> Self {
        self.with_network(|network| network.tls = TlsConfig::new(config))
    }

    /// Sets the proxy of the connections that [`discover`](Self::discover) opens. Default:
    /// [`Proxy::from_env`].
    #[must_use]
    pub fn proxy(self, proxy: Proxy) -> Self {
        self.with_network(|network| network.proxy = proxy)
    }
}

/// Fetches the key set that the metadata of an issuer name.
///
/// Some servers also answer at other locations, with a page or with metadata of another kind: what
/// cannot be used there does not keep the next location from being tried.
async fn fetch_key_set(
    runtime: Arc<dyn Dial>,
    issuer: &Uri,
    network: Network,
) -> io::Result<String> {
    let limits = AuthLimits::default();
    let http = OAuthHttp::with_network(runtime, network, limits.clone());
    let http = http.timeout(REQUEST_TIMEOUT);
    let reserved = || io::Error::other("the issuer has only reserved addresses");
    let reach = http.reach_of(issuer).await?.ok_or_else(reserved)?;
    let policy = UriPolicy::of_server(reach);
    let mut failure = None;
    for location in AuthorizationServerMetadata::locations(issuer, &limits) {
        let document = match get(&http, location, reach).await {
            Ok(document) => document,
            Err(error) => {
                // What is wrong with a document says more than that another one is missing.
                failure.get_or_insert(error);
                continue;
            }
        };
        let expected = ExpectedIssuer::Exact(issuer);
        match AuthorizationServerMetadata::parse(document.as_bytes(), expected, &policy, &limits) {
            Ok(_) => {}
            Err(error @ MetadataError::Issuer { .. }) => return Err(io::Error::other(error)),
            Err(error) => {
                failure = Some(io::Error::other(error));
                continue;
            }
        }
        let keys = Raw::from_text(&document).ok().and_then(|it| it.member("jwks_uri"));
        let Some(keys) = keys.as_ref().and_then(Raw::to_text) else {
            failure = Some(io::Error::other("the metadata name no `jwks_uri`"));
            continue;
        };
        let keys = Uri::parse(&keys, &limits).map_err(io::Error::other)?;
        policy.check(&keys).map_err(io::Error::other)?;
        return get(&http, keys, reach).await;
    }
    Err(failure.unwrap_or_else(|| io::Error::other("the issuer publishes no metadata")))
}

async fn get(http: &OAuthHttp, uri: Uri, reach: Reach) -> io::Result<String> {
    let accept = ("accept".into(), "application/json".to_owned());
    let request = OAuthRequest {
        headers: vec![accept],
        redirects_max: REDIRECTS_MAX,
        ..OAuthRequest::get(uri, reach)
    };
    let response = http.send(&request).await.map_err(io::Error::other)?;
    let text = response.body.filter(|_| response.status == 200);
    let text = text.and_then(|body| String::from_utf8(body.to_vec()).ok());
    text.ok_or_else(|| io::Error::other(format!("no document, but status {}", response.status)))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::{Ipv4Addr, TcpListener};
    use std::sync::Mutex;
    use std::thread;

    use futures_lite::future::block_on;

    use super::*;
    use crate::http::test_runtime::TestRuntime;

    /// Serves these documents, with the issuer in place of `{issuer}`; returns the issuer and the
    /// paths that are asked for.
    fn server(documents: &'static [(&str, &str)]) -> (String, Arc<Mutex<Vec<String>>>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let (paths, base) = (Arc::<Mutex<Vec<String>>>::default(), issuer.clone());
        let asked = Arc::clone(&paths);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let line = lines.next().unwrap().unwrap();
                while lines.next().unwrap().unwrap() != "" {}
                let path = line.split(' ').nth(1).unwrap().to_owned();
                let found = documents.iter().find(|(at, _)| *at == path);
                let body = found.map_or(String::new(), |(_, it)| it.replace("{issuer}", &base));
                let status = if found.is_some() { 200 } else { 404 };
                asked.lock().unwrap().push(path);
                let length = body.len();
                let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {length}\r\n\r\n");
                stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
            }
        });
        (issuer, paths)
    }

    fn fetched(issuer: &str) -> Result<String, String> {
        let uri = configured_uri(issuer).unwrap();
        let fetched = fetch_key_set(TestRuntime::shared(), &uri, Network::default());
        block_on(fetched).map_err(|error| error.to_string())
    }

    #[test]
    fn the_key_set_is_found_through_metadata_of_either_kind() {
        let (issuer, paths) = server(&[
            (
                "/.well-known/openid-configuration",
                r#"{"issuer":"{issuer}","jwks_uri":"{issuer}/keys"}"#,
            ),
            ("/keys", r#"{"keys":[]}"#),
        ]);
        assert_eq!(fetched(&issuer).as_deref(), Ok(r#"{"keys":[]}"#));
        let expected = [
            "/.well-known/oauth-authorization-server",
            "/.well-known/openid-configuration",
            "/keys",
        ];
        assert_eq!(*paths.lock().unwrap(), expected);
    }

    #[test]
    fn metadata_that_cannot_be_used_do_not_hide_those_at_the_next_location() {
        const FIRST: &str = "/.well-known/oauth-authorization-server";
        const SECOND: (&str, &str) = (
            "/.well-known/openid-configuration",
            r#"{"issuer":"{issuer}","jwks_uri":"{issuer}/keys"}"#,
        );
        const KEYS: (&str, &str) = ("/keys", r#"{"keys":[]}"#);
        let documents: [&'static [(&str, &str)]; 3] = [
            &[(FIRST, "<html>"), SECOND, KEYS],
            &[(FIRST, r#"{"issuer":"{issuer}"}"#), SECOND, KEYS],
            &[(FIRST, r#"{"issuer":"{issuer}","jwks_uri":1}"#), SECOND, KEYS],
        ];
        for documents in documents {
            let (issuer, _) = server(documents);
            assert_eq!(fetched(&issuer).as_deref(), Ok(KEYS.1), "{documents:?}");
        }
    }

    #[test]
    fn keys_are_fetched_through_the_proxy_of_the_application() {
        // A port that refuses connections.
        let port =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let proxy = Proxy::all(&format!("http://127.0.0.1:{port}")).unwrap();
        let uri = configured_uri("https://id.example.com").unwrap();
        let network = Network { proxy: proxy.clone(), ..Network::default() };
        let failed = block_on(fetch_key_set(TestRuntime::shared(), &uri, network)).unwrap_err();
        assert!(failed.to_string().contains(&format!("`127.0.0.1:{port}`")), "{failed}");
        let verifier = JwtVerifier::discover("https://id.example.com").unwrap();
        let used = |verifier: JwtVerifier| {
            let mut used = None;
            drop(verifier.with_network(|network| used = Some(network.proxy.clone())));
            used.unwrap()
        };
        assert_eq!(used(verifier.proxy(proxy.clone())), proxy);
    }

    // AUT-13, AUT-66
    #[test]
    fn metadata_of_others_and_urls_beyond_reach_are_refused() {
        const AT: &str = "/.well-known/oauth-authorization-server";
        let metadata: [(&'static [(&str, &str)], &str); 5] = [
            (&[(AT, r#"{"issuer":"https://evil.example","jwks_uri":"{issuer}/keys"}"#)], "evil"),
            (&[(AT, r#"{"issuer":"{issuer}"}"#)], "jwks_uri"),
            (&[(AT, r#"{"issuer":"{issuer}","jwks_uri":"http://keys.example/"}"#)], "HTTP"),
            (&[(AT, r#"{"issuer":"{issuer}","jwks_uri":"https://169.254.169.254/"}"#)], ""),
            (&[], "404"),
        ];
        for (documents, why) in metadata {
            let (issuer, paths) = server(documents);
            let error = fetched(&issuer).unwrap_err();
            assert!(error.to_lowercase().contains(&why.to_lowercase()), "{error}");
            assert!(!paths.lock().unwrap().iter().any(|path| path == "/keys"));
        }
        assert!(JwtVerifier::discover("http://id.example.com").is_err());
    }
}
