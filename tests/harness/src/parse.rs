//! Parses the notation of golden transcripts and tests; panics on malformed text, which is a
//! mistake in the test.

use std::fmt::Debug;
use std::time::Duration;

use mcp_proto::schema::{Decode, Elicit, Level};
use mcp_proto::{
    CallOptions, Capability, ErrorObject, Filter, Limits, NeededInput, OwnedChange, OwnedCommand,
    Progress, Raw, Revision,
};
use serde_json::Value;
use serde_json::value::RawValue;

/// Parses a JSON value, kept as text.
pub(crate) fn raw(text: &str) -> Raw {
    Raw::from_text(text).unwrap_or_else(|_| panic!("not JSON: {text}"))
}

/// Parses params; empty text means none.
pub(crate) fn params(text: &str) -> Option<Raw> {
    (!text.is_empty()).then(|| raw(text))
}

/// Parses a JSON value.
pub(crate) fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("not JSON: {error}: {text}"))
}

/// Returns the spelling of an id or a token; equal numbers have equal spellings.
pub(crate) fn spelling(id: &Value) -> String {
    let is_whole = |number: &f64| number.fract() == 0.0 && number.abs() < 2_f64.powi(53);
    match id.as_f64().filter(|_| !id.is_i64() && !id.is_u64()).filter(is_whole) {
        Some(number) => (number as i64).to_string(),
        None => id.to_string(),
    }
}

/// Parses JSON text into a tree; numbers beyond the range of floats become zero, and unpaired
/// surrogates become replacement characters.
pub(crate) fn tree(text: &[u8]) -> Result<Value, serde_json::Error> {
    let text = &without_unpaired_surrogates(text)[..];
    serde_json::from_slice(text).or_else(|error| {
        let raw: &RawValue = serde_json::from_slice(text)?;
        if error.is_syntax() {
            serde_json::from_str(&without_giants(raw.get()))
        } else {
            Err(error)
        }
    })
}

/// Replaces unpaired surrogate escapes.
fn without_unpaired_surrogates(text: &[u8]) -> Vec<u8> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
    };
    let is = |at: usize, first: u32| unit(at).is_some_and(|unit| unit & 0xFC00 == first);
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    while let Some(byte) = text.get(at) {
        let taken = match byte {
            b'\\' if is(at, 0xD800) && is(at + 6, 0xDC00) => 12,
            b'\\' if is(at, 0xD800) || is(at, 0xDC00) => {
                out.extend_from_slice(br"\ufffd");
                at += 6;
                continue;
            }
            b'\\' => 2,
            _ => 1,
        };
        out.extend_from_slice(&text[at..text.len().min(at + taken)]);
        at += taken;
    }
    out
}

/// Replaces numbers beyond the range of floats.
fn without_giants(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' => {
                let mut escaped = true;
                let closes = |character| {
                    let closes = character == '"' && !escaped;
                    escaped = character == '\\' && !escaped;
                    closes
                };
                rest.find(closes).map_or(rest.len(), |end| end + 1)
            }
            '-' | '0'..='9' => {
                let end =
                    rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
                let end = end.unwrap_or(rest.len());
                let (number, after) = rest.split_at(end);
                let fits = number.parse().is_ok_and(f64::is_finite);
                out.push_str(if fits { number } else { "0" });
                rest = after;
                continue;
            }
            other => other.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        out.push_str(token);
        rest = after;
    }
    out
}

/// Parses a time: `50ms`, `60s`, `10m`.
pub(crate) fn duration(text: &str) -> Duration {
    let digits = text.trim_end_matches(char::is_alphabetic);
    let count: u64 = digits.parse().unwrap_or_else(|_| panic!("not a time: {text}"));
    match text.get(digits.len()..) {
        Some("ms") => Duration::from_millis(count),
        Some("s") => Duration::from_secs(count),
        Some("m") => Duration::from_secs(60 * count),
        _ => panic!("not a time: {text}"),
    }
}

