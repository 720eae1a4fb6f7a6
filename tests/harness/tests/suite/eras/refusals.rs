//! Servers that answer everything alike: a client gives up after a few messages.

use std::time::Duration;

use mcp_proto::{Era, Revision, client};

use super::player::{PlayedClient, client, discovered, error, welcome};

/// More requests than these count as a loop.
const REQUESTS_MAX: usize = 4;

/// Returns the server's response to every request; `ID` is replaced by the id.
fn replies() -> Vec<String> {
    let mut replies = vec![String::new()];
    let versions = [
        r#"["2026-07-28"]"#,
        r#"["2025-11-25"]"#,
        r#"["2026-07-28","2025-11-25"]"#,
        r#"["2024-11-05"]"#,
        r#"["2099-01-01"]"#,
        "[]",
    ];
    let codes = [
        -32700, -32600, -32601, -32602, -32603, -32000, -32001, -32002, -32020, -32021, -32022, -1,
        0,
    ];
    for id in ["ID", "null", "", r#""ID""#, "77"] {
        replies.extend(codes.map(|code| error(id, code, "")));
        replies.extend(versions.map(|names| {
            error(id, -32022, &format!(r#"{{"supported":{names},"requested":"2026-07-28"}}"#))
        }));
        if id.is_empty() {
            continue;
        }
        let results = versions.map(discovered).into_iter().chain([
            "{}".to_owned(),
            "5".to_owned(),
            r#"{"resultType":"input_required","requestState":"s"}"#.to_owned(),
            welcome("2026-07-28"),
            welcome("2025-11-25"),
            welcome("2099-01-01"),
        ]);
        replies.extend(
            results.map(|result| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)),
        );
    }
    replies
}

fn configs() -> Vec<client::Config> {
    let config = || client::Config::new("c", "1");
    vec![
        config(),
        config().expect_era(Era::Legacy),
        config().expect_era(Era::Modern),
        config().revisions(&[Revision::V2026_07_28]),
        config().revisions(&[Revision::V2026_07_28]).expect_era(Era::Legacy),
        config().revisions(&Revision::LEGACY),
        config().revisions(&[Revision::V2024_11_05, Revision::V2026_07_28]),
    ]
}

/// Responds to each request after `delay`, until the client is ready or closed.
fn exhaust(client: &mut PlayedClient, reply: &str, delay: Duration) {
    let mut due = Vec::new();
    let mut answered = 0;
    for _ in 0..200 {
        for request in client.said[answered..]
            .iter()
            .filter(|line| line.get("method").is_some() && line.get("id").is_some())
        {
            due.push((client.now + delay, reply.replace("ID", &request["id"].to_string())));
        }
        answered = client.said.len();
        if due.is_empty() || reply.is_empty() {
            break;
        }
        let (at, line) = due.remove(0);
        client.wait(at.duration_since(client.now));
        client.say(line);
        assert!(
            client.requests() <= REQUESTS_MAX,
            "a loop: {reply} after {delay:?}: {:#?}",
            client.said
        );
    }
    client.wait(Duration::from_secs(600));
}

#[test]
fn a_server_that_answers_everything_alike_causes_no_loop_t_32_t_33_lif_31() {
    for config in configs() {
        for reply in replies() {
            for delay in [0, 3, 5, 6, 31] {
                let mut client = client(config.clone());
                exhaust(&mut client, &reply, Duration::from_secs(delay));
                let what = || format!("{reply} after {delay} s to {config:?}: {:#?}", client.said);
                assert!(client.requests() <= REQUESTS_MAX, "a loop: {}", what());
                let is_ready = client.machine.peer().is_some();
                assert!(
                    is_ready != client.machine.close_reason().is_some(),
                    "neither ready nor closed: {}",
                    what()
                );
                let ends = |event: &&client::Event| {
                    matches!(event, client::Event::Ready(_) | client::Event::Closed(_))
                };
                assert_eq!(
                    client.events.iter().filter(ends).count(),
                    1,
                    "{:?} {}",
                    client.events,
                    what()
                );
                let is_cancel =
                    |line: &serde_json::Value| line["method"] == "notifications/cancelled";
                assert!(!client.said.iter().any(is_cancel), "{}", what());
            }
        }
    }
}
