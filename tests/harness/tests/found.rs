//! What the simulation found, each as a story of its own: it must not come back.

use mcp_harness::Pair;
use mcp_harness::Role;
use mcp_proto::{Capability, Revision, ViolationPolicy, client, server};

/// A client without a session may say what the protocol does not know: it was taken for one that speaks too early, and
/// a strict server hung up.
#[test]
fn a_client_without_a_session_may_notify_of_what_no_revision_knows() {
    for revisions in [&Revision::ALL[..], &[Revision::V2026_07_28]] {
        let server = server::Config::new("s", "1").capability(Capability::Tools).revisions(revisions);
        let mut pair =
            Pair::ready(client::Config::new("c", "1"), server.on_violation(ViolationPolicy::Close));
        let now = pair.now;
        pair.client.notify_raw(now, "x/note", None).unwrap();
        pair.drive();
        assert_eq!(pair.server_told(), ["x/note"]);
    }
}
