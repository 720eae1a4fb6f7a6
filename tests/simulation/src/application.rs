//! Random commands and data of an application of either role.

use std::time::Duration;

use mcp_harness::Seed;
use mcp_proto::schema::Level;
use mcp_proto::{
    CallOptions, ErrorObject, Filter, NeededInput, OwnedChange, OwnedCommand, Progress, Raw, Side,
};

use crate::case::Feature;
use crate::model::REFUSAL;
use crate::plan::Plan;

/// Methods that a client calls.
const OF_CLIENT: [&str; 12] = [
    "tools/call",
    "tools/call",
    "tools/list",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "completion/complete",
    "ping",
    "x/known",
    "x/unknown",
];

/// Methods that a server calls.
const OF_SERVER: [&str; 6] =
    ["roots/list", "sampling/createMessage", "elicitation/create", "ping", "x/known", "x/unknown"];

/// Draws a method to call.
pub(crate) fn method(side: Side, random: &mut Seed) -> &'static str {
    match side {
        Side::Client => OF_CLIENT[random.below(OF_CLIENT.len())],
        Side::Server => OF_SERVER[random.below(OF_SERVER.len())],
    }
}

/// Returns whether the other application answers this method.
pub(crate) fn is_tagged(method: &str) -> bool {
    !matches!(method, "ping" | "x/unknown")
}

