//! The identity behind a request, as the driver established it.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;

use crate::json::write_str;

/// An authenticated identity, such as a user or a service account.
///
/// The driver authenticates clients and chooses the ids; the id of a principal must be stable and
/// unique. Two principals are equal if their ids are equal byte for byte. An id is never empty, and
/// it is not a secret: never use a token as an id.
///
/// For a client with a token, use the issuer and the subject of the token, with
/// [`of_issuer`](Self::of_issuer), or [`of_client`](Self::of_client) if it belongs to no user. A
/// subject alone is unique only among the subjects of its issuer.
///
/// ```
/// use mcp_proto::Principal;
///
/// let ada = Principal::of_issuer("https://id.example.com", "ada");
/// assert_ne!(ada, Principal::of_issuer("https://id.example.com", "eve"));
/// assert_ne!(ada, Principal::of_issuer("https://id.example.org", "ada"));
/// assert_eq!(ada.unwrap().id(), r#"["https://id.example.com","ada"]"#);
/// assert_eq!(Principal::new("ada").unwrap().id(), "ada");
/// assert_eq!(Principal::new(""), None); // for example, the token has no subject
/// ```
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Principal(Arc<str>);

impl Principal {
    /// Creates a principal with this id. Returns `None` if the id is empty.
    ///
    /// The id must be unique among all clients of the server.
    pub fn new(id: impl AsRef<str>) -> Option<Self> {
        let id = id.as_ref();
        (!id.is_empty()).then(|| Self(id.into()))
    }

    /// Creates the principal with this subject at this issuer. Returns `None` if either is empty.
    ///
    /// For a JSON Web Token, pass its verified claims `iss` and `sub`. For a token without `sub`,
    /// which belongs to a client only, see [`of_client`](Self::of_client).
    ///
    /// The id of the principal is a JSON array of both texts: different pairs have different ids. A
    /// server that also uses [`new`](Self::new) must not pass it an id that a client could choose
    /// to look like such an array.
    #[must_use]
    pub fn of_issuer(issuer: &str, subject: &str) -> Option<Self> {
        Self::of_pair(issuer, b",", subject)
    }

    /// Creates the principal of a client that acts for itself, with this client id at this issuer.
    /// Returns `None` if either is empty.
    ///
    /// For a token that belongs to no user (client credentials), pass its verified claims `iss` and
    /// `client_id`. The principal differs from those of all users, also of a user whose subject
    /// equals the id of the client. If the token has a `sub`, use [`of_issuer`](Self::of_issuer),
    /// although that may be the client, too.
    ///
    /// ```
    /// use mcp_proto::Principal;
    ///
    /// let client = Principal::of_client("https://id.example.com", "backup").unwrap();
    /// assert_eq!(client.id(), r#"["https://id.example.com",null,"backup"]"#);
    /// assert_ne!(Some(client), Principal::of_issuer("https://id.example.com", "backup"));
    /// ```
    // AUT-74: a session of a client is not one of the user with its name.
    #[must_use]
    pub fn of_client(issuer: &str, client_id: &str) -> Option<Self> {
        Self::of_pair(issuer, b",null,", client_id)
    }

    fn of_pair(issuer: &str, between: &[u8], name: &str) -> Option<Self> {
        if issuer.is_empty() || name.is_empty() {
            return None;
        }
        let quotes = "[\"\"\"\"]".len();
        let mut id = Vec::with_capacity(issuer.len() + between.len() + name.len() + quotes);
        id.push(b'[');
        write_str(&mut id, issuer);
        id.extend_from_slice(between);
        write_str(&mut id, name);
        id.push(b']');
        String::from_utf8(id).ok().and_then(Self::new)
    }

    /// Returns the id, which is not empty.
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
/// let ada = Principal::new("ada").unwrap();
/// let caller = Caller::new().with_principal(ada.clone()).with_data("127.0.0.1:4444");
/// assert_eq!(caller.principal(), Some(&ada));
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
    fn an_issuer_and_a_subject_are_an_unambiguous_id() {
        let of = |issuer, subject| Principal::of_issuer(issuer, subject).unwrap();
        assert_eq!(of("a", "bc"), of("a", "bc"));
        let pairs = [("a", "bc"), ("ab", "c"), ("a\",\"b", "c"), ("a", "b\",\"c"), ("a\\", "bc")];
        for (at, (issuer, subject)) in pairs.into_iter().enumerate() {
            let principal = of(issuer, subject);
            for (other, its_subject) in pairs.into_iter().skip(at + 1) {
                assert_ne!(principal, of(other, its_subject));
            }
            for between in ["", "#", "/", ",", "\",\""] {
                let plain = format!("{issuer}{between}{subject}");
                assert_ne!(Some(principal.clone()), Principal::new(plain));
            }
        }
    }

    // AUT-74
    #[test]
    fn a_client_is_no_user_and_no_client_of_another_issuer() {
        let names = ["x", "null", "x\",null,\"y", "\",\"x", "y"];
        let issuers = ["https://i", "https://j", "https://i\",null,\"x"];
        let mut principals = alloc::collections::BTreeSet::new();
        for (issuer, name) in issuers.iter().flat_map(|issuer| names.map(|name| (issuer, name))) {
            assert!(principals.insert(Principal::of_issuer(issuer, name).unwrap()));
            assert!(principals.insert(Principal::of_client(issuer, name).unwrap()));
        }
        assert_eq!(principals.len(), 2 * names.len() * issuers.len());
    }

    #[test]
    fn no_principal_is_without_an_id() {
        assert_eq!(Principal::new(""), None);
        assert_eq!(Principal::new(String::new()), None);
        for (issuer, subject) in [("", ""), ("a", ""), ("", "a")] {
            assert_eq!(Principal::of_issuer(issuer, subject), None);
            assert_eq!(Principal::of_client(issuer, subject), None);
        }
    }

    #[test]
    fn the_data_of_a_caller_is_never_shown() {
        let caller =
            Caller::new().with_principal(Principal::new("ada").unwrap()).with_data("s3cret");
        let shown = format!("{caller:?}");
        assert!(shown.contains("ada") && !shown.contains("s3cret"), "{shown}");
    }

    #[test]
    fn callers_are_equal_by_principal_and_by_the_address_of_their_data() {
        let ada = Caller::new().with_principal(Principal::new("ada").unwrap());
        let eve = Caller::new().with_principal(Principal::new("eve").unwrap());
        assert!(ada == ada.clone() && ada != eve && ada != Caller::new());
        let head = ada.clone().with_data(1);
        assert!(head == head.clone() && head != ada && head != ada.with_data(1));
        assert_eq!(head.data::<i32>(), Some(&1));
        assert_eq!(head.data::<u32>(), None);
    }
}
