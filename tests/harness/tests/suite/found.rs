//! Regression tests for what the simulation found.

use std::time::Duration;

use mcp_harness::{Pair, Role, Solo, initialize};
use mcp_proto::schema::Level;
use mcp_proto::server::Server;
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    CallOptions, Capability, Endpoint, Filter, Instant, Limits, Raw, Revision, ViolationPolicy,
    client, server,
};

/// A client may send notifications outside of the protocol before its first request: this was taken
/// for a premature message, and a strict server disconnected.
#[test]
fn a_client_may_send_unknown_notifications_before_its_first_request() {
    for revisions in [&Revision::ALL[..], &[Revision::V2026_07_28]] {
        let server =
            server::Config::new("s", "1").capability(Capability::Tools).revisions(revisions);
        let mut pair =
            Pair::ready(client::Config::new("c", "1"), server.on_violation(ViolationPolicy::Close));
        let now = pair.now;
        pair.client.notify_raw(now, "x/note", None).unwrap();
        pair.drive();
        assert_eq!(pair.server_told(), ["x/note"]);
    }
}

/// The allowance of error replies grew from time zero rather than from its first use: the first
/// burst was one too long.
#[test]
fn the_first_burst_of_errors_does_not_grow_with_time_t_20() {
    let limits = Limits { error_replies_max: 2, ..Limits::default() };
    let mut server = Solo::server(server::Config::new("s", "1").limits(limits));
    server.wait(Duration::from_millis(900));
    let mut heard = 0;
    for _ in 0..3 {
        server.say("garbage");
        server.wait(Duration::from_millis(50));
        server.say("garbage");
        heard += server.take_lines().len();
    }
    assert_eq!(heard, 2);
}

/// A closing server ends a subscription with a result and a cancellation; both may cross the
/// client's cancellation, and the second was taken for a violation.
#[test]
fn the_end_of_a_subscription_may_cross_its_cancel_t_101() {
    let server = server::Config::new("s", "1").capability(Capability::ToolsListChanged);
    let client = client::Config::new("c", "1").on_violation(ViolationPolicy::Close);
    let mut pair = Pair::ready(client, server);
    let now = pair.now;
    let call = pair.client.listen(now, &Filter::new().tools(), CallOptions::default()).unwrap();
    pair.drive();
    pair.client_told();
    let now = pair.now;
    pair.client.cancel(now, call, "").unwrap();
    pair.server.close(now);
    pair.drive();
    assert_eq!(pair.client_told(), ["call#2 Cancelled", "closed Peer"]);
}

/// Half a line advanced the machine's clock, which went back when the other half arrived with an
/// earlier time.
#[test]
fn time_does_not_go_back_inside_a_line_t_61() {
    let limits = Limits { ping_every: Some(Duration::from_secs(5)), ..Limits::default() };
    let config = server::Config::new("s", "1").limits(limits);
    let mut server = Stdio::new(Server::new(Instant::ZERO, config));
    let lines = format!(
        "{}\n{}\n",
        initialize("0", "2025-06-18", "{}"),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
    );
    let (head, tail) = lines.as_bytes().split_at(9);
    server.handle_input(Instant::from_millis(1000), head);
    server.handle_input(Instant::ZERO, tail);
    assert_eq!(server.poll_timeout(), Some(Instant::from_millis(6000)));
}

/// A modern client receives no log messages outside of requests, not even while its server drains.
#[test]
fn a_draining_server_sends_modern_clients_no_logs_log_06() {
    let server =
        server::Config::new("s", "1").capability(Capability::Tools).capability(Capability::Logging);
    let mut pair = Pair::ready(client::Config::new("c", "1"), server);
    pair.call("tools/list", "{}").unwrap();
    let _open = pair.next_request();
    let (now, lines) = (pair.now, pair.server.lines_sent());
    pair.server.handle_eof(now);
    let words = Raw::from_text("\"words\"").unwrap();
    pair.server.log(now, None, Level::Error, None, &words).unwrap();
    assert_eq!(pair.server.lines_sent(), lines);
}
