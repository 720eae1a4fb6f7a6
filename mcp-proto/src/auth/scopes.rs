//! [`Scopes`]: an ordered, bounded set of OAuth scopes.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::limits::AuthLimits;

/// A set of scopes in the order in which they were first seen.
///
/// A scope is opaque: no scope implies another one. Equality compares the order too.
///
/// ```
/// use mcp_proto::auth::{AuthLimits, Scopes};
///
/// let limits = AuthLimits::default();
/// let granted = Scopes::parse("files:read files:write", &limits).unwrap();
/// let needed = Scopes::parse("admin files:read", &limits).unwrap();
/// assert!(!granted.covers(&needed));
/// assert_eq!(needed.without(&granted).to_string(), "admin");
/// let union = granted.union(&needed, &limits).unwrap();
/// assert_eq!(union.to_string(), "files:read files:write admin");
/// ```
///
/// See RFC 6749, section 3.3.
#[derive(Clone, Default, Eq, PartialEq)]
pub struct Scopes(Vec<Box<str>>);

impl Scopes {
    /// Creates an empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Parses scopes separated by spaces. Repeated scopes and spaces count once.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidScopes`] for a character that RFC 6749 does not allow, and beyond
    /// [`AuthLimits::scopes_max`], [`AuthLimits::scope_bytes_max`] or
    /// [`AuthLimits::scopes_bytes_max`].
    pub fn parse(text: &str, limits: &AuthLimits) -> Result<Self, InvalidScopes> {
        Self::collect(text.split(' ').filter(|scope| !scope.is_empty()), limits)
    }

    /// Collects single scopes.
    ///
    /// # Errors
    ///
    /// Fails as [`parse`](Self::parse) does, and for an empty scope.
    pub fn collect<'a>(
        scopes: impl IntoIterator<Item = &'a str>,
        limits: &AuthLimits,
    ) -> Result<Self, InvalidScopes> {
        let mut set = Self::new();
        for scope in scopes {
            set.insert(scope, limits)?;
        }
        Ok(set)
    }

    /// Adds a scope at the end, unless the set contains it.
    ///
    /// # Errors
    ///
    /// Fails as [`parse`](Self::parse) does, and for an empty scope. The set is then unchanged.
    pub fn insert(&mut self, scope: &str, limits: &AuthLimits) -> Result<(), InvalidScopes> {
        if scope.is_empty() || !scope.bytes().all(is_scope_byte) {
            return Err(InvalidScopes::Character);
        }
        if self.contains(scope) {
            return Ok(());
        }
        let bytes = self.0.iter().map(|scope| scope.len() + 1).sum::<usize>() + scope.len();
        if scope.len() > limits.scope_bytes_max
            || self.0.len() >= limits.scopes_max
            || bytes > limits.scopes_bytes_max
        {
            return Err(InvalidScopes::TooMany);
        }
        self.0.push(scope.into());
        Ok(())
    }

    /// Returns the scopes of both sets: first those of this set, then the others, in their order.
    ///
    /// # Errors
    ///
    /// Fails if the result exceeds the limits, as for [`parse`](Self::parse).
    // AUT-63: an authorization for more asks for the earlier scopes too.
    pub fn union(&self, other: &Self, limits: &AuthLimits) -> Result<Self, InvalidScopes> {
        Self::collect(self.iter().chain(other.iter()), limits)
    }

    /// Returns the scopes that `other` lacks.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self(self.0.iter().filter(|scope| !other.contains(scope)).cloned().collect())
    }

    /// Returns whether this set contains every scope of `other`.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        other.iter().all(|scope| self.contains(scope))
    }

    /// Returns whether the set contains a scope. Scopes are case-sensitive.
    #[must_use]
    pub fn contains(&self, scope: &str) -> bool {
        self.iter().any(|own| own == scope)
    }

    /// Iterates over the scopes in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|scope| &**scope)
    }

    /// Returns the number of scopes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the set has no scopes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the value of a `scope` parameter, or `None` for an empty set, which has no value.
    pub(super) fn to_param(&self) -> Option<String> {
        (!self.is_empty()).then(|| self.0.join(" "))
    }
}

/// Writes the scopes separated by spaces.
impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, scope) in self.iter().enumerate() {
            write!(f, "{}{scope}", if index == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(&self.0).finish()
    }
}

/// Returns whether a scope may contain the byte (RFC 6749, appendix A.4).
const fn is_scope_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && byte != b'"' && byte != b'\\'
}

/// Why scopes are not accepted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum InvalidScopes {
    /// A scope is empty or has a character other than visible ASCII without `"` and `\`.
    Character,
    /// The scopes exceed the limits of [`AuthLimits`].
    TooMany,
}

impl fmt::Display for InvalidScopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Character => "a scope is empty or has a character that RFC 6749 does not allow",
            Self::TooMany => {
                "the scopes exceed `scopes_max`, `scope_bytes_max` or `scopes_bytes_max` of \
                 `AuthLimits`"
            }
        })
    }
}

impl core::error::Error for InvalidScopes {}

#[cfg(test)]
mod tests;
