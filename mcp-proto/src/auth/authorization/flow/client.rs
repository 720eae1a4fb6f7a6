//! The client's identity at the authorization server, and the redirect it is registered with.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use core::mem;
use core::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};

use super::Flow;
use super::step::{
    ClientInUse, ClientSource, Env, HUMAN_TIMEOUT, Outcome, Step, TokenCall, client_key, policy,
};
use crate::auth::authorization::action::{AuthAction, Fetch};
use crate::auth::authorization::config::{GrantKind, KnownClient, Redirect};
use crate::auth::authorization::event::StoreFailure;
use crate::auth::authorization::exchange::Response;
use crate::auth::authorization::ownership::subject_of;
use crate::auth::authorization::storage::{Change, Owner, Use};
use crate::auth::authorization::{
    AuthEvent, AuthInput, Denial, DropReason, Quirk, RecordKey, Stored,
};
use crate::auth::{
    ClientAuthMethod, ClientRecord, LoopbackHost, RegisteredClient, RegistrationRequest,
};
use crate::http::client::HttpMethod;
use crate::secret::Secret;

const LISTEN_TIMEOUT: Duration = Duration::from_secs(5);
const REGISTRATION_TIMEOUT: Duration = Duration::from_secs(30);

/// The errors of a registration that another redirect path may avoid.
// AUT-22.
const REDIRECT_ERRORS: [&str; 2] = ["invalid_redirect_uri", "invalid_client_metadata"];

impl Flow {
    /// Obtains a grant without the refresh token, which is used up or was never there.
    pub(super) fn obtain(&mut self, env: &mut Env<'_>) -> Outcome {
        match &env.config.grant {
            GrantKind::ClientCredentials => {
                self.client = Some(self.known_client(env)?);
                self.request(env, TokenCall::ClientCredentials)
            }
            // A timer asks no user.
            _ if self.is_renewal() => Err(Denial::TimedOut),
            GrantKind::User => self.find_client(env),
            GrantKind::Enterprise(_) | GrantKind::Workload => {
                self.client = Some(self.known_client(env)?);
                if let Some(token) = self.identity.take() {
                    return self.present(env, token);
                }
                env.out.report(AuthEvent::NeedsIdentity);
                self.enter(Step::Identity, Some(env.time.now + HUMAN_TIMEOUT))
            }
        }
    }

    /// Returns the configured client of this authorization server.
    // AUT-23, AUT-43: a client of another one is not used.
    fn known_client(&self, env: &Env<'_>) -> Result<ClientInUse, Denial> {
        let server = self.server()?;
        let issuer = server.issuer.as_str();
        let known = env.config.clients.iter().find(|known| known.issuer == issuer);
        let known = known.ok_or_else(|| Denial::ClientBound { issuer: issuer.into() })?;
        ClientInUse::known(known, server.auth_methods)
    }

    /// Finds out as whom the user authorizes this client.
    // AUT-21: the order.
    fn find_client(&mut self, env: &mut Env<'_>) -> Outcome {
        let server = self.server()?;
        if let Err(error) = server.authorization_endpoint {
            return Err(Denial::Endpoint { issuer: server.issuer.as_str().into(), error });
        }
        if let Ok(known) = self.known_client(env) {
            self.client = Some(known);
            return self.listen(env);
        }
        let documents = self.server()?.client_id_documents;
        if let Some(document) = env.config.document.as_deref().filter(|_| documents) {
            let client = RegisteredClient {
                client_id: document.into(),
                secret: None,
                secret_expires_at: None,
                auth_method: ClientAuthMethod::None,
            };
            self.client = Some(ClientInUse { client, source: ClientSource::Document });
            return self.listen(env);
        }
        let key = self.client_key(env)?;
        env.storage.begin(env.time.now, env.out, key, Owner::State, Use::Read);
        self.enter(Step::Recalling, None)
    }

    pub(super) fn on_recalled(
        &mut self,
        env: &mut Env<'_>,
        read: Result<Option<Secret>, StoreFailure>,
    ) -> Outcome {
        self.client = self.usable_registration(env, read.ok().flatten());
        let registers = self.server()?.registration_endpoint.is_ok();
        if self.client.is_some() || registers {
            return self.listen(env);
        }
        let issuer = self.server()?.issuer.as_str();
        if !env.config.clients.is_empty() {
            return Err(Denial::ClientBound { issuer: issuer.into() });
        }
        env.out.report(AuthEvent::NeedsClient { issuer: issuer.to_string() });
        self.enter(Step::Entering, Some(env.time.now + HUMAN_TIMEOUT))
    }

