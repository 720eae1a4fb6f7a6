//! A scripted MCP server that needs tokens, and its authorization server, on one port.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};

use base64ct::{Base64UrlUnpadded, Encoding as _};
use mcp_adapter::http::Remote;
use serde_json::{Value, json};

use crate::{Answer, Request, Site, Trust, modern};

/// A part of every secret.
pub const PLANTED: &str = "PLANTED";

/// A server whose tokens are numbered from 1; only the latest one, and its refresh token, are good.
#[derive(Debug)]
pub struct Guarded {
    /// Both servers.
    pub site: Site,
    /// Their behavior.
    pub rules: Arc<Rules>,
}

/// The behavior of a [`Guarded`] server.
#[derive(Debug, Default)]
#[allow(missing_docs, reason = "the names are enough")]
pub struct Rules {
    /// Only tool calls need a token.
    pub opens_freely: AtomicBool,
    pub users_refuse: AtomicBool,
    /// Tokens are bound to a key, and each server wants its own nonce.
    pub binds_tokens: AtomicBool,
    is_secure: bool,
    refresh_answer: Mutex<Option<(u16, &'static str)>>,
    issued: AtomicUsize,
    is_revoked: AtomicBool,
    holds_refreshes: Mutex<bool>,
    released: Condvar,
}

impl Guarded {
    /// Starts the servers.
    #[must_use]
    pub fn new() -> Self {
        let rules = Arc::new(Rules::default());
        let played = Arc::clone(&rules);
        Self { site: Site::new(move |request, answer| played.play(request, answer)), rules }
    }

    /// Starts the servers with a certificate; clients reach them at `https` URLs without a port.
    #[must_use]
    pub fn secure(trust: &Trust) -> Self {
        let rules = Arc::new(Rules { is_secure: true, ..Rules::default() });
        let played = Arc::clone(&rules);
        Self { site: trust.site(move |request, answer| played.play(request, answer)), rules }
    }

    /// Returns the address for a client.
    pub fn remote(&self) -> Remote {
        self.site.remote()
    }

    /// Returns how many requests a path has had.
    #[must_use]
    pub fn count(&self, path: &str) -> usize {
        self.site.heard().iter().filter(|it| it.path.split('?').next() == Some(path)).count()
    }

    /// Returns how many times tokens were refreshed.
    #[must_use]
    pub fn refreshes(&self) -> usize {
        self.site.heard().iter().filter(|request| is_refresh(request)).count()
    }
}

impl Default for Guarded {
    fn default() -> Self {
        Self::new()
    }
}

impl Rules {
    /// Revokes the access token.
    pub fn revoke(&self) {
        self.is_revoked.store(true, SeqCst);
    }

    /// Answers refreshes with this status and body.
    pub fn refuse_refreshes(&self, answer: (u16, &'static str)) {
        *self.refresh_answer.lock().unwrap() = Some(answer);
    }

    /// Holds back the answers to refreshes, or sends them.
    pub fn hold_refreshes(&self, holds: bool) {
        *self.holds_refreshes.lock().unwrap() = holds;
        self.released.notify_all();
    }

    fn play(&self, request: &Request, answer: &mut Answer<'_>) {
        let scheme = if self.is_secure { "https" } else { "http" };
        let origin = format!("{scheme}://{}", request.field("host").unwrap());
        let metadata = format!("{origin}/.well-known/oauth-protected-resource/mcp");
        match request.path.split('?').next().unwrap() {
            "/mcp" if self.lacks_nonce(request, "n-mcp") => {
                let challenge = "DPoP error=\"use_dpop_nonce\", algs=\"ES256\"";
                let head = [("www-authenticate", challenge), ("dpop-nonce", "n-mcp")];
                answer.status(401, &head, "");
            }
            "/mcp" if self.admits(request) && !is_forbidden(request) => modern(request, answer),
            "/mcp" => {
                let challenge = format!("{} resource_metadata=\"{metadata}\"", self.scheme());
                answer.status(401, &[("www-authenticate", &challenge)], "");
            }
            "/.well-known/oauth-protected-resource/mcp" => {
                let resource = format!("{origin}/mcp");
                let servers = json!({"resource": resource, "authorization_servers": [origin]});
                answer.json(&[], &servers);
            }
            "/.well-known/oauth-authorization-server" => {
                answer.json(
                    &[],
                    &json!({
                        "issuer": origin,
                        "authorization_endpoint": format!("{origin}/authorize"),
                        "token_endpoint": format!("{origin}/token"),
                        "registration_endpoint": format!("{origin}/register"),
                        "code_challenge_methods_supported": ["S256"],
                        "dpop_signing_alg_values_supported": ["ES256"],
                    }),
                );
            }
            "/register" => {
                let client = json!({"client_id": "row", "token_endpoint_auth_method": "none"});
                answer.status(201, &[("content-type", "application/json")], &client.to_string());
            }
            "/authorize" => self.authorize(request, answer),
            "/token" => self.token(request, answer),
            _ => answer.status(404, &[], ""),
        }
    }

    fn admits(&self, request: &Request) -> bool {
        let good = format!("{} {PLANTED}-access-{}", self.scheme(), self.issued.load(SeqCst));
        let is_good = request.field("authorization") == Some(&good);
        let is_free = self.opens_freely.load(SeqCst) && request.what() != "tools/call";
        is_free || is_good && !self.is_revoked.load(SeqCst)
    }

    fn scheme(&self) -> &'static str {
        if self.binds_tokens.load(SeqCst) { "DPoP" } else { "Bearer" }
    }

