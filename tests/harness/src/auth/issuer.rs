//! [`Issuer`]: a small authorization server, as a reference model.

use std::collections::{BTreeMap, BTreeSet};

use mcp_proto::auth::Fetch;
use serde_json::{Value, json};

/// A status and a body.
pub(super) type Answer = (u16, String);

/// An authorization server: single-use codes, rotating refresh tokens, reuse detection.
///
/// What it issues names the server: `code-1@as.example`.
#[derive(Clone, Debug)]
pub struct Issuer {
    /// The identifier.
    pub issuer: String,
    /// The metadata.
    pub metadata: Value,
    /// Where the metadata are.
    pub location: String,
    /// The `iss` of its redirects.
    pub iss: Option<String>,
    /// The lifetime of access tokens, in seconds.
    pub lifetime: u64,
    /// Whether refresh tokens are issued.
    pub refreshes: bool,
    /// The error of token requests.
    pub token_error: Option<(u16, &'static str)>,
    /// The error of registrations.
    pub registration_error: Option<&'static str>,
    /// The ids of the registered clients.
    pub clients: BTreeSet<String>,
    codes: BTreeMap<String, (String, String)>,
    live: BTreeMap<String, u64>,
    used: BTreeMap<String, u64>,
    revoked: BTreeSet<u64>,
    serial: u64,
    /// What no client may do.
    pub offences: Vec<String>,
}

impl Issuer {
    /// Creates the authorization server of an issuer without a path.
    #[must_use]
    pub fn new(issuer: &str) -> Self {
        Self {
            issuer: issuer.to_owned(),
            metadata: json!({
                "issuer": issuer,
                "authorization_endpoint": format!("{issuer}/authorize"),
                "token_endpoint": format!("{issuer}/token"),
                "registration_endpoint": format!("{issuer}/register"),
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": true,
            }),
            location: format!("{issuer}/.well-known/oauth-authorization-server"),
            iss: Some(issuer.to_owned()),
            lifetime: 3600,
            refreshes: true,
            token_error: None,
            registration_error: None,
            clients: BTreeSet::new(),
            codes: BTreeMap::new(),
            live: BTreeMap::new(),
            used: BTreeMap::new(),
            revoked: BTreeSet::new(),
            serial: 0,
            offences: Vec::new(),
        }
    }

    /// Forgets all refresh tokens.
    pub fn revoke(&mut self) {
        self.live.clear();
    }

    /// Returns the host, which everything issued ends with.
    pub(super) fn host(&self) -> &str {
        self.issuer.split('/').nth(2).unwrap_or_default()
    }

    fn issue(&mut self, what: &str) -> String {
        self.serial += 1;
        format!("{what}-{}@{}", self.serial, self.host())
    }

    /// Answers a request; `None` if it is for another server.
    pub(super) fn answer(&mut self, fetch: &Fetch) -> Option<Answer> {
        let url = &*fetch.url;
        if url == self.location {
            return Some((200, self.metadata.to_string()));
        }
        let is = |name: &str| self.metadata[name] == *url;
        if is("token_endpoint") {
            Some(self.token(fetch))
        } else if is("registration_endpoint") {
            Some(self.register())
        } else {
            None
        }
    }

    fn register(&mut self) -> Answer {
        if let Some(error) = self.registration_error {
            return (400, json!({"error": error}).to_string());
        }
        let id = self.issue("client");
        self.clients.insert(id.clone());
        (201, json!({"client_id": id}).to_string())
    }

    /// Lets the user agree; returns the query of the redirect.
    pub(super) fn authorize(&mut self, params: &BTreeMap<String, String>) -> String {
        let get = |name: &str| params.get(name).cloned().unwrap_or_default();
        if get("code_challenge_method") != "S256" {
            self.offences.push("no PKCE".to_owned());
        }
        let code = self.issue("code");
        self.codes.insert(code.clone(), (get("client_id"), get("redirect_uri")));
        format!("code={code}&{}", self.redirect(params))
    }

    /// Returns the query of a redirect without its code or error.
    pub(super) fn redirect(&self, params: &BTreeMap<String, String>) -> String {
        let state = params.get("state").map_or("", String::as_str);
        match &self.iss {
            Some(iss) => format!("state={state}&iss={iss}"),
            None => format!("state={state}"),
        }
    }

    fn token(&mut self, fetch: &Fetch) -> Answer {
        let params = params(fetch.body.expose());
        let get = |name: &str| params.get(name).cloned().unwrap_or_default();
        if let Some((status, error)) = self.token_error {
            return (status, json!({"error": error}).to_string());
        }
        let refused = (400, json!({"error": "invalid_grant"}).to_string());
        let family = match &*get("grant_type") {
            "authorization_code" => {
                let Some((client, redirect)) = self.codes.remove(&get("code")) else {
                    self.offences.push(format!("no such code: {}", get("code")));
                    return refused;
                };
                let is_client = client == get("client_id") || fetch.authorization.is_some();
                if !is_client || redirect != get("redirect_uri") {
                    self.offences.push("a code is redeemed for another request".to_owned());
                }
                self.serial += 1;
                self.serial
            }
            "refresh_token" => {
                let token = get("refresh_token");
                if let Some(family) = self.used.get(&token) {
                    self.revoked.insert(*family);
                    self.offences.push("a refresh token is used twice".to_owned());
                    return refused;
                }
                let Some(family) = self.live.remove(&token) else { return refused };
                self.used.insert(token, family);
                if self.revoked.contains(&family) {
                    return refused;
                }
                family
            }
            _ => 0,
        };
        let access = self.issue("access");
        let mut answer = json!({"access_token": access, "token_type": "Bearer"});
        answer["expires_in"] = self.lifetime.into();
        if self.refreshes && family != 0 {
            let refresh = self.issue("refresh");
            self.live.insert(refresh.clone(), family);
            answer["refresh_token"] = refresh.into();
        }
        (200, answer.to_string())
    }
}

/// Decodes a form.
pub(super) fn params(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

fn decoded(text: &str) -> String {
    let text = text.replace('+', " ");
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).unwrap_or(("", part));
        bytes.extend(u8::from_str_radix(digits, 16));
        bytes.extend(rest.bytes());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
