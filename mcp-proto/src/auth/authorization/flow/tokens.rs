//! Requests to token endpoints, and their responses.

use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::vec;
use core::mem;
use core::time::Duration;

use super::Flow;
use super::step::{
    ClientInUse, ClientSource, Env, Granted, Origin, Outcome, Step, TokenCall, policy,
};
use crate::auth::authorization::action::{AuthAction, Fetch};
use crate::auth::authorization::config::GrantKind;
use crate::auth::authorization::exchange::{Outage, Response};
use crate::auth::authorization::storage::{Change, Owner, Use};
use crate::auth::authorization::{AuthEvent, Denial, DropReason, Stored};
use crate::auth::{
    ClientAuthMethod, ClientAuthentication, EncodedTokenRequest, GrantRecord, Reach, Scopes,
    StoredTokens, TokenError, TokenGrant, TokenRequest, TokenResponse, Uri,
};
use crate::http::client::HttpMethod;
use crate::secret::Secret;

pub(super) const TOKEN_TIMEOUT: Duration = Duration::from_secs(30);

impl Flow {
    /// Sends a token request, after its assertion and its DPoP proof are signed, if there are any.
    pub(super) fn request(&mut self, env: &mut Env<'_>, call: TokenCall) -> Outcome {
        match self.caller(env, &call)?.client.auth_method {
            ClientAuthMethod::PrivateKeyJwt => self.sign_assertion(env, call),
            _ => self.prove(env, call, None),
        }
    }

