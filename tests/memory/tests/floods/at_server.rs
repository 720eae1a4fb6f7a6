//! Floods that a client can send to a server, in both eras.

use std::io::Write;

use mcp_memory_tests::counted;
use mcp_proto::schema::CallToolResult;
use mcp_proto::server::{Config, Event, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{Capability, Endpoint, Instant, Limits};

use super::driver::{Peer, Report};

const NOW: Instant = Instant::ZERO;

fn server(limits: Limits) -> Stdio<Server> {
    let config = Config::new("s", "1")
        .instructions("Be kind.")
        .capability(Capability::Tools)
        .capability(Capability::ToolsListChanged)
        .capability(Capability::ResourcesSubscribe)
        .capability(Capability::Logging);
    Stdio::new(Server::new(NOW, config.limits(limits)))
}

fn session(limits: Limits) -> Stdio<Server> {
    let mut server = server(limits);
    server.handle_input(
        NOW,
        br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#,
    );
    server
}

fn ignore(_: &mut Stdio<Server>, event: Event) {
    counted(|| drop(event));
}

/// Responds when there is no room for more input.
fn answer(server: &mut Stdio<Server>, event: Event) {
    counted(|| {
        if let Event::Request { incoming, .. } = event {
            let _stale = server.respond(NOW, incoming, &CallToolResult::text("ok"));
        }
    });
}

const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a vector succeeds");
}

