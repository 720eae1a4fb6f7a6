//! The tool calls whose headers the server rejected, and the list of tools that they wait for.

use alloc::collections::{BTreeMap, BTreeSet};

use crate::rpc::ErrorObject;

/// The calls with rejected headers, and the list of tools that they wait for.
#[derive(Debug, Default)]
pub(super) struct HeaderRefresh {
    /// The wire id of the request for the next page.
    pub(super) list: Option<u64>,
    /// The number of pages read.
    pub(super) pages: u32,
    /// The wire ids of the waiting calls with the errors of the server.
    pub(super) rejected: BTreeMap<u64, ErrorObject>,
    /// The wire ids of the calls that were sent again.
    pub(super) repeated: BTreeSet<u64>,
}

impl HeaderRefresh {
    /// Returns whether the request waits to be sent again.
    pub(super) fn is_waiting(&self, wire: u64) -> bool {
        self.rejected.contains_key(&wire)
    }

    /// Returns whether the request lists the tools for waiting calls.
    pub(super) fn is_list(&self, wire: u64) -> bool {
        self.list == Some(wire)
    }
}