    /// Returns the stored client, unless it is expired, doubtful or unreadable.
    // AUT-46, AUT-47.
    fn usable_registration(
        &self,
        env: &mut Env<'_>,
        stored: Option<Secret>,
    ) -> Option<ClientInUse> {
        let record = ClientRecord::parse(stored?.expose().as_bytes(), &env.config.limits);
        let why = match record {
            Ok(record) if self.server().ok()?.issuer.as_str() != &*record.issuer => {
                DropReason::IssuerChanged
            }
            Ok(record) if record.client.is_expired(env.time.unix) => DropReason::Expired,
            Ok(record) if record.is_doubtful => DropReason::Refused,
            Ok(record) => {
                let client = record.client.clone();
                return Some(ClientInUse { client, source: ClientSource::Stored(record.into()) });
            }
            Err(_) => DropReason::Unreadable,
        };
        env.out.report(AuthEvent::Dropped { what: Stored::Registration, why });
        None
    }

    /// Takes an answer of the application.
    pub(in crate::auth::authorization) fn on_input(
        &mut self,
        env: &mut Env<'_>,
        input: AuthInput,
    ) -> Outcome {
        match (mem::replace(&mut self.step, Step::Over), input) {
            (Step::Entering | Step::Identity | Step::Asking(_), AuthInput::Cancel) => {
                Err(Denial::Cancelled)
            }
            (Step::Entering, AuthInput::Unable) => {
                Err(Denial::NoClient { issuer: self.server()?.issuer.as_str().into() })
            }
            (Step::Identity, AuthInput::Unable) => Err(Denial::NoIdentity),
            (Step::Asking(_), AuthInput::Unable) => Err(Denial::NoBrowser),
            (Step::Entering, AuthInput::Client { id, secret }) => {
                let issuer = self.server()?.issuer.as_str().into();
                let known = KnownClient { issuer, id, secret, key: None };
                let client = ClientInUse::known(&known, self.server()?.auth_methods)?;
                self.client = Some(ClientInUse { source: ClientSource::New, ..client });
                self.listen(env)
            }
            (Step::Identity, AuthInput::Identity(token)) => self.present(env, token),
            (step, _) => {
                self.step = step;
                Ok(None)
            }
        }
    }

    /// Presents an identity assertion, and remembers whose it is.
    fn present(&mut self, env: &mut Env<'_>, token: Secret) -> Outcome {
        self.subject = Some(subject_of(&token, &env.config.limits));
        match env.config.grant {
            GrantKind::Enterprise(_) => self.request(env, TokenCall::Exchange(token)),
            _ => self.request(env, TokenCall::Assertion(token)),
        }
    }

    /// Opens the listener for the redirect, unless the application has one.
    fn listen(&mut self, env: &mut Env<'_>) -> Outcome {
        let (host, fixed, path) = match &env.config.redirect {
            Redirect::Fixed(uri) | Redirect::Scheme(uri) => {
                self.redirect.uri.clone_from(uri);
                return self.use_redirect(env);
            }
            Redirect::Loopback { host, port, path } => (*host, *port, path),
        };
        let (port, path) = match self.client.as_ref().map(|client| &client.source) {
            Some(ClientSource::Stored(record)) => split_redirect(host, &record.redirect_uri),
            None if !self.redirect.has_plain_path => (None, self.path_of_issuer(path)?),
            _ => (None, path.clone()),
        };
        self.redirect.uri = path.clone();
        self.redirect.is_listening = true;
        env.out.act(AuthAction::Listen { host, port: fixed.or(port), path: path.into() });
        self.enter(Step::Listening, Some(env.time.now + LISTEN_TIMEOUT))
    }

    /// Returns the path with a segment for the issuer: redirects of another one are not found.
    // RFC 9700 §4.4.2: a defence against mix-up that needs no `iss`.
    fn path_of_issuer(&self, path: &str) -> Result<String, Denial> {
        let hash = Sha256::digest(self.server()?.issuer.as_str().as_bytes());
        let segment = Base64UrlUnpadded::encode_string(hash.get(..12).unwrap_or_default());
        Ok(format!("{}/{segment}", path.trim_end_matches('/')))
    }

    pub(in crate::auth::authorization) fn on_listening(
        &mut self,
        env: &mut Env<'_>,
        port: Option<u16>,
    ) -> Outcome {
        if !matches!(self.step, Step::Listening) {
            return Ok(None);
        }
        let Some(port) = port else {
            self.redirect.is_listening = false;
            return Err(Denial::NoListener);
        };
        if let Redirect::Loopback { host, port: fixed, .. } = &env.config.redirect {
            // AUT-48: the authorization server knows this port only.
            if let Some(fixed) = fixed.filter(|fixed| *fixed != port) {
                return Err(Denial::PortTaken { port: fixed });
            }
            self.redirect.uri = format!("http://{host}:{port}{}", self.redirect.uri);
        }
        self.use_redirect(env)
    }

