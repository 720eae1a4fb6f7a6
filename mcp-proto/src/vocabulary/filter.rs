//! The filters of subscriptions, and the changes that a server reports.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::json::{Array, Object, elements, find, unescape, write_str};
use crate::method::MethodId;
use crate::revision::Capability;
use crate::schema::Capabilities;

/// A selection of changes that a client subscribes to, or that a server has agreed to report.
///
/// Pass a filter to [`Client::subscribe`](crate::client::Client::subscribe). The server may agree
/// to only a part of it: [`client::Event::Subscribed`](crate::client::Event::Subscribed) holds the
/// effective filter. See the specification on [subscriptions][spec].
///
/// ```
/// use mcp_proto::Filter;
///
/// let filter = Filter::new().tools().resource("file:///etc/hosts");
/// assert!(filter.tools && !filter.prompts);
/// ```
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Filter {
    /// Whether to report changes to the list of tools. Default: false.
    pub tools: bool,
    /// Whether to report changes to the list of prompts. Default: false.
    pub prompts: bool,
    /// Whether to report changes to the list of resources. Default: false.
    pub resources: bool,
    /// The URIs of the resources whose changes are reported. Default: none.
    ///
    /// A URI also covers its sub-resources. The number of URIs is limited to
    /// [`Limits::subscription_uris_max`](crate::Limits::subscription_uris_max).
    pub uris: Vec<Box<str>>,
}

impl Filter {
    /// Creates a filter that selects no changes.
    #[must_use]
    pub const fn new() -> Self {
        Self { tools: false, prompts: false, resources: false, uris: Vec::new() }
    }

    /// Selects changes to the list of tools.
    #[must_use]
    pub const fn tools(mut self) -> Self {
        self.tools = true;
        self
    }

    /// Selects changes to the list of prompts.
    #[must_use]
    pub const fn prompts(mut self) -> Self {
        self.prompts = true;
        self
    }

    /// Selects changes to the list of resources.
    #[must_use]
    pub const fn resources(mut self) -> Self {
        self.resources = true;
        self
    }

    /// Selects changes to the resource `uri` and its sub-resources.
    #[must_use]
    pub fn resource(mut self, uri: impl Into<Box<str>>) -> Self {
        self.uris.push(uri.into());
        self
    }

    /// Returns the part that a server with these capabilities supports.
    // STL-30: the server acknowledges the supported part.
    pub(crate) fn offered_by(&self, capabilities: &Capabilities) -> Self {
        Self {
            tools: self.tools && capabilities.has(Capability::ToolsListChanged),
            prompts: self.prompts && capabilities.has(Capability::PromptsListChanged),
            resources: self.resources && capabilities.has(Capability::ResourcesListChanged),
            uris: if capabilities.has(Capability::ResourcesSubscribe) {
                self.uris.clone()
            } else {
                Vec::new()
            },
        }
    }

    /// Returns the part that `asked` also selects, without duplicate URIs.
    // STL-35: a server cannot acknowledge more than the client asked for.
    pub(crate) fn restricted_to(mut self, asked: &Self) -> Self {
        // `remove` also drops duplicates.
        let mut names: BTreeSet<&str> = asked.uris.iter().map(|uri| &**uri).collect();
        self.uris.retain(|uri| names.remove(&**uri));
        self.uris.shrink_to_fit();
        Self {
            tools: self.tools && asked.tools,
            prompts: self.prompts && asked.prompts,
            resources: self.resources && asked.resources,
            uris: self.uris,
        }
    }

    /// Returns whether the filter selects the list change that `method` reports.
    pub(crate) fn matches_list(&self, method: MethodId) -> bool {
        match method {
            MethodId::ToolsChanged => self.tools,
            MethodId::PromptsChanged => self.prompts,
            MethodId::ResourcesChanged => self.resources,
            _ => false,
        }
    }

