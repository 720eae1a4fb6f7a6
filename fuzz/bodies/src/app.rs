//! An application that runs arbitrary commands, by number.

use std::time::Duration;

use mcp_harness::{Seen, Witness};
use mcp_proto::schema::{Elicit, Form, Level, Map};
use mcp_proto::{
    CallId, CallOptions, Capability, Change, CommandOutcome, ErrorObject, Filter, IncomingId,
    Instant, Limits, NeededInput, OwnedCommand, Progress, Raw, Revision, RoleEndpoint,
};

/// The handles of an application, open or not.
#[derive(Debug, Default)]
pub(crate) struct App {
    calls: Vec<CallId>,
    requests: Vec<IncomingId>,
}

/// The number of commands.
const ACTS: u8 = 24;

impl App {
    pub(crate) fn note(&mut self, event: &impl Witness) {
        if let Seen::Request(incoming) = event.seen() {
            self.requests.push(incoming);
        }
    }

    /// Runs command number `act`; `which` picks handles and values.
    pub(crate) fn act<E: RoleEndpoint>(
        &mut self,
        machine: &mut E,
        now: Instant,
        act: u8,
        which: u8,
    ) {
        let Some(command) = self.command(act % ACTS, which) else { return };
        let applied = machine.apply_owned(now, &command);
        self.calls.extend(applied.ok().and_then(CommandOutcome::call));
    }

    /// Returns the command; `None` if it needs a handle that does not exist yet.
    fn command(&self, act: u8, which: u8) -> Option<OwnedCommand> {
        let call = |method: &str, params, options| OwnedCommand::Call {
            method: method.into(),
            params,
            options,
        };
        let latest = pick(&self.requests, which);
        let (data, level) = (text(RESULTS, which), level(which));
        Some(match act {
            0 => call("tools/call", Some(text(CALLS, which)), options(which)),
            1 => call("resources/list", None, options(which)),
            2 => call("prompts/get", Some(text(CALLS, which)), options(which)),
            3 => call("x/y", Some(data), options(which)),
            4 => call("ping", None, options(which)),
            5 => call(METHODS[usize::from(which) % METHODS.len()], None, options(0)),
            6 => OwnedCommand::Subscribe { filter: filter(which), options: options(which) },
            7 => OwnedCommand::SetLogLevel { level, options: options(which) },
            8 | 9 => OwnedCommand::Cancel { call: pick(&self.calls, which)?, reason: "".into() },
            10..=12 => OwnedCommand::Respond { incoming: latest?, result: Some(data) },
            13 => {
                // Only the core sends the other reserved ones.
                let code = [-32002, -32602, -32603, i64::from(which)][usize::from(which) % 4];
                OwnedCommand::RespondError {
                    incoming: latest?,
                    error: ErrorObject::new(code, "no"),
                }
            }
            14 | 15 => {
                let progress = Progress::new(f64::from(which >> 3));
                let progress =
                    if which & 4 == 0 { progress } else { progress.with_message("half") };
                OwnedCommand::Progress { incoming: latest?, progress }
            }
            16 => OwnedCommand::Log {
                incoming: latest.filter(|_| which & 64 == 0),
                level,
                logger: None,
                data,
            },
            17 => OwnedCommand::NotifyChanged { change: change(which).into() },
            18 | 19 => {
                let state = [None, Some(""), Some("state\u{e9}\n")][usize::from(which >> 6) % 3];
                let state = state.map(Into::into);
                OwnedCommand::RequestInput { incoming: latest?, questions: questions(which), state }
            }
            20 => {
                let method = METHODS[usize::from(which) % (METHODS.len() - 1)].into();
                OwnedCommand::Notify { method, params: None }
            }
            21 => OwnedCommand::Log { incoming: None, level, logger: Some("l".into()), data },
            22 => OwnedCommand::RefuseUndeclared { incoming: latest?, questions: questions(which) },
            _ if which > 127 => OwnedCommand::Close,
            _ => return None,
        })
    }
}

fn pick<T: Copy>(handles: &[T], which: u8) -> Option<T> {
    // The latest handles are the most likely to be open.
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
        bypass_cache: which & 64 != 0,
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

fn questions(which: u8) -> Vec<(Box<str>, NeededInput)> {
    let form = NeededInput::from(Elicit::new("Who?", Form::new(Map::new())));
    match which >> 3 & 7 {
        0 => Vec::new(),
        1 | 2 => vec![("a".into(), NeededInput::Roots)],
        3 => vec![("a".into(), form), ("b".into(), NeededInput::Roots)],
        4 => vec![("a".into(), NeededInput::Roots), ("a".into(), NeededInput::Roots)],
        5 => vec![("a".into(), NeededInput::Raw("x/y".into(), None))],
        _ => vec![("".into(), form)],
    }
}

/// Returns the capabilities of a side: all or few.
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

/// Returns the revisions of a side.
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

/// Returns limits: the defaults, or so small that each can be reached.
pub(crate) fn limits(which: u8) -> Limits {
    let small = Limits {
        message_bytes_max: 512,
        depth_max: 8,
        id_bytes_max: 16,
        calls_max: 3,
        calls_bytes_max: 200,
        retired_calls_max: 2,
        requests_max: 3,
        requests_bytes_max: 300,
        batch_members_max: 3,
        events_max: 4,
        events_bytes_max: 400,
        outbox_bytes_max: 300,
        replies_bytes_max: 900,
        error_replies_max: 2,
        input_rounds_max: 2,
        input_requests_max: 2,
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
        _ => Limits {
            cache_bytes_max: 1 << 16,
            ping_every: Some(Duration::from_secs(1)),
            ..Limits::default()
        },
    }
}
