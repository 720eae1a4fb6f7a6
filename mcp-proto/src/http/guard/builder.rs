//! The configuration of a guard, which is checked when the guard is built.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use super::config::GuardConfig;
use super::decisions::Guard;
use super::identifier::Identifier;
use super::metadata::Metadata;
use super::scopes::{IMPLIED_MAX, Implications, insert, is_scope};

/// A builder of guards; see [`Guard::builder`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct GuardBuilder {
    resource: Box<str>,
    name: Option<Box<str>>,
    authorization_servers: Vec<Box<str>>,
    supported: Vec<Box<str>>,
    required: Vec<Box<str>>,
    audiences: Vec<Box<str>>,
    implications: Vec<(Box<str>, Box<str>)>,
    clock_skew: Duration,
}

impl Guard {
    /// Starts the configuration of a guard for the server at the URL `resource`.
    ///
    /// `resource` is the URL of the MCP endpoint that clients use, such as
    /// `https://mcp.example.com/mcp`.
    pub fn builder(resource: &str) -> GuardBuilder {
        GuardBuilder::new(resource)
    }
}

impl GuardBuilder {
    fn new(resource: &str) -> Self {
        Self {
            resource: resource.into(),
            name: None,
            authorization_servers: Vec::new(),
            supported: Vec::new(),
            required: Vec::new(),
            audiences: Vec::new(),
            implications: Vec::new(),
            clock_skew: Duration::from_secs(30),
        }
    }

    /// Adds an authorization server by its issuer identifier, such as `https://id.example.com`.
    ///
    /// Clients get their tokens there, and tokens of other issuers are refused. At least one
    /// authorization server is needed.
    pub fn authorization_server(mut self, issuer: &str) -> Self {
        insert(&mut self.authorization_servers, issuer);
        self
    }

    /// Sets the name of this server for users, which authorization servers may show. Default: none.
    pub fn resource_name(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds scopes to the metadata: those that the basic use of the server needs. Default: none.
    ///
    /// Clients ask for them all if a challenge names no scopes. Challenges name only the scopes
    /// that a request needs: the [required](Self::required_scopes) ones and those of the operation.
    pub fn scopes_supported<'a>(mut self, scopes: impl IntoIterator<Item = &'a str>) -> Self {
        scopes.into_iter().for_each(|scope| insert(&mut self.supported, scope));
        self
    }

    /// Adds scopes that every request needs. Default: none.
    ///
    /// They count as [supported](Self::scopes_supported), too. Clients without a token then ask for
    /// these scopes first, and for others when an operation needs them.
    pub fn required_scopes<'a>(mut self, scopes: impl IntoIterator<Item = &'a str>) -> Self {
        scopes.into_iter().for_each(|scope| insert(&mut self.required, scope));
        self
    }

    /// Adds that a token with the scope `broad` may do everything that the scopes `narrow` allow.
    ///
    /// At most 64 scopes can imply others or be implied.
    pub fn implies<'a>(mut self, broad: &str, narrow: impl IntoIterator<Item = &'a str>) -> Self {
        let pairs = narrow.into_iter().map(|narrow| (broad.into(), narrow.into()));
        self.implications.extend(pairs);
        self
    }

    /// Accepts tokens for this audience instead of tokens for the resource.
    ///
    /// By default, the audience of a token must contain the resource, byte for byte. Use this
    /// method for authorization servers that put another identifier there, and call it again with
    /// the resource to accept both.
    // D-A20: some authorization servers have their own identifiers for audiences.
    pub fn audience(mut self, audience: &str) -> Self {
        insert(&mut self.audiences, audience);
        self
    }

    /// Sets how far the clocks of this server and of authorization servers may differ. Default:
    /// 30 s, maximum: 10 min.
    pub const fn clock_skew(mut self, clock_skew: Duration) -> Self {
        self.clock_skew = clock_skew;
        self
    }

    /// Checks the configuration and creates the guard.
    ///
    /// # Errors
    /// Fails if
    /// - the resource or an authorization server is not an `https` URI, or an `http` URI on a
    ///   loopback host, or has a query or a fragment;
    /// - there is no authorization server;
    /// - an audience is empty;
    /// - a scope is malformed, or is `offline_access`, which is between client and authorization
    ///   server;
    /// - more than 64 scopes imply others or are implied;
    /// - the clock skew exceeds 10 min.
    pub fn build(self) -> Result<Guard, InvalidGuard> {
        let resource = Identifier::parse(&self.resource)
            .map_err(|why| InvalidGuard(format!("the resource {:?} {why}", self.resource)))?;
        for issuer in &self.authorization_servers {
            Identifier::parse(issuer).map_err(|why| {
                InvalidGuard(format!("the authorization server {issuer:?} {why}"))
            })?;
        }
        // AUT-09
        if self.authorization_servers.is_empty() {
            return Err(InvalidGuard(
                "at least one authorization server is required \
                (`GuardBuilder::authorization_server`)"
                    .into(),
            ));
        }
        if self.audiences.iter().any(|audience| audience.is_empty()) {
            return Err(InvalidGuard("an audience is empty".into()));
        }
        if self.clock_skew > CLOCK_SKEW_MAX {
            return Err(InvalidGuard("the clock skew exceeds 10 min".into()));
        }
        let mut base_scopes = self.required.clone();
        self.supported.iter().for_each(|scope| insert(&mut base_scopes, scope));
        let implied = self.implications.iter().flat_map(|(broad, narrow)| [broad, narrow]);
        base_scopes.iter().chain(implied).try_for_each(|scope| check_scope(scope))?;
        let mut implications = Implications::default();
        if !self.implications.iter().all(|(broad, narrow)| implications.add(broad, narrow)) {
            let why = format!("more than {IMPLIED_MAX} scopes imply others or are implied");
            return Err(InvalidGuard(why));
        }
        implications.close();
        let metadata = Metadata::new(
            &self.resource,
            resource,
            self.name.as_deref(),
            &self.authorization_servers,
            &base_scopes,
        );
        let audiences =
            if self.audiences.is_empty() { [self.resource].into() } else { self.audiences };
        Ok(Guard::from_config(GuardConfig {
            metadata,
            issuers: self.authorization_servers,
            audiences,
            required: self.required,
            implications,
            clock_skew: self.clock_skew.as_secs(),
        }))
    }
}

/// The largest tolerated difference between clocks.
const CLOCK_SKEW_MAX: Duration = Duration::from_secs(600);

// AUT-28: `offline_access` is no scope of a resource.
fn check_scope(scope: &str) -> Result<(), InvalidGuard> {
    if !is_scope(scope) {
        let why = "has characters other than visible ASCII without `\"` and `\\`, or has not 1 to \
                   256 bytes";
        return Err(InvalidGuard(format!("the scope {scope:?} {why}")));
    }
    if scope == "offline_access" {
        let why = "is between clients and authorization servers: remove it";
        return Err(InvalidGuard(format!("the scope `offline_access` {why}")));
    }
    Ok(())
}

/// The error for an invalid configuration of a guard. The message names the setting.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InvalidGuard(String);

impl fmt::Display for InvalidGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for InvalidGuard {}
