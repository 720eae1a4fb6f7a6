//! Discovery: the metadata of the MCP server, then those of an authorization server.

use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::string::ToString;
use alloc::vec;
use core::time::Duration;

use super::Flow;
use super::step::{Env, IssuerSearch, Outcome, ResourceSearch, Step, Target, policy};
use crate::auth::authorization::action::Fetch;
use crate::auth::authorization::challenge::DpopSupport;
use crate::auth::authorization::config::GrantKind;
use crate::auth::authorization::exchange::Response;
use crate::auth::authorization::{AuthEvent, Denial, Quirk};
use crate::auth::{
    AuthorizationServerMetadata, ExpectedIssuer, MetadataError, PkceSupport,
    ProtectedResourceMetadata, Uri,
};
use crate::http::client::HttpMethod;
use crate::revision::Revision;
use crate::secret::Secret;

const METADATA_TIMEOUT: Duration = Duration::from_secs(15);

impl Flow {
    /// Looks for the resource metadata.
    // AUT-11: where the challenge says, else at the well-known locations.
    pub(super) fn find_resource(&mut self, env: &mut Env<'_>) -> Outcome {
        let limits = &env.config.limits;
        let search = match self.wanted.metadata.clone() {
            Some(Ok(url)) => {
                let locations = VecDeque::from([url]);
                ResourceSearch { locations, is_named: true, fault: None }
            }
            Some(Err(_)) => return Err(Denial::Unsupported),
            None => {
                let all =
                    env.servers().map(|url| ProtectedResourceMetadata::locations(url, limits));
                let mut locations = VecDeque::new();
                for location in all.flatten() {
                    if !locations.contains(&location) {
                        locations.push_back(location);
                    }
                }
                ResourceSearch { locations, is_named: false, fault: None }
            }
        };
        self.failures = 0;
        self.fetch_resource(env, search)
    }

    pub(super) fn fetch_resource(&mut self, env: &mut Env<'_>, search: ResourceSearch) -> Outcome {
        let Some(url) = search.locations.front() else { return self.no_resource(env, search) };
        policy(env.config).check(url).map_err(Denial::Blocked)?;
        self.fetch_metadata(env, url)?;
        self.step = Step::Resource(search);
        Ok(None)
    }

    pub(super) fn on_resource(
        &mut self,
        env: &mut Env<'_>,
        mut search: ResourceSearch,
        response: &Response,
    ) -> Outcome {
        self.failures = 0;
        let (config, limits) = (env.config, &env.config.limits);
        let Some(url) = search.locations.pop_front() else { return Ok(None) };
        let parse =
            |body, server| ProtectedResourceMetadata::parse(body, server, &policy(config), limits);
        // Of the URL that was asked, or that redirects led to.
        let parse = |body| match env.redirected_to.map(|server| parse(body, server)) {
            None | Some(Err(MetadataError::Resource { .. })) => parse(body, &config.server),
            Some(parsed) => parsed,
        };
        match response.document().map(parse) {
            Some(Ok(metadata)) => {
                let candidates = self.candidates(env, &metadata);
                self.target = Target::Resource {
                    id: metadata.resource.as_str().into(),
                    dpop: match (metadata.dpop_required, metadata.dpop) {
                        (true, _) => DpopSupport::Required,
                        (false, true) => DpopSupport::Accepted,
                        (false, false) => DpopSupport::Unknown,
                    },
                    scopes: metadata.scopes_supported.unwrap_or_default(),
                };
                self.rank(env, candidates)
            }
            // AUT-38: metadata of another server end the search.
            Some(Err(error @ MetadataError::Resource { .. })) => Err(metadata_denial(&url, error)),
            Some(Err(error)) => {
                // A page of HTML means that there is no such document.
                if error != MetadataError::Json {
                    search.fault = search.fault.or_else(|| Some(metadata_denial(&url, error)));
                }
                self.fetch_resource(env, search)
            }
            None => self.fetch_resource(env, search),
        }
    }

    /// Handles a definite "no" of every location.
    fn no_resource(&mut self, env: &mut Env<'_>, search: ResourceSearch) -> Outcome {
        match search.fault {
            Some(fault) => Err(fault),
            None if search.is_named || !env.config.legacy => Err(Denial::Unsupported),
            // AUT-07, AUT-37: the MCP server may be its own authorization server.
            None => {
                self.target = Target::Legacy;
                let limits = &env.config.limits;
                let issuer = AuthorizationServerMetadata::legacy_issuer(&env.config.server, limits)
                    .map_err(|_| Denial::Unsupported)?;
                policy(env.config).check(&issuer).map_err(Denial::Blocked)?;
                self.find_issuer(env, VecDeque::from([issuer]))
            }
        }
    }

    pub(super) fn find_issuer(&mut self, env: &mut Env<'_>, mut issuers: VecDeque<Uri>) -> Outcome {
        let Some(issuer) = issuers.pop_front() else { return Err(Denial::Unsupported) };
        self.failures = 0;
        let search = IssuerSearch {
            locations: locations(&issuer, self.target.is_legacy(), env),
            issuer,
            others: issuers,
            fault: None,
        };
        self.fetch_issuer(env, search)
    }

    pub(super) fn fetch_issuer(&mut self, env: &mut Env<'_>, mut search: IssuerSearch) -> Outcome {
        while search.locations.is_empty() {
            if self.target.is_legacy() && search.fault.is_none() {
                return self.use_default_endpoints(env);
            }
            let Some(issuer) = search.others.pop_front() else {
                let url = search.issuer.as_str().into();
                return Err(search.fault.unwrap_or(Denial::NoMetadata { issuer: url }));
            };
            search.locations = locations(&issuer, self.target.is_legacy(), env);
            search.issuer = issuer;
        }
        if let Some(url) = search.locations.front() {
            self.fetch_metadata(env, url)?;
            self.step = Step::Issuer(search);
        }
        Ok(None)
    }