    /// Returns the client that makes a request: at the identity provider it is another one.
    pub(super) fn caller<'a>(
        &'a self,
        env: &Env<'_>,
        call: &TokenCall,
    ) -> Result<Cow<'a, ClientInUse>, Denial> {
        match (&env.config.grant, call, &self.client) {
            (GrantKind::Enterprise(provider), TokenCall::Exchange(_), _) => {
                ClientInUse::known(&provider.client, None).map(Cow::Owned)
            }
            (_, _, Some(client)) => Ok(Cow::Borrowed(client)),
            (_, _, None) => Err(Denial::NoClient { issuer: self.server()?.issuer.as_str().into() }),
        }
    }

    pub(super) fn token_endpoint(&self, env: &Env<'_>, call: &TokenCall) -> Result<Uri, Denial> {
        match (&env.config.grant, call) {
            (GrantKind::Enterprise(provider), TokenCall::Exchange(_)) => {
                Ok(provider.token_endpoint.clone())
            }
            _ => {
                let server = self.server()?;
                let issuer = || server.issuer.as_str().into();
                let endpoint = server.token_endpoint.clone();
                endpoint.map_err(|error| Denial::Endpoint { issuer: issuer(), error })
            }
        }
    }

    pub(super) fn send(
        &mut self,
        env: &mut Env<'_>,
        call: TokenCall,
        assertion: Option<&Secret>,
        proof: Option<&Secret>,
    ) -> Outcome {
        let endpoint = self.token_endpoint(env, &call)?;
        let encoded = self.encode(env, &call, assertion)?;
        // The application names the identity provider, which may be in its own network.
        let reach = match &call {
            TokenCall::Exchange(_) => Reach::Loopback,
            _ => policy(env.config).reach(),
        };
        let header = |name, value: &str| (Cow::Borrowed(name), value.to_string());
        let mut headers = vec![
            header("Accept", "application/json"),
            header("Content-Type", "application/x-www-form-urlencoded"),
        ];
        headers.extend(proof.map(|proof| header("DPoP", proof.expose())));
        let fetch = Fetch {
            id: env.out.fetch_id(),
            method: HttpMethod::Post,
            url: endpoint.as_str().into(),
            headers,
            authorization: encoded.authorization,
            body: encoded.body,
            reach,
            redirects_max: 0,
            cross_origin: false,
        };
        self.fetch(env, fetch, env.config.limits.token_response_bytes_max, TOKEN_TIMEOUT)?;
        self.step = Step::Requesting(call);
        Ok(None)
    }

    fn encode(
        &mut self,
        env: &mut Env<'_>,
        call: &TokenCall,
        assertion: Option<&Secret>,
    ) -> Result<EncodedTokenRequest, Denial> {
        let verifier = self.secrets.verifier();
        let resource = self.resource_param(env);
        let scopes = match call {
            TokenCall::Code(_) => Scopes::new(),
            // some servers need the scopes of a refresh.
            TokenCall::Refresh(..) if self.refreshes_without_scope => Scopes::new(),
            TokenCall::Refresh(..) => {
                let granted = self.tokens().map(|tokens| tokens.granted.clone());
                granted.unwrap_or_default()
            }
            _ => self.scopes_to_request(env)?,
        };
        if !matches!(call, TokenCall::Code(_) | TokenCall::Refresh(..)) {
            self.requested = scopes.clone();
        }
        let caller = self.caller(env, call)?;
        let client = &caller.client;
        let (client_id, secret) = (&*client.client_id, client.secret.as_ref());
        let authentication = match (client.auth_method, secret, assertion) {
            (ClientAuthMethod::Basic, Some(secret), _) => {
                ClientAuthentication::Basic { client_id, secret }
            }
            (ClientAuthMethod::Post, Some(secret), _) => {
                ClientAuthentication::Post { client_id, secret }
            }
            (ClientAuthMethod::PrivateKeyJwt, _, Some(assertion)) => {
                ClientAuthentication::PrivateKeyJwt { assertion }
            }
            _ => ClientAuthentication::None { client_id },
        };
        let audience = self.server()?.issuer.as_str();
        let grant = match call {
            TokenCall::Refresh(token, _) => TokenGrant::Refresh { token },
            TokenCall::Code(code) => {
                let redirect_uri = &self.redirect.uri;
                TokenGrant::AuthorizationCode { code, redirect_uri, verifier: &verifier }
            }
            TokenCall::ClientCredentials => TokenGrant::ClientCredentials,
            TokenCall::Exchange(id_token) => TokenGrant::IdJag { id_token, audience },
            TokenCall::Assertion(assertion) => TokenGrant::JwtBearer { assertion },
        };
        let scopes = Some(&scopes).filter(|scopes| !scopes.is_empty());
        let resource = resource.as_deref();
        Ok(TokenRequest { grant, resource, scopes }.encode(&authentication))
    }

    pub(super) fn on_tokens(
        &mut self,
        env: &mut Env<'_>,
        call: TokenCall,
        response: &Response,
    ) -> Outcome {
        let (status, body, limits) = (response.status, response.body(), &env.config.limits);
        if let TokenCall::Exchange(identity) = call {
            return match TokenResponse::parse_id_jag(status, body, limits) {
                Ok(assertion) => {
                    self.failures = 0;
                    self.request(env, TokenCall::Assertion(assertion))
                }
                Err(error) => self.on_token_error(env, TokenCall::Exchange(identity), error),
            };
        }
        let tokens = TokenResponse::parse(status, body, env.time.unix, limits);
        let wants_nonce = matches!(&tokens, Err(error) if error.is("use_dpop_nonce"));
        if self.proof.on_nonce(response.dpop_nonce.as_deref(), wants_nonce) {
            return self.request(env, call);
        }
        match tokens.and_then(|tokens| self.proof.check(tokens)) {
            Ok(tokens) if self.proof.is_violated_by(tokens.token_type) => {
                env.storage.release(env.time.now, env.out);
                Err(Denial::NotBound { issuer: self.server()?.issuer.as_str().into() })
            }
            Ok(tokens) => self.on_token_response(env, call, tokens),
            Err(error) => self.on_token_error(env, call, error),
        }
    }

    fn on_token_error(&mut self, env: &mut Env<'_>, call: TokenCall, error: TokenError) -> Outcome {
        if error.is_temporary() {
            self.step = Step::Requesting(call);
            return self.on_temporary(env, Outage::Answered, None);
        }
        let error = self.without_secrets(env, &call, error);
        let is_unknown = error.is("invalid_client") || error.is("unauthorized_client");
        match call {
            TokenCall::Refresh(token, is_repeated) if error.is("invalid_grant") => {
                self.on_refresh_refused(env, token, is_repeated)
            }
            TokenCall::Refresh(..) | TokenCall::Code(_) if is_unknown && self.is_registered() => {
                self.on_unknown_client(env, error)
            }
            TokenCall::Refresh(token, is_repeated) => {
                self.on_refresh_failed(env, token, is_repeated, error)
            }
            call => Err(self.token_denial(env, Some(&call), error)),
        }
    }

    /// Removes secrets of a request that its response repeats.
    // AUT-34.
    fn without_secrets(&self, env: &Env<'_>, call: &TokenCall, error: TokenError) -> TokenError {
        let TokenError::Refused { status, error } = error else { return error };
        let presented = match call {
            TokenCall::Refresh(secret, _)
            | TokenCall::Code(secret)
            | TokenCall::Exchange(secret)
            | TokenCall::Assertion(secret) => Some(secret),
            TokenCall::ClientCredentials => None,
        };
        let caller = self.caller(env, call).ok();
        let client = caller.as_ref().map(|caller| &caller.client);
        let client = client.and_then(|it| Some((&*it.client_id, it.secret.as_ref()?)));
        let basic = client.and_then(|(client_id, secret)| {
            ClientAuthentication::Basic { client_id, secret }.header()
        });
        let basic = basic.as_ref().map(|header| header.expose().trim_start_matches("Basic "));
        let (verifier, state) = (self.secrets.verifier(), self.secrets.state());
        let secret = client.map(|(_, secret)| secret);
        let secrets = presented.into_iter().chain(secret).chain([&verifier, &state]);
        let secrets = secrets.map(Secret::expose).chain(basic);
        TokenError::Refused { status, error: error.without(secrets) }
    }

    /// Returns the denial for a token request that failed; `call` tells whether it was that to the
    /// identity provider.
    pub(super) fn token_denial(
        &self,
        env: &Env<'_>,
        call: Option<&TokenCall>,
        error: TokenError,
    ) -> Denial {
        let issuer = match (&env.config.grant, call, self.issuer()) {
            (GrantKind::Enterprise(provider), Some(TokenCall::Exchange(_)), _) => {
                provider.token_endpoint.as_str().into()
            }
            (_, _, issuer) => issuer.unwrap_or_default(),
        };
        Denial::Token { issuer, error }
    }

    /// Returns whether the client was registered or entered, and can be again.
    fn is_registered(&self) -> bool {
        let source = self.client.as_ref().map(|client| &client.source);
        matches!(source, Some(ClientSource::Stored(_) | ClientSource::New))
    }

    /// Registers again, or asks for a client again, if the authorization server has forgotten it.
    ///
    /// This happens at most once in a flow.
    // AUT-47.
    fn on_unknown_client(&mut self, env: &mut Env<'_>, error: TokenError) -> Outcome {
        env.storage.release(env.time.now, env.out);
        if self.redirect.has_dropped || self.is_renewal() {
            return Err(self.token_denial(env, None, error));
        }
        self.redirect.has_dropped = true;
        let (what, why) = (Stored::Registration, DropReason::Refused);
        env.out.report(AuthEvent::Dropped { what, why });
        self.change_client(env, Change::Delete)?;
        if mem::take(&mut self.redirect.is_listening) {
            env.out.act(AuthAction::Unlisten);
        }
        self.client = None;
        // A new request needs a new verifier and `state`.
        self.redraw(env)
    }

    fn on_token_response(
        &mut self,
        env: &mut Env<'_>,
        call: TokenCall,
        response: TokenResponse,
    ) -> Outcome {
        let server = self.server()?.clone();
        let Some(client) = self.client.as_ref().map(|client| client.client.clone()) else {
            return Err(Denial::NoClient { issuer: server.issuer.as_str().into() });
        };
        let is_refresh = matches!(call, TokenCall::Refresh(..));
        let (old, held) = (self.tokens().cloned(), self.held.as_ref());
        // AUT-59: what a refresh leaves out stays as it was.
        let requested = if is_refresh {
            held.map(|held| held.requested.clone()).unwrap_or_default()
        } else {
            self.requested.clone()
        };
        let subject = match held.filter(|_| is_refresh) {
            Some(held) => held.subject.clone(),
            None => self.subject.clone(),
        };
        let old_granted = old.as_ref().filter(|_| is_refresh).map(|old| old.granted.clone());
        let old_refresh = old.filter(|_| is_refresh).and_then(|old| old.refresh_token);
        let tokens = StoredTokens {
            access_token: response.access_token,
            key_thumbprint: self.proof.binding(response.token_type),
            token_type: response.token_type,
            issued_at: env.time.unix,
            expires_at: response.expires_at,
            refresh_token: response.refresh_token.or(old_refresh),
            granted: response.scopes.or(old_granted).unwrap_or_else(|| requested.clone()),
        };
        let record = GrantRecord {
            resource: self.target.id(),
            server,
            server_read_at: self.server_read_at,
            client,
            subject,
            requested,
            generation: self.generation.saturating_add(1),
            tokens: Some(tokens),
        };
        self.save_grant(env, record)
    }

    /// Saves the grant before anything uses it.
    // a rotated token is on disk before the old one is gone.
    fn save_grant(&mut self, env: &mut Env<'_>, record: GrantRecord) -> Outcome {
        let json = record.to_json();
        let origin = if self.is_renewal() { Origin::Renewed } else { Origin::Fresh };
        let granted = Granted { record, origin, jitter: self.secrets.jitter() };
        let progress = self.enter(Step::Saving(granted.into()), None);
        if env.storage.is_holding() {
            env.storage.save(env.time.now, env.out, Some(json));
        } else {
            let key = env.config.grant_key();
            let what = Use::Change(Change::Put(json));
            env.storage.begin(env.time.now, env.out, key, Owner::State, what);
        }
        progress
    }
}
