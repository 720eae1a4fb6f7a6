//! A scripted MCP server of a company, its authorization server and its identity provider, on one
//! port. Each token says whose it is.

use std::fmt::Write as _;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use mcp_adapter::auth::Auth;
use mcp_adapter::http::Remote;
use mcp_adapter::proto::Secret;
use mcp_adapter::proto::auth::{AuthLimits, IdentityProvider, KnownClient, Uri};
use serde_json::{Value, json};

use crate::{Answer, Request, Site, modern};

/// The servers of a company. Tokens are `Bearer of-WHO-NUMBER`: of the subject of an identity, or
/// of a client.
#[derive(Debug)]
pub struct Company {
    /// All servers.
    pub site: Site,
}

impl Company {
    /// Starts the servers.
    #[must_use]
    pub fn new() -> Self {
        Self { site: Site::new(play) }
    }

    /// Returns the address for a client.
    pub fn remote(&self) -> Remote {
        self.site.remote()
    }

    /// Returns a client of the authorization server.
    pub fn client(&self, id: &str) -> KnownClient {
        KnownClient::new(&self.origin(), id)
    }

    /// Returns the authorization of a user of the company.
    pub fn enterprise(&self, user: &'static str) -> Auth {
        let endpoint = Uri::parse(&format!("{}/idp", self.origin()), &AuthLimits::default());
        let provider = IdentityProvider::new(endpoint.unwrap(), KnownClient::new("idp", "app"));
        Auth::enterprise(provider, self.client("app"), move || Some(identity(user)))
    }

    /// Returns the authorization of a workload of the company.
    pub fn workload(&self, name: &'static str) -> Auth {
        Auth::workload(self.client("app"), move || Some(identity(name)))
    }

    /// Returns the credentials of all tool calls, in order.
    #[must_use]
    pub fn callers(&self) -> Vec<Option<String>> {
        let calls = self.site.of("tools/call");
        calls.iter().map(|it| it.field("authorization").map(str::to_owned)).collect()
    }

    /// Answers a request, as the servers do.
    pub fn play(&self, request: &Request, answer: &mut Answer<'_>) {
        play(request, answer);
    }

    fn origin(&self) -> String {
        self.site.url().trim_end_matches("/mcp").to_owned()
    }
}

impl Default for Company {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns an identity assertion.
fn identity(subject: &str) -> Secret {
    let claims = json!({"iss": "https://idp.example", "sub": subject}).to_string();
    let encode = |text: &str| Base64UrlUnpadded::encode_string(text.as_bytes());
    Secret::new(format!("{}.{}.{}", encode("{}"), encode(&claims), encode("signature")))
}

fn play(request: &Request, answer: &mut Answer<'_>) {
    let origin = format!("http://{}", request.field("host").unwrap());
    let json_head = [("content-type", "application/json")];
    match request.path.split('?').next().unwrap() {
        "/mcp" if request.field("authorization").is_some_and(|it| it.starts_with("Bearer of-")) => {
            modern(request, answer);
        }
        "/mcp" => answer.status(401, &[("www-authenticate", "Bearer")], ""),
        "/.well-known/oauth-protected-resource/mcp" => {
            let resource = format!("{origin}/mcp");
            answer.json(&[], &json!({"resource": resource, "authorization_servers": [origin]}));
        }
        "/.well-known/oauth-authorization-server" => answer.json(
            &[],
            &json!({
                "issuer": origin,
                "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"),
                "registration_endpoint": format!("{origin}/register"),
                "code_challenge_methods_supported": ["S256"],
            }),
        ),
        "/register" => {
            let client = json!({"client_id": request.body["client_name"]});
            answer.status(201, &json_head, &client.to_string());
        }
        "/authorize" => {
            let param = |name| param(&request.path, name).unwrap();
            let back = param("redirect_uri");
            let back = format!("{back}?code={}&state={}", param("client_id"), param("state"));
            answer.status(302, &[("location", &back)], "");
        }
        "/idp" => {
            let assertion = form(request, "subject_token").unwrap();
            answer.json(
                &[],
                &json!({
                    "access_token": assertion, "token_type": "N_A",
                    "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
                }),
            );
        }
        "/token" => {
            let assertion =
                form(request, "assertion").or_else(|| form(request, "client_assertion"));
            let who = match assertion {
                Some(assertion) => subject_of(&assertion),
                // A client with a secret names itself in a header.
                None => form(request, "code")
                    .or_else(|| form(request, "client_id"))
                    .unwrap_or_else(|| "batch".to_owned()),
            };
            let token = format!("of-{who}-{}", request.nth);
            let answered = json!({
                "access_token": token, "token_type": "Bearer", "expires_in": 3600,
            });
            answer.json(&[], &answered);
        }
        _ => answer.status(404, &[], ""),
    }
}

fn subject_of(token: &str) -> String {
    let claims = Base64UrlUnpadded::decode_vec(token.split('.').nth(1).unwrap()).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    claims["sub"].as_str().unwrap().to_owned()
}

fn form(request: &Request, name: &str) -> Option<String> {
    param(&format!("?{}", request.body.as_str()?), name)
}

/// Returns a parameter of a query, decoded.
fn param(url: &str, name: &str) -> Option<String> {
    let query = url.split_once('?')?.1;
    let value = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))?;
    let mut decoded = String::new();
    let mut parts = value.split('%');
    decoded.push_str(parts.next()?);
    for part in parts {
        let code = u8::from_str_radix(part.get(..2)?, 16).ok()?;
        write!(decoded, "{}{}", char::from(code), part.get(2..)?).ok()?;
    }
    Some(decoded)
}