    pub(super) fn on_issuer(
        &mut self,
        env: &mut Env<'_>,
        mut search: IssuerSearch,
        response: &Response,
    ) -> Outcome {
        self.failures = 0;
        let (config, limits) = (env.config, &env.config.limits);
        let Some(url) = search.locations.pop_front() else { return Ok(None) };
        // The origin has no path, with which D-A04 allows for `/` after it.
        let expected = if config.quirks.issuer_slash || self.target.is_legacy() {
            ExpectedIssuer::AnyFinalSlash(&search.issuer)
        } else {
            ExpectedIssuer::Exact(&search.issuer)
        };
        let parse =
            |body| AuthorizationServerMetadata::parse(body, expected, &policy(config), limits);
        let checked = match response.document().map(parse) {
            None | Some(Err(MetadataError::Json)) => return self.fetch_issuer(env, search),
            Some(Err(error)) => Err(metadata_denial(&url, error)),
            Some(Ok(server)) => {
                let checked = check_pkce(env, &server);
                checked.and_then(|()| check_token_endpoint(&server)).map(|()| server)
            }
        };
        match checked {
            Ok(server) => {
                if server.issuer.as_str() != search.issuer.as_str() && !self.target.is_legacy() {
                    env.out.report(AuthEvent::Deviated(Quirk::IssuerSlash));
                }
                self.use_server(env, server)
            }
            // another document of this issuer may be better.
            Err(fault) => {
                search.fault = search.fault.or(Some(fault));
                self.fetch_issuer(env, search)
            }
        }
    }

    /// Uses the endpoints of revision 2025-03-26, for a server without any metadata.
    fn use_default_endpoints(&mut self, env: &mut Env<'_>) -> Outcome {
        let (url, limits) = (&env.config.server, &env.config.limits);
        let server = AuthorizationServerMetadata::legacy_default(url, &policy(env.config), limits)
            .map_err(|_| Denial::Unsupported)?;
        self.use_server(env, server)
    }

    fn use_server(&mut self, env: &mut Env<'_>, server: AuthorizationServerMetadata) -> Outcome {
        // AUT-23: tokens and their scopes belong to one authorization server.
        self.held =
            self.held.take().filter(|held| held.server.issuer.as_str() == server.issuer.as_str());
        self.server_read_at = env.time.unix;
        self.server = Some(server);
        self.identify(env)
    }

    fn fetch_metadata(&mut self, env: &mut Env<'_>, url: &Uri) -> Result<(), Denial> {
        let config = env.config;
        let mut headers = vec![(Cow::Borrowed("Accept"), "application/json".to_string())];
        // AUT-08: to the MCP server's own origin only.
        if url.is_same_origin(&config.server) {
            let name = Revision::V2026_07_28.name().to_string();
            headers.push((Cow::Borrowed("MCP-Protocol-Version"), name));
        }
        let fetch = Fetch {
            id: env.out.fetch_id(),
            method: HttpMethod::Get,
            url: url.as_str().into(),
            headers,
            authorization: None,
            body: Secret::new(""),
            reach: policy(config).reach(),
            redirects_max: config.limits.redirects_max,
            cross_origin: config.quirks.cross_origin_redirects,
        };
        self.fetch(env, fetch, config.limits.metadata_bytes_max, METADATA_TIMEOUT)
    }
}

fn locations(issuer: &Uri, is_legacy: bool, env: &Env<'_>) -> VecDeque<Uri> {
    let mut locations: VecDeque<Uri> =
        AuthorizationServerMetadata::locations(issuer, &env.config.limits).into();
    if is_legacy {
        locations.truncate(1);
    }
    locations
}

/// Checks that the authorization server supports PKCE, if a user is sent there.
// AUT-50.
fn check_pkce(env: &mut Env<'_>, server: &AuthorizationServerMetadata) -> Result<(), Denial> {
    if !matches!(env.config.grant, GrantKind::User) {
        return Ok(());
    }
    match server.pkce {
        PkceSupport::S256 => Ok(()),
        PkceSupport::Unadvertised if env.config.quirks.unadvertised_pkce => {
            env.out.report(AuthEvent::Deviated(Quirk::UnadvertisedPkce));
            Ok(())
        }
        PkceSupport::Unadvertised | PkceSupport::Unsupported => {
            Err(Denial::Pkce { issuer: server.issuer.as_str().into() })
        }
    }
}

/// Checks that tokens can be requested, before a user logs in in vain.
fn check_token_endpoint(server: &AuthorizationServerMetadata) -> Result<(), Denial> {
    match server.token_endpoint {
        Ok(_) => Ok(()),
        Err(error) => Err(Denial::Endpoint { issuer: server.issuer.as_str().into(), error }),
    }
}

fn metadata_denial(url: &Uri, error: MetadataError) -> Denial {
    match error {
        MetadataError::Resource { expected, found } => Denial::ResourceMismatch { expected, found },
        MetadataError::Issuer { expected, found } => Denial::IssuerMismatch { expected, found },
        MetadataError::Refused(refusal) => Denial::Blocked(refusal),
        error => {
            let url = url.as_str().split('?').next().unwrap_or_default().into();
            Denial::Metadata { url, error }
        }
    }
}
