//! The configuration of a client.

use crate::extension::{Extension, ExtensionError};
use crate::json::Raw;
use crate::limits::Limits;
use crate::revision::{Era, Revision};
use crate::schema::{Capabilities, Implementation};
use crate::vocabulary::{Identity, ViolationPolicy};

/// The configuration of a client: name, capabilities, revisions and limits.
///
/// ```
/// use mcp_proto::client::Config;
/// use mcp_proto::{Capability, Revision};
///
/// let config = Config::new("demo", "1.0.0")
///     .capability(Capability::Roots)
///     .revisions(&[Revision::V2025_06_18]);
/// ```
#[derive(Clone, Debug)]
pub struct Config(pub(crate) Identity);

impl Config {
    /// Creates a configuration with the client's name and version.
    ///
    /// The client supports every revision and declares no capabilities.
    pub fn new(name: &str, version: &str) -> Self {
        Self(Identity::new(name, version, ViolationPolicy::Ignore))
    }

    /// Returns the part of the configuration that both roles have.
    pub(crate) const fn identity(&self) -> &Identity {
        &self.0
    }

    /// Sets the client's full description, replacing the name and version passed to [`new`].
    ///
    /// [`new`]: Self::new
    #[must_use]
    pub fn info(mut self, info: Implementation) -> Self {
        self.0.info = info;
        self
    }

    // CAP-02: a server may request only what the client declares.
    /// Declares a capability. Servers may then send the requests that need it.
    ///
    /// Default: no capabilities.
    #[must_use]
    pub fn capability(mut self, capability: crate::Capability) -> Self {
        self.0.capabilities = self.0.capabilities.with(capability);
        self
    }

    /// Declares experimental, non-standard features: an object with a member for each.
    ///
    /// A value that is not an object declares none. Prefer an [`Extension`] for a new feature.
    #[must_use]
    pub fn experimental(mut self, features: impl Into<Raw>) -> Self {
        self.0.capabilities = self.0.capabilities.with_experimental(features);
        self
    }

    /// Sets all capabilities, replacing those declared so far.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.0.capabilities = capabilities;
        self
    }

    /// Sets the protocol revisions that the client may negotiate. Default: all.
    ///
    /// If `revisions` is empty, the connection fails with
    /// [`Fault::NoRevisionConfigured`](crate::Fault::NoRevisionConfigured).
    #[must_use]
    pub fn revisions(mut self, revisions: &[Revision]) -> Self {
        self.0.revisions = revisions.to_vec();
        self.0.revisions.sort_unstable();
        self
    }

    // LIF-31: a client may remember the era of a server.
    /// Sets the [`Era`] of the server, if it is known from an earlier connection. Default: unknown.
    ///
    /// With [`Era::Legacy`], the client does not send the `server/discover` request that detects
    /// the era. This saves a round trip; if the expectation is wrong, the handshake corrects it.
    /// [`Era::Modern`] has no effect.
    #[must_use]
    pub const fn expect_era(mut self, era: Era) -> Self {
        self.0.expected_era = Some(era);
        self
    }

    // T-31: an `initialize` result that names a revision without a handshake.
    /// Makes the client accept an `initialize` result that names a modern revision.
    ///
    /// Some servers name a modern revision regardless of the one that the client offers. With this
    /// option, the client continues in the named revision if it is among the configured
    /// [`revisions`](Self::revisions). Default: the connection fails with
    /// [`Fault::NoCommonRevision`](crate::Fault::NoCommonRevision).
    #[must_use]
    pub const fn accept_modern_initialize(mut self) -> Self {
        self.0.accepts_modern_initialize_result = true;
        self
    }

    // STL-02: the client's name in the `_meta` of a request is optional.
    /// Makes the client omit its name and version from the `_meta` of modern requests.
    ///
    /// Legacy handshakes require the name and version, and always contain them. Default: both are
    /// sent.
    #[must_use]
    pub const fn without_info(mut self) -> Self {
        self.0.sends_info = false;
        self
    }

    /// Makes the client deliver requests for `method` to the application.
    ///
    /// Use this for methods that no revision defines. The application receives such a request as an
    /// [`Event::Request`](crate::client::Event::Request). By default, the client responds with
    /// [`METHOD_NOT_FOUND`](crate::code::METHOD_NOT_FOUND).
    #[must_use]
    pub fn serve_method(mut self, method: &str) -> Self {
        self.0.served_methods.push(method.into());
        self
    }

    // LIF-34, CAP-17: an extension is used only if both sides declare it.
    /// Declares an extension, and adds its methods and result types.
    ///
    /// Requests of servers that declare the extension are then delivered instead of being refused.
    /// Declare at most [`Extension::COUNT_MAX`] extensions.
    ///
    /// # Errors
    /// Fails if the extension is invalid, or contradicts the protocol or another extension.
    pub fn extension(mut self, extension: Extension) -> Result<Self, ExtensionError> {
        self.0.extensions.add(extension)?;
        Ok(self)
    }

    /// Sets the limits of the connection. Default: [`Limits::default`].
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.0.limits = limits;
        self
    }

    /// Sets how the client reacts when the server violates the protocol.
    ///
    /// Default: [`ViolationPolicy::Ignore`], which only reports violations.
    #[must_use]
    pub const fn on_violation(mut self, policy: ViolationPolicy) -> Self {
        self.0.policy = policy;
        self
    }
}
