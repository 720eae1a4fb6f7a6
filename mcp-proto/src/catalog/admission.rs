//! The decision whether a caller may use the entry that its request is about.

use core::fmt;

use super::resolved::Resolved;
use super::table::Entry;
use super::visibility::CatalogEntry;
use crate::rpc::ErrorObject;

/// A decision about an entry and its handler.
pub(super) type Admit<'f, 'a, H, E> = &'f mut dyn FnMut(CatalogEntry<'a>, &'a H) -> Result<(), E>;

pub(super) type Found<'a, H, E> = Result<Resolved<'a, H>, LookupError<E>>;

impl<T, H> Entry<T, H> {
    pub(super) fn admit<'a, E>(&'a self, admit: Admit<'_, 'a, H, E>) -> Result<(), LookupError<E>>
    where
        CatalogEntry<'a>: From<&'a T>,
    {
        admit((&self.item).into(), &self.handler).map_err(LookupError::Entry)
    }
}

/// The reason why [`CatalogView::lookup_admitted`](super::CatalogView::lookup_admitted) failed.
#[derive(Clone, Debug, PartialEq)]
pub enum LookupError<E> {
    /// The caller may not use the entry.
    Entry(E),
    /// The error to send as the response; see [`Catalog::lookup`](super::Catalog::lookup).
    Request(ErrorObject),
}

impl<E: fmt::Display> fmt::Display for LookupError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry(error) => error.fmt(f),
            Self::Request(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for LookupError<E> {}

impl<E> From<ErrorObject> for LookupError<E> {
    fn from(error: ErrorObject) -> Self {
        Self::Request(error)
    }
}
