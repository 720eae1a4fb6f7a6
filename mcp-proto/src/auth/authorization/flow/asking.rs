//! The authorization request, which the user answers in a browser, and its redirect.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::Flow;
use super::step::{ClientSource, Env, HUMAN_TIMEOUT, Outcome, Step, Target, TokenCall};
use crate::auth::authorization::action::AuthAction;
use crate::auth::authorization::storage::Change;
use crate::auth::authorization::{AuthEvent, Denial, Quirk, RedirectPage};
use crate::auth::{
    AuthorizationRequest, AuthorizationServerMetadata, ClientRecord, PendingAuthorization,
    RedirectVerdict, Scopes,
};

impl Flow {
    /// Sends the user to the authorization server.
    pub(super) fn ask(&mut self, env: &mut Env<'_>) -> Outcome {
        let scopes = self.scopes_to_request(env)?;
        let resource = self.resource_param(env);
        let params = &env.config.quirks.authorize_params;
        let mut extra: Vec<(&str, &str)> =
            params.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let deviates = !extra.is_empty();
        let thumbprint = self.proof.thumbprint();
        if let Some(thumbprint) = &thumbprint {
            // RFC 9449 §10: the code is bound to the key, too.
            extra.push(("dpop_jkt", thumbprint));
        }
        let server = self.server()?;
        let endpoint = server.authorization_endpoint.as_ref();
        let issuer: Box<str> = server.issuer.as_str().into();
        let endpoint =
            endpoint.map_err(|error| Denial::Endpoint { issuer: issuer.clone(), error: *error })?;
        let Some(client) = &self.client else { return Err(Denial::Unsupported) };
        let state = self.secrets.state();
        let request = AuthorizationRequest {
            endpoint,
            client_id: &client.client.client_id,
            redirect_uri: &self.redirect.uri,
            code_challenge: &self.secrets.challenge(),
            state: &state,
            scopes: Some(&scopes),
            resource: resource.as_deref(),
            extra: &extra,
        };
        let url = request.to_uri(&env.config.limits).map_err(Denial::Request)?;
        if deviates {
            env.out.report(AuthEvent::Deviated(Quirk::AuthorizeParams));
        }
        // AUT-51: recorded before the browser opens.
        let sends_issuer = server.sends_issuer;
        let pending = PendingAuthorization { state, issuer: issuer.clone(), sends_issuer };
        self.requested = scopes.clone();
        env.out.act(AuthAction::Show { url, issuer, scopes });
        self.enter(Step::Asking(pending), Some(env.time.now + HUMAN_TIMEOUT))
    }

    /// Judges a redirect of the browser.
    pub(in crate::auth::authorization) fn on_redirect(
        &mut self,
        env: &mut Env<'_>,
        query: &str,
    ) -> (RedirectPage, Outcome) {
        let verdict = match &self.step {
            Step::Asking(pending) => pending.judge(query, &env.config.limits),
            _ => return (RedirectPage::NotFound, Ok(None)),
        };
        // Whatever page or program sends such requests, and however many: the login continues.
        if let RedirectVerdict::Foreign(_) = verdict {
            return (RedirectPage::NotFound, Ok(None));
        }
        // The request is used up, whatever the verdict.
        self.step = Step::Over;
        match verdict {
            RedirectVerdict::Foreign(_) => (RedirectPage::NotFound, Ok(None)),
            RedirectVerdict::Rejected(fault) => {
                (RedirectPage::Failure, Err(Denial::Redirect(fault)))
            }
            RedirectVerdict::Denied(error) => {
                let denial = self
                    .server()
                    .map(|server| Denial::Refused { issuer: server.issuer.as_str().into(), error });
                (RedirectPage::Failure, Err(denial.unwrap_or_else(|denial| denial)))
            }
            RedirectVerdict::Code(code) => {
                let progress = self.request(env, TokenCall::Code(code));
                (RedirectPage::Success, progress)
            }
        }
    }

    /// Gives up on the user. A stored registration may be the reason, so the next flow makes a new
    /// one.
    // AUT-47, A-26: an authorization server that forgot the client shows a dead page.
    pub(super) fn on_no_redirect(&self, env: &mut Env<'_>) -> Outcome {
        if let Some(ClientSource::Stored(record)) =
            self.client.as_ref().map(|client| client.source.clone())
        {
            let doubtful = ClientRecord { is_doubtful: true, ..*record };
            self.change_client(env, Change::Put(doubtful.to_json()))?;
        }
        Err(Denial::TimedOut)
    }

    /// Returns the scopes to ask for.
    // AUT-25, AUT-27, AUT-28, AUT-63: the challenge's, else the resource's; with those of before.
    pub(super) fn scopes_to_request(&self, env: &Env<'_>) -> Result<Scopes, Denial> {
        let limits = &env.config.limits;
        let challenged = &self.wanted.scopes;
        let mut scopes = match (&self.held, &self.target) {
            (Some(held), _) => {
                let granted = held.tokens.as_ref().map(|tokens| tokens.granted.clone());
                held.requested.union(&granted.unwrap_or_default(), limits)?
            }
            (None, Target::Resource { scopes, .. }) if challenged.is_empty() => scopes.clone(),
            (None, _) => Scopes::new(),
        };
        scopes = scopes.union(challenged, limits)?.union(&env.config.scopes, limits)?;
        if self.may_ask_offline(env, self.server()?) && !scopes.is_empty() {
            scopes.insert("offline_access", limits)?;
        }
        Ok(scopes)
    }

    fn may_ask_offline(&self, env: &Env<'_>, server: &AuthorizationServerMetadata) -> bool {
        use crate::auth::authorization::config::GrantKind;
        let asks = matches!(env.config.grant, GrantKind::User) && env.config.refreshes;
        asks && server.offline_access
    }
}