/// Sends modern requests whose client describes itself in `bytes` bytes.
pub fn long_description(report: &mut Report, bytes: usize) {
    let icons = vec![r#"{"src":""}"#; bytes / 11].join(",");
    for method in ["tools/list", "server/discover", "subscriptions/listen"] {
        report.flood(&format!("server: icons in {method}"), Peer::Reads, server, 2, |index, out| {
            put(out, format_args!(r#"{{"jsonrpc":"2.0","id":{index},"method":"{method}","params":{{"_meta":{{{META},"io.modelcontextprotocol/clientInfo":{{"name":"c","version":"1","icons":[{icons}]}}}}}}}}"#));
        }, ignore);
    }
}

pub fn all(report: &mut Report) {
    let limits = report.limits.clone();
    let (lines, long) = (report.lines, limits.message_bytes_max - 200);
    let fill = |out: &mut Vec<u8>, length: usize, byte: u8| out.resize(out.len() + length, byte);
    report.flood("server: garbage", Peer::Deaf, server, lines, |_, out| out.push(b'1'), ignore);
    report.flood(
        "server: notifications",
        Peer::Deaf,
        session,
        lines,
        |index, out| {
            put(
                out,
                format_args!(r#"{{"jsonrpc":"2.0","method":"x/{index}","params":{{"a":1}}}}"#),
            );
        },
        ignore,
    );
    for (name, peer) in
        [("server: pings, unread", Peer::Deaf), ("server: pings, read", Peer::Reads)]
    {
        report.flood(
            name,
            peer,
            session,
            lines,
            |index, out| {
                put(out, format_args!(r#"{{"jsonrpc":"2.0","id":{index},"method":"ping"}}"#));
            },
            ignore,
        );
    }
    let id = "\\u0041".repeat((limits.id_bytes_max - 10) / 6);
    for (name, peer) in [
        ("server: requests, session, unread", Peer::Deaf),
        ("server: requests, session", Peer::Reads),
    ] {
        report.flood(name, peer, session, lines / 10, |index, out| {
            put(out, format_args!(r#"{{"jsonrpc":"2.0","id":"{id}{index}","method":"tools/list","params":{{"_meta":{{"progressToken":"{id}{index}"}}}}}}"#));
        }, ignore);
    }
    report.flood(
        "server: requests, answered, unread",
        Peer::Deaf,
        session,
        lines / 10,
        |index, out| {
            put(
                out,
                format_args!(
                    r#"{{"jsonrpc":"2.0","id":{index},"method":"tools/call","params":{{"name":"a"}}}}"#
                ),
            );
        },
        answer,
    );
    report.flood("server: requests, modern", Peer::Reads, server, lines / 10, |index, out| {
        put(out, format_args!(r#"{{"jsonrpc":"2.0","id":"{id}{index}","method":"tools/list","params":{{"_meta":{{{META}}}}}}}"#));
    }, ignore);
    let icons = vec![r#"{"src":""}"#; 2_000.min(long / 16)].join(",");
    let count = report.of(icons.len());
    report.flood("server: requests with client icons", Peer::Reads, server, count, |index, out| {
        put(out, format_args!(r#"{{"jsonrpc":"2.0","id":{index},"method":"tools/list","params":{{"_meta":{{{META},"io.modelcontextprotocol/clientInfo":{{"name":"c","version":"1","icons":[{icons}]}}}}}}}}"#));
    }, ignore);
    report.flood("server: requests that are cancelled", Peer::Reads, server, lines, |index, out| {
        let id = index / 2;
        if index % 2 == 0 {
            put(out, format_args!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{{"_meta":{{{META}}}}}}}"#));
        } else {
            put(out, format_args!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#));
        }
    }, ignore);
    report.flood("server: discover, unread", Peer::Deaf, server, lines / 10, |index, out| {
        put(out, format_args!(r#"{{"jsonrpc":"2.0","id":{index},"method":"server/discover","params":{{"_meta":{{{META}}}}}}}"#));
    }, ignore);
    report.flood(
        "server: requests without metadata, unread",
        Peer::Deaf,
        server,
        lines / 10,
        |index, out| {
            put(out, format_args!(r#"{{"jsonrpc":"2.0","id":{index},"method":"tools/list"}}"#));
        },
        ignore,
    );
    let members = limits.batch_members_max as u64;
    report.flood(
        "server: batches, unread",
        Peer::Deaf,
        session,
        lines / members,
        |index, out| {
            out.push(b'[');
            for member in 0..members {
                let method = if member == 0 { "tools/list" } else { "ping" };
                let comma = if member == 0 { "" } else { "," };
                put(
                    out,
                    format_args!(
                        r#"{comma}{{"jsonrpc":"2.0","id":"{id}{index}.{member}","method":"{method}"}}"#
                    ),
                );
            }
            out.push(b']');
        },
        ignore,
    );
    report.flood(
        "server: batches of cancelled requests",
        Peer::Reads,
        session,
        lines / members,
        |index, out| {
            let requests = (1..members).map(|member| {
                format!(r#"{{"jsonrpc":"2.0","id":"{id}{index}.{member}","method":"tools/list"}}"#)
            });
            let requests: Vec<String> = requests.collect();
            put(out, format_args!("[{}]", requests.join(",")));
            for member in 2..members {
                put(
                    out,
                    format_args!(
                        "\n{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\
                \"params\":{{\"requestId\":\"{id}{index}.{member}\"}}}}"
                    ),
                );
            }
        },
        ignore,
    );
    report.flood(
        "server: depth",
        Peer::Reads,
        session,
        report.of(long),
        |_, out| fill(out, long, b'['),
        ignore,
    );
    report.flood(
        "server: lines that are too long",
        Peer::Reads,
        session,
        report.of(long),
        |_, out| {
            fill(out, 2 * limits.message_bytes_max, b' ');
        },
        ignore,
    );
    report.flood(
        "server: a line without an end",
        Peer::Reads,
        session,
        1,
        |_, out| fill(out, long, b'"'),
        ignore,
    );
    for (name, space) in
        [("server: long requests", b'x'), ("server: white space with a line break", b' ')]
    {
        report.flood(
            name,
            Peer::Reads,
            session,
            report.of(long),
            |index, out| {
                put(
                    out,
                    format_args!(
                        "{{\"jsonrpc\":\"2.0\",\"id\":{index},\
                \r\"method\":\"tools/call\",\"params\":{{\"name\":\"a\",\"b\":"
                    ),
                );
                let quote = if space == b'x' { "\"" } else { "" };
                put(out, format_args!("{quote}"));
                // Half of the limit, so that more than one is accepted.
                fill(out, long / 2, space);
                put(out, format_args!("{}}}}}", if quote.is_empty() { "1" } else { quote }));
            },
            ignore,
        );
    }
    let count = report.of(long);
    report.flood("server: subscriptions to many uris", Peer::Reads, server, count, |index, out| {
        let uris = vec!["\"\""; long / 3].join(",");
        put(out, format_args!(r#"{{"jsonrpc":"2.0","id":{index},"method":"subscriptions/listen","params":{{"_meta":{{{META}}},"notifications":{{"resourceSubscriptions":[{uris}]}}}}}}"#));
    }, ignore);
    let uris = limits.subscription_uris_max;
    let count = lines / 20;
    report.flood("server: cancelled subscriptions", Peer::Reads, server, count, |index, out| {
        let (id, is_cancel) = (index / 2, index % 2 == 1 && index % 64 > 40);
        if is_cancel {
            return put(out, format_args!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#));
        }
        let uris: Vec<String> = (0..uris).map(|uri| format!("\"{index:x}{uri:x}\"")).collect();
        put(out, format_args!(r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{{"_meta":{{{META}}},"notifications":{{"resourceSubscriptions":[{}]}}}}}}"#, uris.join("\
            ,")));
    }, ignore);
    report.flood("server: resource subscriptions", Peer::Reads, session, lines / 10, |index, out| {
        put(out, format_args!(r#"{{"jsonrpc":"2.0","id":{index},"method":"resources/subscribe","params":{{"uri":"{index}"}}}}"#));
    }, ignore);
    report.flood("server: a session of a client with icons", Peer::Reads, server, 8, |_, out| {
        let icons = vec![r#"{"src":""}"#; (limits.peer_bytes_max / 4 - 60) / 11].join(",");
        put(out, format_args!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{{}},"clientInfo":{{"name":"c","version":"1","icons":[{icons}]}}}}}}"#));
    }, ignore);
}
