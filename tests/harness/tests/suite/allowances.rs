//! Byte limits: whatever is open releases all it held, however it ends.

use std::time::Duration;

use mcp_harness::{Pair, Role as _};
use mcp_proto::{CallOptions, Capability, ErrorObject, Limits, Misuse, client, server};

const ALLOWANCE: usize = 1000;

/// Returns params that use the whole limit.
fn whole() -> String {
    let (head, tail) = (r#"{"name":"t","pad":""#, r#""}"#);
    format!("{head}{}{tail}", "a".repeat(ALLOWANCE - head.len() - tail.len()))
}

#[test]
fn a_call_releases_its_kept_params_however_it_ends() {
    let limits = Limits { calls_bytes_max: ALLOWANCE, ..Limits::default() };
    let server = server::Config::new("s", "1").capability(Capability::Tools);
    let mut pair = Pair::ready(client::Config::new("c", "1").limits(limits), server);
    for end in ["answered", "refused", "cancelled", "timed out"] {
        let call = pair.call("tools/call", &whole());
        let call = call.unwrap_or_else(|misuse| panic!("before it is {end}: {misuse:?}"));
        assert_eq!(pair.call("tools/call", &whole()), Err(Misuse::Blocked), "nothing is left");
        let (incoming, ..) = pair.next_request();
        let now = pair.now;
        match end {
            "answered" => pair.respond(incoming, r#"{"content":[]}"#).unwrap(),
            "refused" => {
                pair.server.respond_error(now, incoming, &ErrorObject::internal("no")).unwrap();
            }
            "cancelled" => pair.client.cancel(now, call, "no more").unwrap(),
            _ => pair.wait(Duration::from_secs(60)),
        }
        let _however_it_ends = pair.outcome(call);
        pair.drive_until_quiet();
        pair.server_told();
    }
}

#[test]
fn a_request_releases_its_bytes_however_it_ends() {
    // Each also carries metadata.
    let limits = Limits { requests_bytes_max: 2 * ALLOWANCE, ..Limits::default() };
    let server = server::Config::new("s", "1").capability(Capability::Tools).limits(limits);
    let mut pair = Pair::ready(client::Config::new("c", "1"), server);
    for end in ["answered", "cancelled", "answered", "cancelled"] {
        let call = pair.call_with("tools/call", &whole(), CallOptions::default()).unwrap();
        let (incoming, ..) = pair.next_request();
        let now = pair.now;
        match end {
            "answered" => pair.respond(incoming, r#"{"content":[]}"#).unwrap(),
            _ => pair.client.cancel(now, call, "no more").unwrap(),
        }
        assert_eq!(pair.outcome(call).is_ok(), end == "answered");
        pair.drive_until_quiet();
        pair.server_told();
    }
}