    /// Returns whether the filter selects changes of `uri`.
    // T-122: a subscription covers sub-resources.
    pub(crate) fn matches_uri(&self, uri: &str) -> bool {
        self.uris.iter().any(|named| is_within_resource(named, uri))
    }

    /// Returns the total length of all URIs in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.uris.iter().map(|uri| uri.len()).sum()
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let mut filter = Object::begin(out);
        for (name, wanted) in [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ] {
            if wanted {
                filter.bool(name, true);
            }
        }
        if !self.uris.is_empty() {
            let mut uris = Array::begin(filter.key("resourceSubscriptions"));
            for uri in &self.uris {
                write_str(uris.next(), uri);
            }
            uris.end();
        }
        filter.end();
    }

    /// Parses a filter. Returns `None` if a member has the wrong type; ignores unknown members.
    /// Reads at most `uris_max + 1` URIs, so that the caller can refuse a filter that has too many.
    // T-104: unknown members are future kinds of changes.
    pub(crate) fn read(filter: &[u8], uris_max: usize) -> Option<Self> {
        let flag = |name| match find(filter, name) {
            Some(b"true") => Some(true),
            None | Some(b"false" | b"null") => Some(false),
            Some(_) => None,
        };
        let uris =
            find(filter, "resourceSubscriptions").filter(|uris| *uris != b"null").unwrap_or(b"[]");
        if !filter.starts_with(b"{") || !uris.starts_with(b"[") {
            return None;
        }
        Some(Self {
            tools: flag("toolsListChanged")?,
            prompts: flag("promptsListChanged")?,
            resources: flag("resourcesListChanged")?,
            uris: elements(uris)
                .take(uris_max.saturating_add(1))
                .map(|uri| unescape(uri).map(Into::into))
                .collect::<Option<_>>()?,
        })
    }
}

/// Returns whether `uri` is the resource `parent` or one of its sub-resources.
pub(crate) fn is_within_resource(parent: &str, uri: &str) -> bool {
    uri.strip_prefix(parent).is_some_and(|rest| {
        rest.is_empty() || parent.ends_with('/') || rest.starts_with(['/', '?', '#'])
    })
}

/// A change on a server, to be reported to the client.
///
/// [`Server::notify_changed`](crate::server::Server::notify_changed) reports the change on every
/// subscription that covers the change. In a legacy session, a changed list is reported without a
/// subscription. The server must have declared the matching capability.
///
/// ```
/// use mcp_proto::server::{Config, Server};
/// use mcp_proto::{Capability, Change, Instant, Misuse};
///
/// let config = Config::new("files", "1.0.0").capability(Capability::ToolsListChanged);
/// let mut server = Server::new(Instant::ZERO, config);
/// assert_eq!(server.notify_changed(Instant::ZERO, Change::Prompts), Err(Misuse::Undeclared));
/// ```
// CAP-12: changes need a declared capability.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Change<'a> {
    /// A change of the list of prompts.
    Prompts,
    /// A change of the resource with this URI.
    Resource(&'a str),
    /// A change of the list of resources.
    Resources,
    /// A change of the list of tools.
    Tools,
}

impl Change<'_> {
    pub(crate) const fn method(&self) -> MethodId {
        match self {
            Self::Prompts => MethodId::PromptsChanged,
            Self::Resource(_) => MethodId::ResourceUpdated,
            Self::Resources => MethodId::ResourcesChanged,
            Self::Tools => MethodId::ToolsChanged,
        }
    }

    pub(crate) const fn needs(&self) -> Capability {
        match self {
            Self::Prompts => Capability::PromptsListChanged,
            Self::Resource(_) => Capability::ResourcesSubscribe,
            Self::Resources => Capability::ResourcesListChanged,
            Self::Tools => Capability::ToolsListChanged,
        }
    }

    /// Returns whether `filter` selects this change.
    pub(crate) fn matches(&self, filter: &Filter) -> bool {
        match self {
            Self::Resource(uri) => filter.matches_uri(uri),
            other => filter.matches_list(other.method()),
        }
    }
}

#[cfg(test)]
mod tests;
