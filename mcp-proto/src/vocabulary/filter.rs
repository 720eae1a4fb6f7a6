//! The filters of subscriptions, and the changes that a server reports.

use alloc::boxed::Box;
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;

use crate::collections::SortedMap;
use crate::extension::Extensions;
use crate::json::{Array, Object, Raw, elements, find, unescape, write_str};
use crate::method::MethodId;
use crate::revision::{Capability, Revision};
use crate::schema::Capabilities;
use crate::vocabulary::uri::normalize;

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
    /// The selected elements of the [listen keys](crate::Extension::listen_key) of extensions, each
    /// with its key. Default: none.
    ///
    /// Elements count towards [`Limits::subscription_uris_max`](crate::Limits) like resources.
    pub elements: Vec<(Box<str>, Box<str>)>,
}

impl Filter {
    /// Creates a filter that selects no changes.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            tools: false,
            prompts: false,
            resources: false,
            uris: Vec::new(),
            elements: Vec::new(),
        }
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

    /// Selects an element of a [listen key](crate::Extension::listen_key) of an extension.
    ///
    /// A server that lacks the extension does not receive the element. In a legacy session, the
    /// client receives the notifications of all elements without a subscription.
    ///
    /// ```
    /// use mcp_proto::Filter;
    ///
    /// let filter = Filter::new().element("boards", "b1").element("boards", "b2");
    /// ```
    #[must_use]
    pub fn element(mut self, key: impl Into<Box<str>>, element: impl Into<Box<str>>) -> Self {
        self.elements.push((key.into(), element.into()));
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
            elements: self.elements.clone(),
        }
    }

    /// Returns the part that `asked` also selects, without duplicate URIs.
    // STL-35: a server cannot acknowledge more than the client asked for.
    pub(crate) fn restricted_to(mut self, asked: &Self) -> Self {
        retain_asked(&mut self.uris, &asked.uris);
        retain_asked(&mut self.elements, &asked.elements);
        Self {
            tools: self.tools && asked.tools,
            prompts: self.prompts && asked.prompts,
            resources: self.resources && asked.resources,
            uris: self.uris,
            elements: self.elements,
        }
    }

    /// Sorts the URIs and elements, and removes duplicates.
    pub(crate) fn normalize(&mut self) {
        self.uris = sorted(core::mem::take(&mut self.uris));
        self.uris.dedup();
        self.elements = sorted(core::mem::take(&mut self.elements));
        self.elements.dedup();
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

    /// Returns whether the filter selects an element of a listen key.
    fn matches_element(&self, key: &str, element: &str) -> bool {
        self.elements.iter().any(|(its, it)| **its == *key && **it == *element)
    }

    /// Returns the number of all URIs and elements.
    pub(crate) fn len(&self) -> usize {
        self.uris.len() + self.elements.len()
    }

    /// Returns the total length of all URIs and elements in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.uris.iter().map(|uri| uri.len()).sum::<usize>() + self.elements_bytes()
    }

    /// Returns the total length of all elements and their keys in bytes.
    pub(crate) fn elements_bytes(&self) -> usize {
        self.elements.iter().map(|(key, element)| key.len() + element.len()).sum()
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
        self.write_elements(&mut filter);
        filter.end();
    }

    fn write_elements(&self, filter: &mut Object<'_>) {
        let sorted = sorted(self.elements.iter().collect());
        for of_key in sorted.chunk_by(|one, other| one.0 == other.0) {
            let Some((key, _)) = of_key.first() else { continue };
            let mut elements = Array::begin(filter.key(key));
            for (_, element) in of_key {
                write_str(elements.next(), element);
            }
            elements.end();
        }
    }

    /// Adds the elements of the listen keys that `extensions` have in `revision`. Returns `None`
    /// and reads at most `elements_max + 1` elements under the conditions of [`read`](Self::read).
    pub(crate) fn with_elements(
        mut self,
        filter: &[u8],
        elements_max: usize,
        extensions: &Extensions,
        revision: Revision,
    ) -> Option<Self> {
        for (_, key) in extensions.listen_keys(revision) {
            let Some(list) = find(filter, key).filter(|list| *list != b"null") else { continue };
            if !list.starts_with(b"[") {
                return None;
            }
            let left = elements_max.saturating_add(1).saturating_sub(self.elements.len());
            for element in elements(list).take(left) {
                self.elements.push((key.into(), unescape(element)?.into()));
            }
        }
        Some(self)
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
            elements: Vec::new(),
        })
    }
}

/// Sorts the items, in a fifth of the code of `sort_unstable`.
fn sorted<T: Ord>(items: Vec<T>) -> Vec<T> {
    BinaryHeap::from(items).into_sorted_vec()
}

/// Removes all items that `asked` does not contain, and duplicates.
fn retain_asked<T: Ord>(items: &mut Vec<T>, asked: &[T]) {
    let mut asked: SortedMap<&T, ()> = asked.iter().map(|item| (item, ())).collect();
    items.retain(|item| asked.remove(item).is_some());
    items.shrink_to_fit();
}

/// Returns whether `uri` is the resource `parent` or one of its sub-resources, in any of their
/// equivalent spellings.
pub(crate) fn is_within_resource(parent: &str, uri: &str) -> bool {
    let (parent, uri) = (normalize(parent), normalize(uri));
    uri.strip_prefix(&*parent).is_some_and(|rest| {
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
    /// A change that a notification of an [extension](crate::Extension) reports.
    ///
    /// The notification is sent to the subscriptions that select `element`, and to the client of a
    /// legacy session that declared the extension.
    Extension {
        /// The method of the notification.
        method: &'a str,
        /// The [listen key](crate::Extension::listen_key).
        key: &'a str,
        /// The element of the key that changed.
        element: &'a str,
        /// The params, an object; `None` for no params.
        params: Option<&'a Raw>,
    },
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
    /// Returns the method of the notification; `None` for one of an extension.
    pub(crate) const fn method(&self) -> Option<MethodId> {
        Some(match self {
            Self::Extension { .. } => return None,
            Self::Prompts => MethodId::PromptsChanged,
            Self::Resource(_) => MethodId::ResourceUpdated,
            Self::Resources => MethodId::ResourcesChanged,
            Self::Tools => MethodId::ToolsChanged,
        })
    }

    /// Returns the capability that a server needs to report the change; `None` if it needs an
    /// extension instead.
    pub(crate) const fn needs(&self) -> Option<Capability> {
        Some(match self {
            Self::Extension { .. } => return None,
            Self::Prompts => Capability::PromptsListChanged,
            Self::Resource(_) => Capability::ResourcesSubscribe,
            Self::Resources => Capability::ResourcesListChanged,
            Self::Tools => Capability::ToolsListChanged,
        })
    }

    /// Returns whether `filter` selects this change.
    pub(crate) fn matches(&self, filter: &Filter) -> bool {
        match self {
            Self::Resource(uri) => filter.matches_uri(uri),
            Self::Extension { key, element, .. } => filter.matches_element(key, element),
            other => other.method().is_some_and(|method| filter.matches_list(method)),
        }
    }
}

#[cfg(test)]
mod tests;