/// Parses bytes with the escapes `\n`, `\r`, `\t`, `\\` and `\xNN`.
pub(crate) fn bytes(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut chars = text.chars();
    while let Some(next) = chars.next() {
        if next != '\\' {
            out.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        match chars.next() {
            Some('n') => out.push(b'\n'),
            Some('r') => out.push(b'\r'),
            Some('t') => out.push(b'\t'),
            Some('\\') => out.push(b'\\'),
            Some('x') => {
                let digits: String = chars.by_ref().take(2).collect();
                out.push(
                    u8::from_str_radix(&digits, 16)
                        .unwrap_or_else(|_| panic!("not an escape: {text}")),
                );
            }
            _ => panic!("not an escape: {text}"),
        }
    }
    out
}

/// Parses revisions separated by spaces.
pub(crate) fn revisions(text: &str) -> Vec<Revision> {
    text.split_whitespace()
        .map(|name| Revision::from_name(name).unwrap_or_else(|| panic!("no revision: {name}")))
        .collect()
}

/// Parses a capability by the name of its variant.
pub(crate) fn capability(name: &str) -> Capability {
    by_name(name, &CAPABILITIES)
}

/// Parses and sets a limit: `message_bytes_max=64`.
pub(crate) fn limit(limits: &mut Limits, setting: &str) {
    let Some((name, text)) = setting.split_once('=') else { panic!("not a limit: {setting}") };
    let count = || text.parse().unwrap_or_else(|_| panic!("not a number: {setting}"));
    match name {
        "batch_members_max" => limits.batch_members_max = count(),
        "cache_bytes_max" => limits.cache_bytes_max = count(),
        "calls_max" => limits.calls_max = count(),
        "call_timeout" => limits.call_timeout = duration(text),
        "call_timeout_max" => limits.call_timeout_max = duration(text),
        "depth_max" => limits.depth_max = u8::try_from(count()).unwrap_or(u8::MAX),
        "drain_timeout" => limits.drain_timeout = duration(text),
        "eof_drain_timeout" => limits.eof_drain_timeout = duration(text),
        "error_replies_max" => {
            limits.error_replies_max = u32::try_from(count()).unwrap_or(u32::MAX);
        }
        "handshake_timeout" => limits.handshake_timeout = duration(text),
        "human_timeout" => limits.human_timeout = duration(text),
        "input_rounds_max" => limits.input_rounds_max = u32::try_from(count()).unwrap_or(u32::MAX),
        "message_bytes_max" => limits.message_bytes_max = count(),
        "ping_every" => limits.ping_every = Some(duration(text)),
        "ping_timeout" => limits.ping_timeout = duration(text),
        "probe_timeout" => limits.probe_timeout = duration(text),
        "input_requests_max" => limits.input_requests_max = count(),
        "requests_max" => limits.requests_max = count(),
        "subscriptions_max" => limits.subscriptions_max = count(),
        "violations_max" => limits.violations_max = u32::try_from(count()).ok(),
        _ => panic!("no such limit: {setting}"),
    }
}

/// Parses a command: `call tools/list`, `respond request#1 {…}`, and so on.
pub(crate) fn command(text: &str) -> OwnedCommand {
    let (verb, rest) = word(text);
    match verb {
        "ask" => ask(rest),
        "call" => call(rest),
        "cancel" => {
            let (call, reason) = word(rest);
            OwnedCommand::Cancel { call: number(call).into(), reason: reason.into() }
        }
        "changed" => OwnedCommand::NotifyChanged {
            change: match rest {
                "prompts" => OwnedChange::Prompts,
                "resources" => OwnedChange::Resources,
                "tools" => OwnedChange::Tools,
                uri => OwnedChange::Resource(uri.into()),
            },
        },
        "close" => OwnedCommand::Close,
        "fail" => {
            let (request, rest) = word(rest);
            let (code, message) = word(rest);
            let code = code.parse().unwrap_or_else(|_| panic!("not a code: {text}"));
            OwnedCommand::RespondError {
                incoming: number(request).into(),
                error: ErrorObject::new(code, message),
            }
        }
        "level" => {
            OwnedCommand::SetLogLevel { level: level(rest), options: CallOptions::default() }
        }
        "listen" => listen(rest),
        "log" => {
            let (first, after) = word(rest);
            let incoming = first.starts_with("request#").then(|| number(first).into());
            let (name, data) = if incoming.is_some() { word(after) } else { (first, after) };
            OwnedCommand::Log { incoming, level: level(name), logger: None, data: raw(data) }
        }
        "notify" => {
            let (method, rest) = word(rest);
            OwnedCommand::Notify { method: method.into(), params: params(rest) }
        }
        "progress" => progress(rest),
        "refuse" => {
            let (request, asked) = word(rest);
            OwnedCommand::RefuseUndeclared {
                incoming: number(request).into(),
                questions: questions(asked),
            }
        }
        "respond" => {
            let (request, result) = word(rest);
            OwnedCommand::Respond { incoming: number(request).into(), result: Some(raw(result)) }
        }
        _ => panic!("no such action: {text}"),
    }
}

/// Parses `request#1 [state=words] {"key":"roots","other":{"elicit":{…}}}`.
fn ask(text: &str) -> OwnedCommand {
    let (request, mut rest) = word(text);
    let mut state = None;
    if let Some(found) = rest.strip_prefix("state=") {
        let (found, after) = word(found);
        state = Some(found.into());
        rest = after;
    }
    OwnedCommand::RequestInput {
        incoming: number(request).into(),
        questions: questions(rest),
        state,
    }
}

fn questions(text: &str) -> Vec<(Box<str>, NeededInput)> {
    let Value::Object(asked) = value(text) else { panic!("not an object: {text}") };
    asked.into_iter().map(|(key, asked)| (key.into(), question(&asked))).collect()
}

/// Parses `[timeout=5s] tools prompts resources file:///a`, each part optional.
fn listen(text: &str) -> OwnedCommand {
    let mut filter = Filter::new();
    let mut options = CallOptions::default();
    for wanted in text.split_whitespace() {
        filter = match (wanted, wanted.strip_prefix("timeout=")) {
            (_, Some(time)) => {
                options.timeout = Some(duration(time));
                filter
            }
            ("prompts", _) => filter.prompts(),
            ("resources", _) => filter.resources(),
            ("tools", _) => filter.tools(),
            (uri, _) => filter.resource(uri),
        };
    }
    OwnedCommand::Subscribe { filter, options }
}

fn level(name: &str) -> Level {
    by_name_of(name, &Level::ALL, |level| level.name().into())
}

fn question(asked: &Value) -> NeededInput {
    if asked == "roots" {
        return NeededInput::Roots;
    }
    if let Some(form) = asked.get("elicit") {
        let form = Elicit::decode(&raw(&form.to_string()));
        return NeededInput::from(form.unwrap_or_else(|error| panic!("not a form: {error}")));
    }
    match asked.get("sample") {
        Some(params) => NeededInput::raw("sampling/createMessage", raw(&params.to_string())),
        None => panic!("no such question: {asked}"),
    }
}

/// Parses `tools/call [+progress] [timeout=5s] [max=10s] [{…}]`.
fn call(text: &str) -> OwnedCommand {
    let (method, mut rest) = word(text);
    let mut options = CallOptions::default();
    while !rest.is_empty() && !rest.starts_with(['{', '[']) {
        let (option, after) = word(rest);
        match option.split_once('=') {
            None if option == "+progress" => options.progress = true,
            Some(("timeout", time)) => options.timeout = Some(duration(time)),
            Some(("max", time)) => options.timeout_max = Some(duration(time)),
            _ => panic!("no such option: {option}"),
        }
        rest = after;
    }
    OwnedCommand::Call { method: method.into(), params: params(rest), options }
}

/// Parses `request#1 1[/10] [words]`.
fn progress(text: &str) -> OwnedCommand {
    let (request, rest) = word(text);
    let (numbers, message) = word(rest);
    let (done, total) =
        numbers.split_once('/').map_or((numbers, None), |(done, total)| (done, Some(total)));
    let number_of =
        |text: &str| text.parse::<f64>().unwrap_or_else(|_| panic!("not a number: {text}"));
    let mut progress = Progress::new(number_of(done));
    if let Some(total) = total {
        progress = progress.with_total(number_of(total));
    }
    if !message.is_empty() {
        progress = progress.with_message(message);
    }
    OwnedCommand::Progress { incoming: number(request).into(), progress }
}

/// Splits off the first word.
pub(crate) fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(' ').map_or((text, ""), |(first, rest)| (first, rest.trim_start()))
}

