//! The configuration of a server.

use alloc::sync::Arc;

use crate::extension::{Extension, ExtensionError, Extensions};
use crate::json::Raw;
use crate::limits::Limits;
use crate::meta::MetaWriter;
use crate::revision::{Revision, Side};
use crate::schema::{Capabilities, Implementation};
use crate::vocabulary::{Identity, ViolationPolicy};

/// The configuration of a server: name, capabilities, revisions and limits.
///
/// Cheap to clone: all clones share one copy of the data.
///
/// ```
/// use mcp_proto::server::Config;
/// use mcp_proto::Capability;
///
/// let config = Config::new("weather", "1.0.0")
///     .capability(Capability::Tools)
///     .instructions("Ask for a city.");
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    pub(super) identity: Arc<Identity>,
    /// Derived from `identity`, shared by all connections.
    pub(super) meta: Arc<MetaWriter>,
}

impl Config {
    /// Creates a configuration with the server's name and version.
    ///
    /// The server supports every revision and declares no capabilities.
    pub fn new(name: &str, version: &str) -> Self {
        Self::from_identity(Identity::new(name, version, ViolationPolicy::Reply))
    }

    pub(crate) fn from_identity(identity: Identity) -> Self {
        let meta = MetaWriter::of(&identity, Side::Server);
        Self { identity: Arc::new(identity), meta: Arc::new(meta) }
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    fn with(mut self, change: impl FnOnce(&mut Identity)) -> Self {
        change(Arc::make_mut(&mut self.identity));
        self.meta = Arc::new(MetaWriter::of(&self.identity, Side::Server));
        self
    }

    /// Sets the server's full description, replacing the name and version passed to [`new`].
    ///
    /// [`new`]: Self::new
    #[must_use]
    pub fn info(self, info: Implementation) -> Self {
        self.with(|identity| identity.info = info)
    }

    // CAP-01: a server serves only what it declares.
    /// Declares a capability. Requests that need it are then delivered instead of being refused.
    ///
    /// Default: no capabilities.
    #[must_use]
    pub fn capability(self, capability: crate::Capability) -> Self {
        self.with(|identity| {
            let capabilities = core::mem::replace(&mut identity.capabilities, Capabilities::none());
            identity.capabilities = capabilities.with(capability);
        })
    }

    /// Sets all capabilities, replacing those declared so far.
    #[must_use]
    pub fn capabilities(self, capabilities: Capabilities) -> Self {
        self.with(|identity| identity.capabilities = capabilities)
    }

    /// Declares experimental, non-standard features: an object with a member for each.
    ///
    /// A value that is not an object declares none. Prefer an [`Extension`] for a new feature.
    #[must_use]
    pub fn experimental(self, features: impl Into<Raw>) -> Self {
        self.with(|identity| {
            let capabilities = core::mem::replace(&mut identity.capabilities, Capabilities::none());
            identity.capabilities = capabilities.with_experimental(features);
        })
    }

    /// Withdraws the capabilities that need a session: subscriptions, notifications of changed
    /// lists, and the tasks of 2025-11-25.
    ///
    /// Requests that need them are then refused. A server [without
    /// sessions](crate::http::Policy::without_sessions) has nowhere to send changes, and does not
    /// know the owner of a task.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn without_sessions(self) -> Self {
        use crate::Capability::{
            PromptsListChanged, ResourcesListChanged, ResourcesSubscribe, Tasks, TasksCancel,
            TasksList, TasksToolsCall, ToolsListChanged,
        };
        let lists =
            [PromptsListChanged, ResourcesListChanged, ResourcesSubscribe, ToolsListChanged];
        let tasks = [Tasks, TasksCancel, TasksList, TasksToolsCall];
        let withdrawn = lists.into_iter().chain(tasks);
        self.with(|identity| {
            let capabilities = core::mem::replace(&mut identity.capabilities, Capabilities::none());
            identity.capabilities = withdrawn.fold(capabilities, Capabilities::without);
        })
    }