/// Builds params with a tag; zero means no tag.
pub(crate) fn params(method: &str, tag: u64, cursor: Option<&str>) -> Raw {
    let mut members = match method {
        "tools/call" => r#""name":"t","arguments":{"text":"a\nb"}"#.to_owned(),
        "prompts/get" => r#""name":"p""#.to_owned(),
        "resources/read" => r#""uri":"file:///a""#.to_owned(),
        "completion/complete" => {
            r#""ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"}"#
                .to_owned()
        }
        "sampling/createMessage" => r#""messages":[],"maxTokens":1"#.to_owned(),
        "elicitation/create" => {
            r#""message":"m","requestedSchema":{"type":"object","properties":{}}"#.to_owned()
        }
        _ => String::new(),
    };
    let mut add = |member: String| {
        if !members.is_empty() {
            members.push(',');
        }
        members.push_str(&member);
    };
    if tag != 0 {
        add(format!(r#""tag":{tag}"#));
    }
    if let Some(cursor) = cursor {
        add(format!(r#""cursor":"{cursor}""#));
    }
    raw(&format!("{{{members}}}"))
}

/// Builds a result with a tag.
pub(crate) fn result(method: &str, tag: u64, plan: &Plan, random: &mut Seed) -> Raw {
    let members = match method {
        "tools/call" => r#""content":[{"type":"text","text":"\u00e9\r\n"}]"#,
        "tools/list" => r#""tools":[{"name":"t","inputSchema":{"type":"object"}}]"#,
        "prompts/list" => r#""prompts":[]"#,
        "prompts/get" => r#""messages":[]"#,
        "resources/list" => r#""resources":[]"#,
        "resources/templates/list" => r#""resourceTemplates":[]"#,
        "resources/read" => r#""contents":[]"#,
        "completion/complete" => r#""completion":{"values":[]}"#,
        "roots/list" => r#""roots":[]"#,
        "sampling/createMessage" => {
            r#""role":"assistant","content":{"type":"text","text":"x"},"model":"m""#
        }
        "elicitation/create" => r#""action":"accept","content":{}"#,
        _ => r#""x":1"#,
    };
    let (more, hints) = (random.below(2), random.below(2));
    let page = if plan.has(Feature::Pages)
        && method.ends_with("list")
        && method != "roots/list"
        && more == 0
    {
        r#","nextCursor":"more""#
    } else {
        ""
    };
    let hints = if hints == 0 { r#","ttlMs":60000,"cacheScope":"private""# } else { "" };
    raw(&format!(r#"{{{members},"tag":{tag}{page}{hints}}}"#))
}

/// Draws call options.
pub(crate) fn options(plan: &Plan, random: &mut Seed) -> CallOptions {
    let (timeout, fresh) = (random.below(5000), random.below(4));
    CallOptions {
        progress: random.below(3) != 0,
        timeout: (plan.has(Feature::ShortTimeouts) && random.below(2) == 0)
            .then(|| Duration::from_millis(timeout as u64)),
        bypass_cache: fresh == 0,
        ..CallOptions::default()
    }
}

/// Draws input requests and request state.
pub(crate) fn ask(request: u64, random: &mut Seed) -> OwnedCommand {
    let count = [0, 1, 1, 1, 2, 3][random.below(6)];
    let question = |index: usize, random: &mut Seed| {
        let name = ["a", "b", "c"].get(index).copied().unwrap_or("d").into();
        let question = match random.below(4) {
            0 => NeededInput::raw("elicitation/create", params("elicitation/create", 0, None)),
            1 => NeededInput::raw(
                "sampling/createMessage",
                params("sampling/createMessage", 0, None),
            ),
            _ => NeededInput::Roots,
        };
        (name, question)
    };
    let questions = (0..count).map(|index| question(index, random)).collect();
    let state = (random.below(2) == 0).then(|| "the \"state\"".into());
    OwnedCommand::RequestInput { incoming: request.into(), questions, state }
}

/// Draws a change.
pub(crate) fn changed(random: &mut Seed) -> OwnedCommand {
    OwnedCommand::NotifyChanged {
        change: match random.below(5) {
            0 => OwnedChange::Prompts,
            1 => OwnedChange::Resources,
            2 => OwnedChange::Tools,
            3 => OwnedChange::Resource("file:///a".into()),
            _ => OwnedChange::Resource("file:///b/c".into()),
        },
    }
}

/// Draws a subscription filter.
pub(crate) fn listen(random: &mut Seed) -> OwnedCommand {
    let mut filter = Filter::new();
    for choice in 0..5 {
        if random.below(2) == 0 {
            filter = match choice {
                0 => filter.tools(),
                1 => filter.prompts(),
                2 => filter.resources(),
                3 => filter.resource("file:///a"),
                _ => filter.resource("file:///b"),
            };
        }
    }
    OwnedCommand::Subscribe { filter, options: CallOptions::default() }
}

/// Draws a log message, for a request or for none.
pub(crate) fn log(request: Option<u64>, random: &mut Seed) -> OwnedCommand {
    OwnedCommand::Log {
        incoming: request.map(Into::into),
        level: level(random),
        logger: None,
        data: raw(r#""words""#),
    }
}

/// Draws a log level.
pub(crate) fn level(random: &mut Seed) -> Level {
    [Level::Debug, Level::Info, Level::Warning, Level::Emergency][random.below(4)]
}

/// Draws a notification.
pub(crate) fn notify(side: Side, random: &mut Seed) -> OwnedCommand {
    let method = match (side, random.below(4)) {
        (Side::Client, 0 | 1) => "notifications/roots/list_changed",
        (Side::Server, 0) => "notifications/elicitation/complete",
        (_, 2) => "notifications/cancelled",
        _ => "x/note",
    };
    let params = method.ends_with("complete").then(|| raw(r#"{"elicitationId":"e"}"#));
    OwnedCommand::Notify { method: method.into(), params }
}

/// Draws progress, which mostly increases.
pub(crate) fn progress(request: u64, last: f64, random: &mut Seed) -> OwnedCommand {
    let step = random.below(5) as f64 - 0.5;
    let mut progress = Progress::new(last + step);
    if random.below(2) == 0 {
        progress = progress.with_total(100.0).with_message("so far");
    }
    OwnedCommand::Progress { incoming: request.into(), progress }
}

/// Builds an error response.
pub(crate) fn refusal(request: u64) -> OwnedCommand {
    OwnedCommand::RespondError { incoming: request.into(), error: ErrorObject::new(REFUSAL, "no") }
}

fn raw(text: &str) -> Raw {
    Raw::from_text(text).unwrap_or_else(|_| Raw::empty_object())
}
