//! An application that does anything, fit or not, by number; knows nothing of what comes of it.

use std::time::Duration;

use mcp_harness::{Role, Seen, Witness};
use mcp_proto::schema::{Elicit, Form, Level, Map};
use mcp_proto::{
    CallId, CallOptions, Capability, Change, ErrorObject, Filter, IncomingId, Instant, Limits, Misuse,
    Progress, Question, Raw, Revision,
};

/// The handles that an application has, open or not.
#[derive(Debug, Default)]
pub(crate) struct App {
    calls: Vec<CallId>,
    requests: Vec<IncomingId>,
}

/// How many acts there are.
const ACTS: u8 = 24;

impl App {
    pub(crate) fn note(&mut self, event: &impl Witness) {
        if let Seen::Request(incoming) = event.seen() {
            self.requests.push(incoming);
        }
    }

    /// Does act number `act`; `which` picks handles and words.
    pub(crate) fn act<R: Role>(&mut self, machine: &mut R, now: Instant, act: u8, which: u8) {
        let request = pick(&self.requests, which);
        let called = match act % ACTS {
            0 => machine.call_raw(now, "tools/call", Some(&text(CALLS, which)), options(which)),
            1 => machine.call_raw(now, "resources/list", None, options(which)),
            2 => machine.call_raw(now, "prompts/get", Some(&text(CALLS, which)), options(which)),
            3 => machine.call_raw(now, "x/y", Some(&text(RESULTS, which)), options(which)),
            4 => machine.call_raw(now, "ping", None, options(which)),
            5 => machine.call_raw(now, METHODS[usize::from(which) % METHODS.len()], None, options(0)),
            6 => machine.listen(now, &filter(which), options(which)),
            7 => machine.set_log_level(now, level(which), options(which)),
            other => {
                let _misuse = self.answer(machine, now, other, which, request);
                return;
            }
        };
        self.calls.extend(called);
    }

    fn answer<R: Role>(
        &self,
        machine: &mut R,
        now: Instant,
        act: u8,
        which: u8,
        request: Option<IncomingId>,
    ) -> Result<(), Misuse> {
        let incoming = request.ok_or(Misuse::Stale);
        match act {
            8 | 9 => machine.cancel(now, pick(&self.calls, which).ok_or(Misuse::Stale)?, ""),
            10..=12 => machine.respond(now, incoming?, &text(RESULTS, which)),
            13 => {
                // Others of the reserved ones are the core's to send.
                let code = [-32002, -32602, -32603, i64::from(which)][usize::from(which) % 4];
                machine.respond_error(now, incoming?, &ErrorObject::new(code, "no"))
            }
            14 | 15 => {
                let progress = Progress::new(f64::from(which >> 3));
                machine.progress(
                    now,
                    incoming?,
                    &if which & 4 == 0 { progress } else { progress.message("half") },
                )
            }
            16 => machine.log(
                now,
                request.filter(|_| which & 64 == 0),
                level(which),
                None,
                &text(RESULTS, which),
            ),
            17 => machine.changed(now, change(which)),
            18 | 19 => {
                let state = [None, Some(""), Some("state\u{e9}\n")][usize::from(which >> 6) % 3];
                machine.request_input(now, incoming?, &questions(which), state)
            }
            20 => machine.notify_raw(now, METHODS[usize::from(which) % (METHODS.len() - 1)], None),
            21 => machine.log(now, None, level(which), Some("l"), &text(RESULTS, which)),
            22 => machine.refuse_undeclared(now, incoming?, &questions(which)),
            _ => {
                if which > 127 {
                    machine.close(now);
                }
                Ok(())
            }
        }
    }
}

fn pick<T: Copy>(handles: &[T], which: u8) -> Option<T> {
    // The latest are the likeliest to be open.
    let back = usize::from(which % 8);
    handles.len().checked_sub(back + 1).and_then(|index| handles.get(index)).copied()
}

fn text(texts: &[&str], which: u8) -> Raw {
    let text = texts.get(usize::from(which) % texts.len()).copied().unwrap_or("{}");
    Raw::from_text(text).unwrap_or_else(|_| panic!("not JSON: {text}"))
}

const CALLS: &[&str] = &[
    r#"{"name":"a"}"#,
    "{}",
    r#"{"name":"a","arguments":{"b":[1,2,{}]},"_meta":{"progressToken":"mine"}}"#,
    r#"{"name":"a","inputs":{},"\u005fmeta":{"k":1}}"#,
    "[]",
];