    /// Sets the instructions that tell a model how to use this server. Default: none.
    #[must_use]
    pub fn instructions(self, instructions: &str) -> Self {
        self.with(|identity| identity.instructions = Some(instructions.into()))
    }

    /// Sets the protocol revisions that the server supports. Default: all.
    #[must_use]
    pub fn revisions(self, revisions: &[Revision]) -> Self {
        self.with(|identity| {
            identity.revisions = revisions.to_vec();
            identity.revisions.sort_unstable();
        })
    }

    /// Adds a method that no revision defines.
    ///
    /// Its requests are then delivered instead of being refused.
    #[must_use]
    pub fn serve_method(self, method: &str) -> Self {
        self.with(|identity| identity.served_methods.push(method.into()))
    }

    // LIF-34, CAP-17: an extension is used only if both sides declare it.
    /// Declares an extension, and adds its methods and result types.
    ///
    /// Requests of clients that declare the extension are then delivered instead of being refused.
    /// Declare at most [`Extension::COUNT_MAX`] extensions.
    ///
    /// # Errors
    /// Fails if the extension is invalid, or contradicts the protocol or another extension.
    pub fn extension(mut self, extension: Extension) -> Result<Self, ExtensionError> {
        Arc::make_mut(&mut self.identity).extensions.add(extension)?;
        Ok(self.with(|_| {}))
    }

    /// Lets the application decide on subscriptions to resources.
    ///
    /// A subscription is then delivered as an [`Event::Request`]. A legacy client sends
    /// `resources/subscribe`. A modern client sends `subscriptions/listen`, which is delivered only
    /// if the client requests resources, or elements of a [listen
    /// key](crate::Extension::listen_key).
    /// [`Request::subscribed_uris`](crate::Request::subscribed_uris) returns the requested
    /// resources.
    ///
    /// - [`Server::respond`] with an empty object accepts all requested resources.
    /// - [`Server::respond`] with a result like `schema::SubscriptionsAcknowledged` accepts only
    ///   the resources in the result's member `notifications.resourceSubscriptions`, and only the
    ///   elements in the members of `notifications` that extensions define.
    /// - [`Server::respond_error`] refuses the subscription.
    ///
    /// The client receives the response that its revision defines.
    ///
    /// Default: subscriptions to all valid URIs are accepted. Invalid URIs are always refused.
    ///
    /// [`Event::Request`]: super::Event::Request
    /// [`Server::respond`]: super::Server::respond
    /// [`Server::respond_error`]: super::Server::respond_error
    #[must_use]
    pub fn decide_subscriptions(self) -> Self {
        self.with(|identity| identity.decides_subscriptions = true)
    }

    /// Sets the limits of each connection. Default: [`Limits::default`].
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        self.with(|identity| identity.limits = limits)
    }

    /// Sets how the server reacts when a client violates the protocol.
    ///
    /// Default: [`ViolationPolicy::Reply`], which reports violations and answers malformed messages
    /// with an error.
    #[must_use]
    pub fn on_violation(self, policy: ViolationPolicy) -> Self {
        self.with(|identity| identity.policy = policy)
    }

    /// Returns the revisions that the server supports, oldest first.
    #[must_use]
    pub fn supported_revisions(&self) -> &[Revision] {
        &self.identity.revisions
    }

    /// Returns the methods added with [`serve_method`](Self::serve_method).
    pub fn served_methods(&self) -> impl Iterator<Item = &str> {
        self.identity.served_methods.iter().map(|method| &**method)
    }

    /// Returns the declared extensions.
    #[allow(dead_code, reason = "used only by HTTP")]
    pub(crate) fn extensions(&self) -> &Extensions {
        &self.identity.extensions
    }

    /// Returns the capabilities declared so far.
    #[must_use]
    pub fn capabilities_ref(&self) -> &Capabilities {
        &self.identity.capabilities
    }

    /// Returns the limits of each connection.
    #[must_use]
    pub fn limits_ref(&self) -> &Limits {
        &self.identity.limits
    }
}
