//! A method's name: one of the protocol's, or any other.

use alloc::boxed::Box;
use core::fmt;
use core::ops::Deref;

use super::MethodId;

/// A method's name. A method of the protocol takes no allocation.
#[derive(Clone)]
pub struct Method(Name);

#[derive(Clone)]
enum Name {
    Known(MethodId),
    Other(Box<str>),
}

impl Method {
    /// The name of a method that no revision has.
    pub(crate) fn other(name: &str) -> Self {
        Self(Name::Other(name.into()))
    }

    /// Returns the id of a method of the protocol.
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
