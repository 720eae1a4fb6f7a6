//! Floods that a server can send to a client, in both eras.

use std::io::Write;

use mcp_memory_tests::counted;
use mcp_proto::client::{Client, Config, Event};
use mcp_proto::stdio::Stdio;
use mcp_proto::{CallOptions, Capability, Endpoint, Filter, Instant, Limits, Raw};

use super::driver::{Peer, Report};

const NOW: Instant = Instant::ZERO;

fn client(limits: Limits) -> Stdio<Client> {
    let config =
        Config::new("c", "1").capability(Capability::Roots).capability(Capability::ElicitationForm);
    Stdio::new(Client::new(NOW, config.limits(limits)))
}

/// Creates a client of a modern server, with open calls that may be answered by input requests.
fn modern(limits: Limits) -> Stdio<Client> {
    let calls = limits.calls_max.min(2_000);
    let mut client = client(limits);
    client.handle_input(NOW, br#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{"subscribe":true}}}}
"#);
    call(&mut client, calls);
    client
}

fn session(limits: Limits) -> Stdio<Client> {
    let calls = limits.calls_max.min(2_000);
    let mut client = client(limits);
    client.handle_input(
        NOW,
        br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}
{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}},"serverInfo":{"name":"s","version":"1"}}}
"#,
    );
    call(&mut client, calls);
    client
}

fn call(client: &mut Stdio<Client>, calls: usize) {
    let params = Raw::from_text(r#"{"name":"a"}"#).expect("it is JSON");
    let options = CallOptions { progress: true, ..CallOptions::default() };
    for _ in 0..calls {
        if client.call_raw(NOW, "tools/call", Some(&params), options.clone()).is_err() {
            client.outbox().clear();
        }
    }
    client.outbox().clear();
}

/// Opens as many subscriptions as allowed, each with the largest filter.
fn listening(mut client: Stdio<Client>) -> Stdio<Client> {
    let filter = Filter::new().tools().resource("a:b");
    // Each subscription needs a finished call.
    for id in 2..60 {
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}\n");
        client.handle_input(NOW, answer.as_bytes());
        let _full = client.subscribe(NOW, &filter, CallOptions::default());
        client.outbox().clear();
    }
    while client.poll_event().is_some() {}
    client
}

fn ignore(_: &mut Stdio<Client>, event: Event) {
    counted(|| drop(event));
}