const RESULTS: &[&str] = &[
    "{}",
    r#"{"content":[]}"#,
    r#"{"action":"accept","content":{"word":"x"}}"#,
    r#"{"roots":[]}"#,
    r#"{"resultType":"complete","_meta":{"a":{}}}"#,
    r#"{"tools":[],"ttlMs":60000,"cacheScope":"public","nextCursor":"\u00e9"}"#,
    "7",
];

const METHODS: &[&str] = &[
    "notifications/progress",
    "notifications/cancelled",
    "notifications/initialized",
    "notifications/roots/list_changed",
    "notifications/tools/list_changed",
    "notifications/message",
    "initialize",
    "sampling/createMessage",
    "roots/list",
    "resources/subscribe",
    "subscriptions/listen",
    "server/discover",
    "logging/setLevel",
    "tasks/list",
    "\u{0}\n\"",
];

fn options(which: u8) -> CallOptions {
    let timeout = [None, None, Some(Duration::ZERO), Some(Duration::from_millis(50))];
    CallOptions {
        progress: which & 8 != 0,
        timeout: timeout[usize::from(which >> 4) % 4],
        fresh: which & 64 != 0,
        ..CallOptions::default()
    }
}

fn level(which: u8) -> Level {
    [Level::Debug, Level::Warning, Level::Emergency][usize::from(which) % 3]
}

fn filter(which: u8) -> Filter {
    let filter = if which & 1 != 0 { Filter::new().tools() } else { Filter::new() };
    let filter = if which & 2 != 0 { filter.prompts() } else { filter };
    match which >> 2 & 3 {
        0 => filter,
        1 => filter.resource("file:///a"),
        2 => filter.resource("file:///a").resource("file:///a").resource("file:///b/"),
        _ => filter.resources(),
    }
}

fn change(which: u8) -> Change<'static> {
    [Change::Tools, Change::Prompts, Change::Resources, Change::Resource("file:///b/c")]
        [usize::from(which) % 4]
}

fn questions(which: u8) -> Vec<(&'static str, Question)> {
    let form = Question::from(Elicit::new("Who?", Form::new(Map::new())));
    match which >> 3 & 7 {
        0 => Vec::new(),
        1 | 2 => vec![("a", Question::Roots)],
        3 => vec![("a", form), ("b", Question::Roots)],
        4 => vec![("a", Question::Roots), ("a", Question::Roots)],
        5 => vec![("a", Question::Raw("x/y".into(), None))],
        _ => vec![("", form)],
    }
}

/// What either side declares: all that there is, or little.
pub(crate) fn capabilities(which: u8) -> &'static [Capability] {
    if which & 1 == 0 {
        &[
            Capability::Tools,
            Capability::ToolsListChanged,
            Capability::Prompts,
            Capability::PromptsListChanged,
            Capability::ResourcesListChanged,
            Capability::ResourcesSubscribe,
            Capability::Logging,
            Capability::Roots,
            Capability::ElicitationForm,
            Capability::Sampling,
        ]
    } else {
        &[Capability::Tools]
    }
}

/// Which revisions a side speaks.
pub(crate) fn revisions(which: u8) -> &'static [Revision] {
    match which % 7 {
        0 | 1 => &Revision::ALL,
        2 => &Revision::LEGACY,
        3 => &[Revision::V2024_11_05],
        4 => &[Revision::V2025_03_26],
        5 => &[Revision::V2025_11_25],
        _ => &[Revision::V2026_07_28],
    }
}

/// The limits: as they are, or so small that each can be reached.
pub(crate) fn limits(which: u8) -> Limits {
    let small = Limits {
        message_bytes_max: 512,
        depth_max: 8,
        id_bytes_max: 16,
        calls_max: 3,
        calls_bytes_max: 200,
        retired_max: 2,
        requests_max: 3,
        requests_bytes_max: 300,
        batch_members_max: 3,
        events_max: 4,
        events_bytes_max: 400,
        outbox_bytes_max: 300,
        replies_bytes_max: 900,
        error_replies_max: 2,
        input_rounds_max: 2,
        questions_max: 2,
        subscriptions_max: 2,
        subscription_uris_max: 2,
        subscriptions_bytes_max: 40,
        cache_bytes_max: 700,
        ..Limits::default()
    };
    match which % 4 {
        0 => Limits::default(),
        1 => small,
        2 => Limits { ping_every: Some(Duration::from_secs(1)), violations_max: Some(5), ..small },
        _ => {
            Limits { cache_bytes_max: 1 << 16, ping_every: Some(Duration::from_secs(1)), ..Limits::default() }
        }
    }
}
