//! The name of a method, known to the protocol or not.

use alloc::boxed::Box;
use core::fmt;
use core::ops::Deref;

use super::MethodId;

/// The name of any method, whether or not the protocol defines it.
///
/// Dereferences to the wire name. The name of a protocol method is stored as its [`MethodId`],
/// without allocation; any other name is stored as text.
///
/// ```
/// use mcp_proto::{Method, MethodId};
///
/// let method = Method::from("tools/call");
/// assert_eq!(method.id(), Some(MethodId::CallTool));
/// assert_eq!(method, "tools/call");
/// assert_eq!(Method::from("com.example/reload").id(), None);
/// ```
#[derive(Clone)]
pub struct Method(Name);

#[derive(Clone)]
enum Name {
    Known(MethodId),
    Other(Box<str>),
}

impl Method {
    /// Creates the name of a method that no revision defines.
    pub(crate) fn other(name: &str) -> Self {
        Self(Name::Other(name.into()))
    }

    /// Returns the method's id, or `None` if no revision defines the method.
    #[must_use]
    pub const fn id(&self) -> Option<MethodId> {
        match &self.0 {
            Name::Known(id) => Some(*id),
            Name::Other(_) => None,
        }
    }
}

impl From<MethodId> for Method {
    fn from(id: MethodId) -> Self {
        Self(Name::Known(id))
    }
}

impl From<&str> for Method {
    fn from(name: &str) -> Self {
        MethodId::from_name(name).map_or_else(|| Self::other(name), Self::from)
    }
}

impl Deref for Method {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            Name::Known(id) => id.name(),
            Name::Other(name) => name,
        }
    }
}

impl PartialEq for Method {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Method {}

impl PartialEq<str> for Method {
    fn eq(&self, other: &str) -> bool {
        &**self == other
    }
}

impl PartialEq<&str> for Method {
    fn eq(&self, other: &&str) -> bool {
        &**self == *other
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

#[cfg(test)]
mod tests;
