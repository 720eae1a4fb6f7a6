//! Which changes a client wants to hear of, and which change a server tells of; knows nothing of
//! how either travels.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::json::{Array, Object, elements, find, unescape, write_str};
use crate::method::MethodId;
use crate::revision::Capability;
use crate::schema::Capabilities;

/// Which changes a client wants to hear of, or will hear of.
///
/// ```
/// use mcp_proto::Filter;
///
/// let filter = Filter::new().tools().resource("file:///etc/hosts");
/// assert!(filter.tools && !filter.prompts);
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Filter {
    /// When the list of tools changed.
    pub tools: bool,
    /// When the list of prompts changed.
    pub prompts: bool,
    /// When the list of resources changed.
    pub resources: bool,
    /// When one of these resources changed, or a part of one: their URIs.
    pub uris: Vec<Box<str>>,
}

impl Filter {
    /// Nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { tools: false, prompts: false, resources: false, uris: Vec::new() }
    }

    /// The same, and changes of the list of tools.
    #[must_use]
    pub const fn tools(mut self) -> Self {
        self.tools = true;
        self
    }

    /// The same, and changes of the list of prompts.
    #[must_use]
    pub const fn prompts(mut self) -> Self {
        self.prompts = true;
        self
    }

    /// The same, and changes of the list of resources.
    #[must_use]
    pub const fn resources(mut self) -> Self {
        self.resources = true;
        self
    }

    /// The same, and changes of the resource `uri`.
    #[must_use]
    pub fn resource(mut self, uri: impl Into<Box<str>>) -> Self {
        self.uris.push(uri.into());
        self
    }

    /// The part that a server with these capabilities tells of. (STL-30)
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

    /// The part that `asked` names too: what nobody asked for is not believed, nor kept. (STL-35)
    pub(crate) fn within(mut self, asked: &Self) -> Self {
        // Each of them once.
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

    /// Whether the method of a list's change is one that the filter names.
    pub(crate) fn names_list(&self, method: MethodId) -> bool {
        match method {
            MethodId::ToolsChanged => self.tools,
            MethodId::PromptsChanged => self.prompts,
            MethodId::ResourcesChanged => self.resources,
            _ => false,
        }
    }

    /// Whether a change of `uri` is one that the filter names. (T-122)
    pub(crate) fn names_uri(&self, uri: &str) -> bool {
        self.uris.iter().any(|named| is_part(named, uri))
    }

    /// Bytes of URIs.
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

    /// Reads what `write` writes; `None` when it is no filter. Members that it does not know are
    /// left out. (T-104)
    ///
    /// Of more than `uris_max` resources it reads one too many and no more: whoever reads refuses
    /// those.
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

/// Whether `uri` is the resource `whole`, or lies below it.
pub(crate) fn is_part(whole: &str, uri: &str) -> bool {
    uri.strip_prefix(whole).is_some_and(|rest| {
        rest.is_empty() || whole.ends_with('/') || rest.starts_with(['/', '?', '#'])
    })
}

/// What changed on a server. (CAP-12)
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Change<'a> {
    /// The list of prompts.
    Prompts,
    /// The resource with this URI.
    Resource(&'a str),
    /// The list of resources.
    Resources,
    /// The list of tools.
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

    /// Whether it is one that `filter` names.
    pub(crate) fn is_named_by(&self, filter: &Filter) -> bool {
        match self {
            Self::Resource(uri) => filter.names_uri(uri),
            other => filter.names_list(other.method()),
        }
    }
}

#[cfg(test)]
mod tests;
