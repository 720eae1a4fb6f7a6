//! Checks the type sizes that `Limits::memory_max` assumes.

use crate::collections::CHUNK;
use crate::connection::inbound::{InboundRequest, RareRequest};
use crate::connection::pending_calls::{Call, RareCall};
use crate::limits::{CALL_BYTES, EVENT_BYTES, REQUEST_BYTES};
use crate::vocabulary::{Context, Event, Request};

/// One entry of an `IdMap` can keep a whole chunk allocated.
const GROUP: usize = CHUNK as usize;

/// Bytes per entry of an id or deadline list, whose capacity can be four times its length.
const LISTED: usize = 4 * 16;

#[test]
fn the_memory_limit_covers_the_type_sizes() {
    assert!(
        2 * size_of::<(Event, usize)>() + 128 <= EVENT_BYTES,
        "{}",
        size_of::<(Event, usize)>()
    );
    let open = size_of::<InboundRequest>();
    let rare = size_of::<RareRequest>();
    let request = size_of::<Request>() + size_of::<Context>();
    assert!(
        GROUP * (open + 8) + rare + request + 2 * LISTED + 64 <= REQUEST_BYTES,
        "{open} {rare}"
    );
    let call = size_of::<Call>();
    assert!(GROUP * call + size_of::<RareCall>() + 2 * LISTED + 64 <= CALL_BYTES, "{call}");
}