    /// Continues once the redirect URI is known.
    // AUT-48: it is the registered one, or a new one is registered.
    fn use_redirect(&mut self, env: &mut Env<'_>) -> Outcome {
        let registers = self.server()?.registration_endpoint.is_ok();
        match self.client.as_ref().map(|client| &client.source) {
            Some(ClientSource::Stored(record)) if *record.redirect_uri != *self.redirect.uri => {
                if registers {
                    self.register(env)
                } else {
                    self.ask(env)
                }
            }
            Some(ClientSource::New) => {
                self.save_client(env)?;
                self.ask(env)
            }
            Some(_) => self.ask(env),
            None => self.register(env),
        }
    }

    pub(super) fn register(&mut self, env: &mut Env<'_>) -> Outcome {
        self.client = None;
        let server = self.server()?;
        let endpoint = server.registration_endpoint.clone();
        let endpoint =
            endpoint.map_err(|_| Denial::NoClient { issuer: server.issuer.as_str().into() })?;
        let request = RegistrationRequest {
            client_name: &env.config.name,
            redirect_uris: &[&self.redirect.uri],
            auth_method: ClientAuthMethod::to_register(server.auth_methods),
            wants_refresh_tokens: env.config.refreshes,
            // A client may only use the scopes that it registers with: a later step-up would fail.
            scopes: None,
        };
        let body = String::from_utf8(request.to_json()).unwrap_or_default();
        let json = || "application/json".to_string();
        let fetch = Fetch {
            id: env.out.fetch_id(),
            method: HttpMethod::Post,
            url: endpoint.as_str().into(),
            headers: vec![
                (Cow::Borrowed("Accept"), json()),
                (Cow::Borrowed("Content-Type"), json()),
            ],
            authorization: None,
            body: Secret::new(body),
            reach: policy(env.config).reach(),
            redirects_max: 0,
            cross_origin: false,
        };
        self.fetch(env, fetch, env.config.limits.registration_bytes_max, REGISTRATION_TIMEOUT)?;
        self.step = Step::Registering;
        Ok(None)
    }

    pub(super) fn on_registered(&mut self, env: &mut Env<'_>, response: &Response) -> Outcome {
        self.failures = 0;
        let requested = ClientAuthMethod::to_register(self.server()?.auth_methods);
        let (status, limits) = (response.status, &env.config.limits);
        let client = match RegisteredClient::parse(status, response.body(), requested, limits) {
            Ok(client) => client,
            Err(error) => {
                let is_about_redirect = REDIRECT_ERRORS.iter().any(|code| error.is(code));
                if is_about_redirect && self.redirect.is_listening && !self.redirect.has_plain_path
                {
                    self.redirect.has_plain_path = true;
                    env.out.act(AuthAction::Unlisten);
                    return self.listen(env);
                }
                let issuer = self.server()?.issuer.as_str().into();
                return Err(Denial::Registration { issuer, error });
            }
        };
        self.client = Some(ClientInUse { client, source: ClientSource::New });
        self.save_client(env)?;
        self.ask(env)
    }

    /// Saves a new client, in the background.
    fn save_client(&self, env: &mut Env<'_>) -> Result<(), Denial> {
        let Some(client) = &self.client else { return Ok(()) };
        let record = ClientRecord {
            issuer: self.server()?.issuer.as_str().into(),
            redirect_uri: self.redirect.uri.as_str().into(),
            client: client.client.clone(),
            is_doubtful: false,
        };
        self.change_client(env, Change::Put(record.to_json()))
    }

    pub(super) fn change_client(&self, env: &mut Env<'_>, change: Change) -> Result<(), Denial> {
        let key = self.client_key(env)?;
        let what = Use::Change(change);
        env.storage.begin(env.time.now, env.out, key, Owner::Background, what);
        Ok(())
    }

    fn client_key(&self, env: &Env<'_>) -> Result<RecordKey, Denial> {
        Ok(client_key(env.config, self.server()?.issuer.as_str()))
    }

    /// Returns the `resource` parameter, unless there is none in this revision or for this server.
    // AUT-14, AUT-49, D-A07.
    pub(super) fn resource_param(&self, env: &mut Env<'_>) -> Option<Box<str>> {
        let resource = self.target.id();
        if resource.is_some() && env.config.quirks.without_resource {
            env.out.report(AuthEvent::Deviated(Quirk::WithoutResource));
            return None;
        }
        resource
    }
}

/// Returns the port and the path of a loopback redirect URI.
fn split_redirect(host: LoopbackHost, uri: &str) -> (Option<u16>, String) {
    let rest = uri.strip_prefix("http://").and_then(|rest| rest.strip_prefix(host.as_str()));
    let rest = rest.and_then(|rest| rest.strip_prefix(':')).unwrap_or_default();
    let (port, path) = rest.split_once('/').unwrap_or((rest, ""));
    (port.parse().ok(), format!("/{path}"))
}