    /// Returns whether a request has a proof without the nonce that its server wants.
    fn lacks_nonce(&self, request: &Request, nonce: &str) -> bool {
        let claims = proof_of(request).filter(|_| self.binds_tokens.load(SeqCst));
        claims.is_some_and(|claims| claims["nonce"] != nonce)
    }

    fn authorize(&self, request: &Request, answer: &mut Answer<'_>) {
        let outcome = match self.users_refuse.load(SeqCst) {
            true => {
                "error=access_denied&error_description=Ask%20your%1B%20administrator.".to_owned()
            }
            false => format!("code={PLANTED}-code"),
        };
        let back = redirect_of(&request.path, &outcome);
        answer.status(302, &[("location", &back)], "");
    }

    fn token(&self, request: &Request, answer: &mut Answer<'_>) {
        if self.lacks_nonce(request, "n-as") {
            let head = [("content-type", "application/json"), ("dpop-nonce", "n-as")];
            return answer.status(400, &head, r#"{"error":"use_dpop_nonce"}"#);
        }
        let refused = *self.refresh_answer.lock().unwrap();
        if let Some((status, body)) = refused.filter(|_| is_refresh(request)) {
            return answer.status(status, &[("content-type", "application/json")], body);
        }
        let form = request.body.as_str().unwrap();
        let latest = format!("refresh_token={PLANTED}-refresh-{}", self.issued.load(SeqCst));
        if is_refresh(request) && !form.split('&').any(|pair| pair == latest) {
            let error = [("content-type", "application/json")];
            return answer.status(400, &error, r#"{"error":"invalid_grant"}"#);
        }
        if is_refresh(request) {
            let held = self.holds_refreshes.lock().unwrap();
            drop(self.released.wait_while(held, |holds| *holds).unwrap());
        }
        let number = self.issued.fetch_add(1, SeqCst) + 1;
        self.is_revoked.store(false, SeqCst);
        answer.json(
            &[],
            &json!({
                "access_token": format!("{PLANTED}-access-{number}"), "token_type": self.scheme(),
                "refresh_token": format!("{PLANTED}-refresh-{number}"), "expires_in": 3600,
            }),
        );
    }
}

/// Returns the URL that a user who agrees is redirected to, from the URL of a login.
#[must_use]
pub fn agreed(login: &str) -> String {
    redirect_of(login, &format!("code={PLANTED}-code"))
}

fn redirect_of(login: &str, outcome: &str) -> String {
    let param = |name: &str| {
        let query = login.split('?').nth(1).unwrap();
        let found = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        found.unwrap().to_owned()
    };
    let back = param("redirect_uri").replace("%3A", ":").replace("%2F", "/");
    format!("{back}?{outcome}&state={}", param("state"))
}

/// Returns the claims of the DPoP proof of a request.
pub fn proof_of(request: &Request) -> Option<Value> {
    let claims = request.field("dpop")?.split('.').nth(1).unwrap();
    let claims = Base64UrlUnpadded::decode_vec(claims).unwrap();
    Some(serde_json::from_slice(&claims).unwrap())
}

/// Returns whether no token helps a request: a call of the tool `forbidden`.
fn is_forbidden(request: &Request) -> bool {
    request.field("mcp-name") == Some("forbidden")
}

fn is_refresh(request: &Request) -> bool {
    request.body.as_str().is_some_and(|form| form.contains("grant_type=refresh_token"))
}

/// Fetches an `http` URL like a browser; returns where it redirects to, or nothing.
pub fn browse(url: &str) -> io::Result<String> {
    let rest = url.strip_prefix("http://").unwrap();
    let (authority, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(authority)?;
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n\r\n")?;
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte)? > 0 {
        head.extend(byte);
    }
    let head = String::from_utf8(head).unwrap();
    let location = head.lines().find_map(|line| line.strip_prefix("location: "));
    Ok(location.unwrap_or_default().to_owned())
}