/// Starts another call whenever one ends, for a resource not read before.
fn read_on(client: &mut Stdio<Client>, event: Event) {
    counted(|| {
        // What the event held is counted, and so is its release.
        let event = event;
        if let Event::Completed { call, .. } = event {
            let params = Raw::from_text(&format!(r#"{{"uri":"a:{call}"}}"#)).expect("it is JSON");
            let _blocked =
                client.call_raw(NOW, "resources/read", Some(&params), CallOptions::default());
        }
    });
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a vector succeeds");
}

pub fn all(report: &mut Report) {
    let limits = report.limits.clone();
    let (lines, long) = (report.lines, limits.message_bytes_max - 300);
    report.flood(
        "client: garbage for the probe",
        Peer::Deaf,
        client,
        lines,
        |_, out| out.push(b'x'),
        ignore,
    );
    report.flood("client: millions of revisions", Peer::Deaf, client, 4, |index, out| {
        let names = vec!["\"\""; long / 3].join(",");
        let id = index / 2 + 1;
        if index % 2 == 0 {
            put(out, format_args!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"supportedVersions":[{names}],"capabilities":{{}}}}}}"#));
        } else {
            put(out, format_args!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32022,"message":"","data":{{"supported":[{names}]}}}}}}"#));
        }
    }, ignore);
    report.flood("client: a server with many icons", Peer::Deaf, client, 2, |_, out| {
        let icons = vec![r#"{"src":""}"#; (limits.peer_bytes_max / 4 - 60) / 11].join(",");
        put(out, format_args!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"supportedVersions":["2026-07-28"],"capabilities":{{}},"_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"s","version":"1","icons":[{icons}]}}}}}}}}"#));
    }, ignore);
    for (name, make) in [("session", session as fn(Limits) -> Stdio<Client>), ("modern", modern)] {
        report.flood(
            &format!("client: garbage, {name}"),
            Peer::Deaf,
            make,
            lines,
            |_, out| out.push(b'x'),
            ignore,
        );
        let logs = format!("client: log messages, {name}");
        report.flood(&logs, Peer::Deaf, make, lines, |index, out| {
            put(out, format_args!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":{index}}}}}"#));
        }, ignore);
        report.flood(&format!("client: progress, {name}"), Peer::Deaf, make, lines, |index, out| {
            put(out, format_args!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":{index},"message":"a little further"}}}}"#, 3 + index % 16));
        }, ignore);
        report.flood(
            &format!("client: responses without a request, {name}"),
            Peer::Deaf,
            make,
            lines,
            |index, out| {
                put(out, format_args!(r#"{{"jsonrpc":"2.0","id":"{index}","result":{{}}}}"#));
            },
            ignore,
        );
        report.flood(
            &format!("client: requests, {name}"),
            Peer::Deaf,
            make,
            lines / 10,
            |index, out| {
                put(
                    out,
                    format_args!(r#"{{"jsonrpc":"2.0","id":"{index}","method":"roots/list"}}"#),
                );
            },
            ignore,
        );
        report.flood(
            &format!("client: long results, {name}"),
            Peer::Reads,
            make,
            report.of(long),
            |index, out| {
                put(
                    out,
                    format_args!(
                        r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[],"a":""#,
                        index + 3
                    ),
                );
                out.resize(out.len() + long, b'x');
                put(out, format_args!(r#""}}}}"#));
            },
            ignore,
        );
        let listens = move |limits| listening(make(limits));
        report.flood(
            &format!("client: changes to every subscription, {name}"),
            Peer::Reads,
            listens,
            lines / 10,
            |_, out| {
                put(
                    out,
                    format_args!(
                        r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}"#
                    ),
                );
            },
            ignore,
        );
    }
    let listens = |limits| listening(modern(limits));
    let first = limits.calls_max.min(2_000) as u64 + 2;
    let acknowledgements = "client: acknowledgements of many resources";
    report.flood(acknowledgements, Peer::Reads, listens, report.of(long), |index, out| {
        let uris = vec!["\"\""; (long - 300) / 3].join(",");
        put(out, format_args!(r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}},"notifications":{{"resourceSubscriptions":[{uris}]}}}}}}"#, first + index));
    }, ignore);
    for (name, key) in [
        ("client: input requests with long keys", true),
        ("client: rounds with long states", false),
    ] {
        let half = long.min(1 << 20) / 2;
        report.flood(
            name,
            Peer::Reads,
            modern,
            first.min(report.of(half)),
            |index, out| {
                put(
                    out,
                    format_args!(
                        r#"{{"jsonrpc":"2.0","id":{},"result":{{"resultType":"input_required","#,
                        index + 2
                    ),
                );
                put(
                    out,
                    format_args!(
                        "{}",
                        if key {
                            r#""inputRequests":{"a"#
                        } else {
                            r#""inputRequests":{"a":{"method":"roots/list"}},"requestState":"s"#
                        }
                    ),
                );
                out.resize(out.len() + half, b'k');
                put(
                    out,
                    format_args!(
                        "{}",
                        if key { r#"":{"method":"roots/list"}}}}"# } else { r#""}}"# }
                    ),
                );
            },
            ignore,
        );
    }
    let rounds = "client: rounds without input requests";
    report.flood(rounds, Peer::Deaf, modern, lines / 10, |index, out| {
        put(out, format_args!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"resultType":"input_required","requestState":"s"}}}}"#, index + 2));
    }, ignore);
    report.flood("client: cached results", Peer::Reads, modern, lines / 4, |index, out| {
        put(out, format_args!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"contents":[],"ttlMs":100000,"cacheScope":"public","a":""#, index + 2));
        out.resize(out.len() + 3_000, b'x');
        put(out, format_args!(r#""}}}}"#));
    }, read_on);
}
