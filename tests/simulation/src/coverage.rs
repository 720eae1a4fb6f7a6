//! Counts what was reached, by name, and lists what should have been.

use std::collections::BTreeMap;
use std::fmt;

use mcp_proto::Revision;

use crate::case::Feature;
use crate::http;
use crate::plan::ACTIONS;

/// Counts by name.
#[derive(Clone, Debug, Default)]
pub struct Coverage(BTreeMap<String, u64>);

impl Coverage {
    /// Counts one occurrence.
    pub fn mark(&mut self, name: &str) {
        match self.0.get_mut(name) {
            Some(count) => *count += 1,
            None => _ = self.0.insert(name.to_owned(), 1),
        }
    }

    /// Adds other counts.
    pub fn merge(&mut self, other: &Self) {
        for (name, count) in &other.0 {
            *self.0.entry(name.clone()).or_default() += count;
        }
    }

    /// Returns the expected names that were not reached.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let mut expected = Vec::new();
        if self.0.contains_key("world streams") {
            expected.extend(of_streams());
        }
        if self.0.contains_key("world http") {
            expected.extend(http::expected());
        }
        expected.into_iter().filter(|name| !self.0.contains_key(name)).collect()
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let missing = self.missing();
        let missing_counts = missing.iter().map(|name| (name, 0));
        for (name, count) in self.0.iter().map(|(name, count)| (name, *count)).chain(missing_counts)
        {
            let (group, name) = name.split_once(' ').unwrap_or(("other", name));
            let mark = if count == 0 { " <- NEVER REACHED" } else { "" };
            groups.entry(group).or_default().push(format!("{name}={count}{mark}"));
        }
        for (group, mut entries) in groups {
            entries.sort();
            write!(f, "{group}:")?;
            let mut width = 0;
            for entry in entries {
                if width == 0 || width + entry.len() > 110 {
                    write!(f, "\n   ")?;
                    width = 3;
                }
                width += entry.len() + 2;
                write!(f, " {entry} ")?;
            }
            writeln!(f)?;
        }
        write!(f, "never reached: {}", missing.len())
    }
}

/// Returns the names a long run over streams should reach.
fn of_streams() -> Vec<String> {
    let mut names = Vec::new();
    let mut add = |group: &str, words: &str| {
        names.extend(words.split_whitespace().map(|word| format!("{group} {word}")));
    };
    let common = "Cancelled Closed Completed Notification Progress Ready Request Violation";
    add("event", &with("client.", &format!("{common} Subscribed")));
    add("event", &with("server.", &format!("{common} Watched Unwatched")));
    let ends = "ok Cancelled Invalid Lost Refused TimedOut";
    add("call", &with("client.", &format!("{ends} TooManyRounds InputRefused SubscriptionEnded")));
    add("call", &with("server.", ends));
    let misuses = "Blocked Closed NotReady Stale Undeclared Unencodable Unsupported";
    add("misuse", &with("client.", misuses));
    add("misuse", &with("server.", misuses));
    let violations = "BadNotification BeforeInitialize DuplicateId Invalid InvalidBatch NotJson \
        StaleProgress TooLong Truncated UnknownResponse";
    add(
        "violation",
        &with(
            "client.",
            &format!("{violations} UnexpectedRequest UnknownSubscription")
                .replace("BeforeInitialize", ""),
        ),
    );
    add("violation", &with("server.", violations));
    let faults = "FirstViolation Stalled TooManyViolations Unresponsive";
    add(
        "fault",
        &with(
            "client.",
            &format!("{faults} BadHandshake HandshakeTimedOut NoCommonRevision Refused"),
        ),
    );
    add("fault", &with("server.", faults));
    add("close", &with("client.", "Local Peer"));
    add("close", &with("server.", "Local Peer"));
    add("phase", &with("client.", "opening->ready opening->closed ready->closed"));
    add(
        "phase",
        &with(
            "server.",
            "opening->ready opening->draining opening->closed ready->draining ready->closed \
             draining->closed",
        ),
    );
    add(
        "limit",
        "batch_members_max calls_max calls_bytes_max depth_max error_replies_max events_max \
         events_bytes_max id_bytes_max input_rounds_max message_bytes_max outbox_bytes_max \
         pings_missed_max input_requests_max replies_bytes_max requests_max subscriptions_max \
         subscription_uris_max violations_max cache_hit drain_timeout handshake_timeout \
         probe_timeout call_timeout stall_timeout",
    );
    for client in Revision::ALL {
        for server in Revision::ALL {
            add("newest", &format!("{client}/{server}"));
        }
        add("spoken", &with("client.", client.name()));
        if client.rules().server_requests {
            add("spoken", &with("server.", client.name()));
        }
    }
    for (action, ..) in ACTIONS {
        add("done", &format!("{action:?}"));
    }
    for feature in Feature::OF_STREAMS {
        add("feature", &format!("{feature:?}"));
    }
    add(
        "wire",
        &with(
            "client.",
            "initialize server/discover ping tools/list tools/call resources/list resources/read \
             resources/templates/list resources/subscribe resources/unsubscribe prompts/list \
             prompts/get completion/complete logging/setLevel subscriptions/listen \
             notifications/initialized notifications/cancelled notifications/progress \
             notifications/roots/list_changed result error batch",
        ),
    );
    add(
        "wire",
        &with(
            "server.",
            "ping sampling/createMessage roots/list elicitation/create notifications/cancelled \
             notifications/progress notifications/message notifications/tools/list_changed \
             notifications/prompts/list_changed notifications/resources/list_changed \
             notifications/resources/updated notifications/subscriptions/acknowledged \
             result error batch error-without-id input_required",
        ),
    );
    add("replay", "same-again other-splits other-polls");
    names
}

fn with(prefix: &str, words: &str) -> String {
    let words: Vec<String> =
        words.split_whitespace().map(|word| format!("{prefix}{word}")).collect();
    words.join(" ")
}
