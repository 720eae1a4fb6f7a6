//! A small authorization server, as a reference model, with the metadata of the MCP server.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::auth::Fetch;
use crate::auth::form;
use crate::http::client::HttpMethod;

pub(super) type Response = (u16, String);

/// What the redirects say about their issuer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Iss {
    #[default]
    Right,
    Missing,
    Wrong,
}

#[derive(Debug)]
struct Code {
    challenge: String,
    client: String,
    redirect: String,
    resource: Option<String>,
    scope: String,
}

#[derive(Debug)]
struct Refresh {
    client: String,
    scope: String,
    family: u64,
    key: Option<String>,
}

/// The authorization server of one issuer.
#[derive(Debug)]
pub(super) struct AuthServer {
    pub(super) issuer: String,
    pub(super) metadata: Value,
    /// Where the metadata are; other locations answer 404.
    pub(super) location: String,
    pub(super) iss: Iss,
    pub(super) refuses_user: bool,
    pub(super) gives_refresh: bool,
    /// Whether grants without a code have a refresh token, too.
    pub(super) gives_refresh_to_all: bool,
    pub(super) lifetime: Option<u64>,
    /// The error of the next token requests.
    pub(super) token_error: Option<(u16, &'static str)>,
    /// The answer to the next refreshes.
    pub(super) refresh_answer: Option<(u16, &'static str)>,
    /// Refuses refreshes that name scopes.
    pub(super) refuses_scope: bool,
    pub(super) registers: bool,
    pub(super) clients: BTreeMap<String, Option<String>>,
    codes: BTreeMap<String, Code>,
    refreshes: BTreeMap<String, Refresh>,
    /// The nonce that proofs must have, if any; a demand for it is sent with it.
    pub(super) nonce: Option<String>,
    pub(super) nonce_header: Option<String>,
    /// The claims of all proofs.
    pub(super) proofs: Vec<Value>,
    /// The key that each access token is bound to.
    pub(super) bound: BTreeMap<String, String>,
    /// Whether the server ignores proofs, or binds tokens without one.
    pub(super) mistakes_dpop: bool,
    used: BTreeMap<String, u64>,
    revoked: BTreeSet<u64>,
    pub(super) tokens: BTreeMap<String, String>,
    serial: u64,
    /// What was asked, in order.
    pub(super) log: Vec<String>,
    /// The scope parameter of each authorization request.
    pub(super) scopes: Vec<Option<String>>,
    /// What no client may do.
    pub(super) offences: Vec<String>,
}

impl AuthServer {
    pub(super) fn new(issuer: &str) -> Self {
        let origin = issuer.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
        Self {
            issuer: issuer.to_owned(),
            metadata: json!({
                "issuer": issuer,
                "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"),
                "registration_endpoint": format!("{origin}/register"),
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": true,
            }),
            location: format!("{origin}/.well-known/oauth-authorization-server"),
            iss: Iss::Right,
            refuses_user: false,
            gives_refresh: true,
            gives_refresh_to_all: false,
            lifetime: Some(3600),
            token_error: None,
            refresh_answer: None,
            refuses_scope: false,
            registers: true,
            clients: BTreeMap::new(),
            codes: BTreeMap::new(),
            refreshes: BTreeMap::new(),
            nonce: None,
            nonce_header: None,
            proofs: Vec::new(),
            bound: BTreeMap::new(),
            mistakes_dpop: false,
            used: BTreeMap::new(),
            revoked: BTreeSet::new(),
            tokens: BTreeMap::new(),
            serial: 0,
            log: Vec::new(),
            scopes: Vec::new(),
            offences: Vec::new(),
        }
    }

    /// Answers a request; `None` if it is for another server.
    pub(super) fn answer(&mut self, fetch: &Fetch) -> Option<Response> {
        let url = &*fetch.url;
        let endpoint = |name: &str| self.metadata.get(name).and_then(Value::as_str) == Some(url);
        if url == self.location {
            self.log.push("metadata".to_owned());
            return Some((200, self.metadata.to_string()));
        }
        if endpoint("token_endpoint") && fetch.method == HttpMethod::Post {
            return Some(self.token(fetch));
        }
        if endpoint("registration_endpoint") && fetch.method == HttpMethod::Post {
            return Some(self.register(fetch));
        }
        None
    }

    fn next(&mut self, name: &str) -> String {
        self.serial += 1;
        format!("PLANTED-{name}-{}", self.serial)
    }

    fn register(&mut self, fetch: &Fetch) -> Response {
        self.log.push("register".to_owned());
        let request: Value = serde_json::from_str(fetch.body.expose()).unwrap();
        assert!(request["redirect_uris"][0].is_string(), "{request}");
        // RFC 7591: it would keep the client from other scopes later.
        assert!(request["scope"].is_null(), "{request}");
        if !self.registers {
            return (400, json!({"error": "invalid_redirect_uri"}).to_string());
        }
        self.serial += 1;
        let id = format!("client-{}", self.serial);
        let secret = (request["token_endpoint_auth_method"] != "none").then(|| self.next("secret"));
        self.clients.insert(id.clone(), secret.clone());
        (201, json!({"client_id": id, "client_secret": secret.unwrap_or_default()}).to_string())
    }

    /// Handles an authorization request; returns the query of the redirect.
    pub(super) fn authorize(&mut self, url: &str) -> String {
        let (_, query) = url.split_once('?').unwrap();
        let params: BTreeMap<_, _> = form::parse(query).unwrap().into_iter().collect();
        let get = |name: &str| params.get(name).map(|value| value.to_string());
        self.log.push("authorize".to_owned());
        self.scopes.push(get("scope"));
        let client = get("client_id").unwrap();
        if !self.clients.contains_key(&client) && !client.starts_with("https://") {
            self.offences.push(format!("unknown client {client}"));
        }
        assert_eq!(get("code_challenge_method").as_deref(), Some("S256"));
        let code = self.next("code");
        let entry = Code {
            challenge: get("code_challenge").unwrap(),
            client,
            redirect: get("redirect_uri").unwrap(),
            resource: get("resource"),
            scope: get("scope").unwrap_or_default(),
        };
        self.codes.insert(code.clone(), entry);
        let mut out = format!("state={}", get("state").unwrap());
        match self.iss {
            Iss::Right => out += &format!("&iss={}", self.issuer),
            Iss::Wrong => out += "&iss=https://evil.example",
            Iss::Missing => {}
        }
        out + &if self.refuses_user {
            "&error=access_denied".to_owned()
        } else {
            format!("&code={code}")
        }
    }

    fn token(&mut self, fetch: &Fetch) -> Response {
        let pairs = form::parse(fetch.body.expose()).unwrap();
        let params: BTreeMap<_, _> = pairs.into_iter().collect();
        let get = |name: &str| params.get(name).map(|value| value.to_string());
        let grant = get("grant_type").unwrap();
        let short = grant.rsplit(':').next().unwrap_or_default().to_owned();
        self.log.push(format!("token {short}"));
        if let Some((status, error)) = self.token_error {
            return (status, json!({"error": error}).to_string());
        }
        if let Some((status, body)) = self.refresh_answer.filter(|_| short == "refresh_token") {
            return (status, body.to_owned());
        }
        if self.refuses_scope && short == "refresh_token" && get("scope").is_some() {
            return (400, json!({"error": "invalid_scope"}).to_string());
        }
        let key = self.proven_key(fetch);
        if self.demands_nonce() {
            self.nonce_header.clone_from(&self.nonce);
            return (400, json!({"error": "use_dpop_nonce"}).to_string());
        }
        let basic = fetch.authorization.as_ref().map(|header| {
            let text = header.expose().strip_prefix("Basic ").unwrap();
            let pair = String::from_utf8(Base64::decode_vec(text).unwrap()).unwrap();
            let (id, secret) = pair.split_once(':').unwrap();
            (id.to_owned(), Some(secret.to_owned()))
        });
        let (client, secret) = basic
            .or_else(|| get("client_id").map(|id| (id, get("client_secret"))))
            .or_else(|| get("client_assertion").map(|_| ("signed".to_owned(), None)))
            .unwrap_or_default();
        let is_document = client.starts_with("https://");
        if !is_document && self.clients.get(&client) != Some(&secret) {
            return (401, json!({"error": "invalid_client"}).to_string());
        }
        let refused = (400, json!({"error": "invalid_grant"}).to_string());
        let (scope, family) = match &*grant {
            "authorization_code" => {
                let Some(code) = self.codes.remove(&get("code").unwrap()) else { return refused };
                let verifier = get("code_verifier").unwrap();
                let hash = Base64UrlUnpadded::encode_string(&Sha256::digest(verifier));
                let is_right = hash == code.challenge
                    && code.client == client
                    && Some(code.redirect) == get("redirect_uri")
                    && code.resource == get("resource");
                if !is_right {
                    self.offences.push("code redeemed wrongly".to_owned());
                    return refused;
                }
                self.serial += 1;
                (code.scope, self.serial)
            }
            "refresh_token" => {
                let token = get("refresh_token").unwrap();
                if let Some(family) = self.used.get(&token) {
                    // Reuse detection: the whole family is revoked.
                    self.revoked.insert(*family);
                    self.offences.push("refresh token used twice".to_owned());
                    return refused;
                }
                let Some(refresh) = self.refreshes.remove(&token) else { return refused };
                self.used.insert(token, refresh.family);
                let is_unbound = refresh.key.is_some() && refresh.key != key;
                if self.revoked.contains(&refresh.family) || refresh.client != client || is_unbound
                {
                    return refused;
                }
                (refresh.scope, refresh.family)
            }
            _ => {
                self.serial += u64::from(self.gives_refresh_to_all);
                let family = if self.gives_refresh_to_all { self.serial } else { 0 };
                (get("scope").unwrap_or_default(), family)
            }
        };
        self.issue(&client, &scope, family, key)
    }

    /// Checks the proof of a request; returns the thumbprint of its key.
    fn proven_key(&mut self, fetch: &Fetch) -> Option<String> {
        let (_, proof) = fetch.headers.iter().find(|(name, _)| name == "DPoP")?;
        let [header, claims, signature] = proof.split('.').collect::<Vec<_>>().try_into().unwrap();
        let decode = |part: &str| Base64UrlUnpadded::decode_vec(part).unwrap();
        let header: Value = serde_json::from_slice(&decode(header)).unwrap();
        let claims: Value = serde_json::from_slice(&decode(claims)).unwrap();
        let is_repeated = self.proofs.iter().any(|other| other["jti"] == claims["jti"]);
        let is_right = header["typ"] == "dpop+jwt"
            && claims["htm"] == "POST"
            && claims["htu"] == *fetch.url
            && claims.get("ath").is_none()
            && decode(signature).len() == 64
            && !is_repeated;
        if !is_right {
            self.offences.push(format!("wrong proof {header} {claims}"));
        }
        self.proofs.push(claims);
        let member = |name: &str| header["jwk"][name].as_str().unwrap().to_owned();
        let [x, y] = [member("x"), member("y")].map(|it| decode(&it).try_into().unwrap());
        let key = crate::auth::PublicKey { x, y };
        Some(key.thumbprint()).filter(|_| !self.mistakes_dpop)
    }

    fn demands_nonce(&self) -> bool {
        let wanted = self.nonce.as_deref().filter(|_| !self.proofs.is_empty());
        wanted.is_some_and(|nonce| self.proofs.last().unwrap()["nonce"] != nonce)
    }

    fn issue(&mut self, client: &str, scope: &str, family: u64, key: Option<String>) -> Response {
        let access = self.next("access");
        self.tokens.insert(access.clone(), scope.to_owned());
        let mut answer = json!({"access_token": access, "token_type": "bearer", "scope": scope});
        if key.is_some() || self.mistakes_dpop && self.proofs.is_empty() {
            answer["token_type"] = "DPoP".into();
        }
        if let Some(key) = key.clone() {
            self.bound.insert(access, key);
        }
        if let Some(lifetime) = self.lifetime {
            answer["expires_in"] = lifetime.into();
        }
        if self.gives_refresh && family != 0 {
            let refresh = self.next("refresh");
            answer["refresh_token"] = refresh.clone().into();
            let (client, scope) = (client.to_owned(), scope.to_owned());
            self.refreshes.insert(refresh, Refresh { client, scope, family, key });
        }
        (200, answer.to_string())
    }

    /// Returns whether a refresh token is valid.
    pub(super) fn takes(&self, token: &str) -> bool {
        let refresh = self.refreshes.get(token);
        refresh.is_some_and(|refresh| !self.revoked.contains(&refresh.family))
    }

    /// Forgets all refresh tokens.
    pub(super) fn revoke(&mut self) {
        self.refreshes.clear();
    }

    pub(super) fn count(&self, what: &str) -> usize {
        self.log.iter().filter(|entry| *entry == what).count()
    }
}
