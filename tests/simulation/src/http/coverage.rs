//! The names that a long run of HTTP worlds should reach.

use mcp_proto::Revision;

use super::plan::{ACTIONS, features};

/// Returns all names.
pub(crate) fn expected() -> Vec<String> {
    let mut names = Vec::new();
    let mut add = |group: &str, words: &str| {
        names.extend(words.split_whitespace().map(|word| format!("http.{group} {word}")));
    };
    add("era", "legacy modern sse");
    add("verb", "POST GET DELETE");
    add("status", "200 202 204 400 404 405 503");
    add("net", "unreached request-lost response-lost cut cut-in-response gone-late");
    add("asks", "legacy modern");
    add(
        "reached",
        "json sse get resumed resumed-get last-event-id replayed evicted kept priming comment \
         answered-after-resume \
         asks-on-get asks-on-post abort gone-alone gone-in-session slow-reader client-full \
         server-full full expired \
         deleted session-lost initialized-again stalled sse-stream-lost",
    );
    add("call", "ok Cancelled Http Lost Refused TooManyRounds TimedOut InputRefused Unsent");
    add("close", "Fault Local");
    add(
        "event",
        "client.Ready client.Closed client.Completed client.Subscribed client.Notification \
         client.Progress",
    );
    add("event", "client.Request client.RequestCancelled");
    add("event", "server.Ready server.Closed server.Completed server.Notification server.Request");
    add("event", "server.RequestCancelled server.Watched server.Unwatched");
    add(
        "heard",
        "notifications/message notifications/tools/list_changed notifications/prompts/list_changed \
         notifications/resources/list_changed notifications/resources/updated",
    );
    for revision in Revision::ALL {
        add("spoken", revision.name());
        for other in Revision::ALL {
            add("newest", &format!("{revision}/{other}"));
        }
    }
    for (action, ..) in ACTIONS {
        add("done", &format!("{action:?}"));
    }
    for feature in features() {
        add("feature", &format!("{feature:?}"));
    }
    names
}
