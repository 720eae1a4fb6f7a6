//! The sizes that `Limits::memory_bytes_max` counts with.

use crate::connection::inbound::{InboundRequest, RareRequest};
use crate::connection::pending_calls::{Call, RareCall};
use crate::limits::{CALL_BYTES, EVENT_BYTES, REQUEST_BYTES};
use crate::vocabulary::{Context, Event, Request};

/// The last one in a group of a table holds the room of all.
const GROUP: usize = 8;

/// A place in a list of them, or of deadlines, which can have room for four times what is
/// there.
const LISTED: usize = 4 * 16;

#[test]
fn the_ceiling_knows_how_large_things_are() {
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
