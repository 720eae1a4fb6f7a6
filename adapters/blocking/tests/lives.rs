//! Restarts of a server: because it exits when probed, or because it died.

#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod common;

use std::process::Command;
use std::time::Duration;

use common::eras::{discovered, meet, welcomed};
use common::{client, eventually, with_timeout};
use mcp_blocking::proto::{CallError, CloseReason, Era, Filter, Limits, Raw};
use mcp_blocking::{Changed, Connection, Error, Recovery, Subscription};
use mcp_test_processes::scratch_path;
use serde_json::{Value, json};

const URI: &str = "note://one";

/// A server of `era` that copies its input to stderr, sends a change when it receives `tell`, and
/// exits when it receives `die`. In the legacy era it also exits on unknown methods, such as the
/// probe.
fn mortal(era: Era) -> Command {
    let script = r#"
        say() { printf '%s\n' "$1"; }
        answer() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
        tagged() { say "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/$1\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":$listen},$2}}"; }
        while read -r line; do
            say "$line" >&2
            id=${line#*\"id\":}; id=${id%%[,\}]*}
            case "$ERA $line" in
                Modern*'"server/discover"'*) answer "$DISCOVERED";;
                Legacy*'"initialize"'*) answer "$WELCOMED";;
                Modern*'"subscriptions/listen"'*) listen=$id; tagged subscriptions/acknowledged "\"notifications\":$FILTER";;
                Legacy*'"resources/'*) answer '{}';;
                Modern*notifications/tell*) tagged resources/updated "\"uri\":\"$URI\"";;
                Legacy*notifications/tell*) say "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":\"$URI\"}}";;
                *notifications/*) ;;
                *) exit 3;;
            esac
            case "$line" in *notifications/die*) exit 4;; esac
        done"#;
    let offered = json!({"tools": {}, "resources": {"subscribe": true}});
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).env("ERA", format!("{era:?}")).env("URI", URI);
    command.env("DISCOVERED", discovered(&offered).to_string());
    command.env("WELCOMED", welcomed(&offered).to_string());
    command.env("FILTER", json!({"resourceSubscriptions": [URI]}).to_string());
    command
}

/// Waits until the server has received exactly these methods since it was started.
fn has_heard(connection: &Connection, methods: &[&str]) {
    eventually("the server has copied its input", || connection.stderr().len() >= methods.len());
    let heard = connection.stderr().into_iter().map(|line| {
        let line: Value = serde_json::from_str(&line).unwrap();
        line["method"].as_str().unwrap().to_owned()
    });
    assert_eq!(heard.collect::<Vec<_>>(), methods);
}

fn tell(connection: &Connection, listening: &mut Subscription) {
    connection.notify_raw("notifications/tell", None).wait().unwrap();
    assert_eq!(listening.next().wait().unwrap(), Some(Changed::Resource(URI.into())));
}

// T-36
#[test]
fn a_child_that_exits_when_probed_is_restarted_and_gets_initialize() {
    with_timeout(|| {
        let connection = client().spawn(mortal(Era::Legacy)).wait().unwrap();
        assert_eq!(connection.era(), Era::Legacy);
        let mut listening = connection.subscribe(&Filter::new().resource(URI)).wait().unwrap();
        tell(&connection, &mut listening);
        let methods = [
            "initialize",
            "notifications/initialized",
            "resources/subscribe",
            "notifications/tell",
        ];
        has_heard(&connection, &methods);
        drop(listening);
        connection.close().wait().unwrap();
    });
}

/// A legacy server that hangs when it is probed and exits on the message after that, as do servers
/// whose reading thread ends only with its next line.
fn stunned() -> Command {
    let script = r#"
        while read -r line; do
            printf '%s\n' "$line" >&2
            case "$stunned $line" in
                stunned*) exit 1;;
                *'"server/discover"'*) stunned=stunned;;
                *'"initialize"'*) printf '{"jsonrpc":"2.0","id":1,"result":%s}\n' "$WELCOMED";;
            esac
        done"#;
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).env("WELCOMED", welcomed(&json!({"tools": {}})).to_string());
    command
}

// T-36, LIF-31
#[test]
fn a_child_that_dies_of_an_unanswered_probe_is_restarted_and_its_era_is_remembered() {
    with_timeout(|| {
        let limits = Limits { probe_timeout: Duration::from_millis(50), ..Limits::default() };
        let mut connection = client().limits(limits).spawn(stunned()).wait().unwrap();
        for _ in 0..2 {
            assert_eq!(connection.era(), Era::Legacy);
            has_heard(&connection, &["initialize", "notifications/initialized"]);
            connection = connection.reconnect().wait().unwrap();
        }
        connection.close().wait().unwrap();
    });
}

// T-36
#[test]
fn a_child_that_always_exits_is_started_twice_only() {
    with_timeout(|| {
        let log = scratch_path("lives");
        let mut command = Command::new("sh");
        command.arg("-c").arg("echo once >>\"$LOG\"; read -r _; exit 3").env("LOG", &log);
        let failed = client().spawn(command).wait().map(drop).unwrap_err();
        let lives = std::fs::read_to_string(&log).unwrap();
        std::fs::remove_file(&log).unwrap();
        assert_eq!(lives, "once\nonce\n");
        let Error::Start { why: CloseReason::Peer, status: Some(status), probed: false, .. } =
            failed
        else {
            panic!("{failed:?}")
        };
        assert_eq!(status.code(), Some(3));
    });
}

// LIF-31
#[test]
fn a_child_that_is_expected_to_be_legacy_is_started_once() {
    with_timeout(|| {
        let connection =
            client().expect_era(Era::Legacy).spawn(mortal(Era::Legacy)).wait().unwrap();
        assert_eq!(connection.era(), Era::Legacy);
        let log = connection.clone();
        connection.close().wait().unwrap();
        has_heard(&log, &["initialize", "notifications/initialized"]);
    });
}

// FRM-22, STL-38, LIF-31
#[test]
fn a_dead_server_is_restarted_in_its_era_and_subscriptions_resume() {
    with_timeout(|| {
        for (era, opening) in [
            (
                Era::Legacy,
                ["initialize", "notifications/initialized", "resources/subscribe"].as_slice(),
            ),
            (Era::Modern, &["server/discover", "subscriptions/listen"]),
        ] {
            let lossy = client().recovery(Recovery::off());
            let mut connection = lossy.spawn(mortal(era)).wait().unwrap();
            drop(connection.subscribe(&Filter::new().resource(URI)).wait().unwrap());
            let mut listening = connection.subscribe(&Filter::new().resource(URI)).wait().unwrap();
            tell(&connection, &mut listening);
            // The server dies several times.
            for _ in 0..2 {
                connection.notify_raw("notifications/die", None).wait().unwrap();
                assert_eq!(listening.next().wait().unwrap(), None);
                assert_eq!(listening.ended(), Some(Err(CallError::Lost)));
                connection = connection.reconnect().wait().unwrap();
                assert_eq!((connection.era(), listening.ended()), (era, None));
                assert_eq!(listening.acknowledged(), Filter::new().resource(URI));
                // Changes may have been missed.
                let missed = listening.next().wait().unwrap();
                assert_eq!(missed, Some(Changed::Resource(URI.into())));
                tell(&connection, &mut listening);
                has_heard(&connection, &[opening, &["notifications/tell"]].concat());
            }
            drop(listening);
            connection.close().wait().unwrap();
        }
    });
}

// FRM-22
#[test]
fn a_running_server_is_ended_before_it_is_restarted() {
    with_timeout(|| {
        let first = client().spawn(mortal(Era::Modern)).wait().unwrap();
        let mut listening = first.subscribe(&Filter::new().resource(URI)).wait().unwrap();
        let second = first.reconnect().wait().unwrap();
        assert_eq!(first.close_reason(), Some(CloseReason::Local));
        tell(&second, &mut listening);
        // A resumed subscription no longer belongs to the first connection.
        let third = first.reconnect().wait().unwrap();
        tell(&second, &mut listening);
        has_heard(&third, &["server/discover"]);
        third.close().wait().unwrap();
        second.close().wait().unwrap();
        assert_eq!(listening.ended(), Some(Err(CallError::Lost)));
    });
}

// FRM-22
#[test]
fn a_subscription_dropped_while_the_server_restarts_does_not_delay_it() {
    with_timeout(|| {
        let log = scratch_path("lives-dropped");
        // Never acknowledges a subscription in its second life.
        let script = r#"
            while read -r line; do
                id=${line#*\"id\":}; id=${id%%[,\}]*}
                case "$line" in
                    *'"server/discover"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$DISCOVERED}";;
                    *'"subscriptions/listen"'*)
                        echo "$line" >>"$LOG"
                        if [ "$(wc -l <"$LOG")" = 1 ]; then
                            echo "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":$id},\"notifications\":{\"toolsListChanged\":true}}}"
                        fi;;
                esac
            done"#;
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).env("LOG", &log);
        let offered = json!({"tools": {"listChanged": true}});
        command.env("DISCOVERED", discovered(&offered).to_string());
        let first = client().spawn(command).wait().unwrap();
        let listening = first.subscribe(&Filter::new().tools()).wait().unwrap();
        let restarting = std::thread::spawn(move || first.reconnect().wait().unwrap());
        eventually("the subscription is resumed", || {
            std::fs::read_to_string(&log).unwrap().lines().count() == 2
        });
        drop(listening);
        restarting.join().unwrap().close().wait().unwrap();
        std::fs::remove_file(&log).unwrap();
    });
}

// FRM-22
#[test]
fn a_server_over_given_streams_cannot_be_restarted() {
    with_timeout(|| {
        let (connection, _hand) = meet(Era::Modern, client(), &json!({"tools": {}}));
        let failed = connection.reconnect().wait().map(drop);
        let Err(Error::Io(error)) = &failed else { panic!("{failed:?}") };
        assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
        assert_eq!(connection.close_reason(), None, "the connection is unchanged");
        let open = connection.call_raw("test/open", Raw::empty_object()).start().wait().unwrap();
        open.cancel("enough");
        connection.close().wait().unwrap();
    });
}