fn number(handle: &str) -> u64 {
    let digits = handle.split('#').next_back().unwrap_or_default();
    digits.parse().unwrap_or_else(|_| panic!("not a handle: {handle}"))
}

fn by_name<T: Copy + Debug>(name: &str, all: &[T]) -> T {
    by_name_of(name, all, |value| format!("{value:?}"))
}

fn by_name_of<T: Copy>(name: &str, all: &[T], name_of: impl Fn(&T) -> String) -> T {
    let found = all.iter().find(|value| name_of(value) == name);
    found.copied().unwrap_or_else(|| panic!("nothing is called {name}"))
}

const CAPABILITIES: [Capability; 22] = [
    Capability::Completions,
    Capability::ElicitationForm,
    Capability::ElicitationUrl,
    Capability::Logging,
    Capability::Prompts,
    Capability::PromptsListChanged,
    Capability::Resources,
    Capability::ResourcesListChanged,
    Capability::ResourcesSubscribe,
    Capability::Roots,
    Capability::RootsListChanged,
    Capability::Sampling,
    Capability::SamplingContext,
    Capability::SamplingTools,
    Capability::Tasks,
    Capability::TasksCancel,
    Capability::TasksElicitation,
    Capability::TasksList,
    Capability::TasksSampling,
    Capability::TasksToolsCall,
    Capability::Tools,
    Capability::ToolsListChanged,
];
