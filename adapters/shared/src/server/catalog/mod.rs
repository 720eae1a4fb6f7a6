//! What a server offers: its entries, their changes, who sees them, and fallbacks for others.

pub(crate) mod catalog_edit;
pub(crate) mod changes;
pub(crate) mod entries;
pub(crate) mod extension_methods;
#[cfg(feature = "tracing")]
pub(crate) mod unreadable_schema;
pub(crate) mod unregistered;
pub(crate) mod visibility;
