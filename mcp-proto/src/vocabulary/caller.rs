//! The identity behind a request, as the driver established it.

use alloc::sync::Arc;
use core::any::Any;
use core::fmt;

/// An authenticated identity, such as a user or a service account.
///
/// The driver authenticates clients and chooses the ids; the id of a principal must be stable and
/// unique. Two principals are equal if their ids are equal byte for byte. An id is not a secret:
/// use the subject of a token, for example, and never the token itself.
///
/// ```
/// use mcp_proto::Principal;
///
/// let ada = Principal::new("https://id.example.com#ada");
/// assert_eq!(ada.id(), "https://id.example.com#ada");
/// assert_ne!(ada, Principal::new("https://id.example.com#eve"));
/// ```
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Principal(Arc<str>);

impl Principal {
    /// Creates a principal with this id.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Principal").field(&self.id()).finish()
    }
}

/// The sender of a request, as the driver knows it: its identity, and data for the handler.
///
/// A driver passes it to [`Server::set_caller`](crate::server::Server::set_caller). It arrives with
/// each request, in [`Context::caller`](super::Context::caller).
///
/// ```
/// use mcp_proto::{Caller, Principal};
///
/// let caller = Caller::new().with_principal(Principal::new("ada")).with_data("127.0.0.1:4444");
/// assert_eq!(caller.principal(), Some(&Principal::new("ada")));
/// assert_eq!(caller.data::<&str>(), Some(&"127.0.0.1:4444"));
/// ```
#[derive(Clone, Default)]
pub struct Caller {
    principal: Option<Principal>,
    data: Option<Arc<dyn Any + Send + Sync>>,
}

impl Caller {
    /// Returns a caller that is not authenticated and has no data.
    #[must_use]
    pub const fn new() -> Self {
        Self { principal: None, data: None }
    }

    /// Sets the authenticated identity.
    #[must_use]
    pub fn with_principal(mut self, principal: Principal) -> Self {
        self.principal = Some(principal);
        self
    }

    /// Sets data of the driver, such as the head of an HTTP request. Replaces earlier data.
    #[must_use]
    pub fn with_data<T: Any + Send + Sync>(mut self, data: T) -> Self {
        self.data = Some(Arc::new(data));
        self
    }

    /// Returns the authenticated identity; `None` if the sender is not authenticated.
    #[must_use]
    pub const fn principal(&self) -> Option<&Principal> {
        self.principal.as_ref()
    }

    /// Returns the driver's data if it is of type `T`.
    #[must_use]
    pub fn data<T: Any>(&self) -> Option<&T> {
        self.data.as_ref()?.downcast_ref()
    }
}

/// Compares the principals, and whether the data is one value in memory.
impl PartialEq for Caller {
    fn eq(&self, other: &Self) -> bool {
        let is_one_value = match (&self.data, &other.data) {
            (Some(data), Some(others)) => Arc::ptr_eq(data, others),
            (None, None) => true,
            _ => false,
        };
        self.principal == other.principal && is_one_value
    }
}

// The data may contain secrets, such as a token.
impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").field("principal", &self.principal).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn the_data_of_a_caller_is_never_shown() {
        let caller = Caller::new().with_principal(Principal::new("ada")).with_data("s3cret");
        let shown = format!("{caller:?}");
        assert!(shown.contains("ada") && !shown.contains("s3cret"), "{shown}");
    }

    #[test]
    fn callers_are_equal_by_principal_and_by_the_address_of_their_data() {
        let ada = Caller::new().with_principal(Principal::new("ada"));
        let eve = Caller::new().with_principal(Principal::new("eve"));
        assert!(ada == ada.clone() && ada != eve && ada != Caller::new());
        let head = ada.clone().with_data(1);
        assert!(head == head.clone() && head != ada && head != ada.with_data(1));
        assert_eq!(head.data::<i32>(), Some(&1));
        assert_eq!(head.data::<u32>(), None);
    }
}
