//! Documents of the text form: written as JSON, or assembled from the words of the form.

use std::fmt::Debug;
use std::sync::LazyLock;

use arbitrary::{Arbitrary, Result, Unstructured};
use mcp_proto::text::TextForm;
use mcp_proto::{CallError, CloseReason, CommandOutcome, Fault, Limits, Misuse, OwnedCommand};
use mcp_proto::{Raw, Violation, client, server};

/// What can be read from a document is written as text that reads as an equal value.
pub fn text(data: &[u8]) {
    let Some((which, rest)) = data.split_first() else { return };
    let json = match std::str::from_utf8(rest) {
        Ok(text) if rest.starts_with(b"{") => Raw::from_text(text).ok(),
        _ => assembled(&mut Unstructured::new(rest)).ok(),
    };
    let Some(json) = json else { return };
    let Some(check) = CHECKS.get(usize::from(*which) % CHECKS.len()) else { return };
    check(&json);
}

const CHECKS: &[fn(&Raw)] = &[
    check::<client::Event>,
    check::<server::Event>,
    check::<OwnedCommand>,
    check::<Result<CommandOutcome, Misuse>>,
    check::<client::Config>,
    check::<server::Config>,
    check::<Limits>,
    check::<CallError>,
    check::<Fault>,
    check::<CloseReason>,
    check::<Misuse>,
    check::<Violation>,
];

fn check<T: TextForm + Debug>(json: &Raw) {
    written(&T::from_json(json), json);
    // Of a repeated member, one value counts and the others are not written: values are compared
    // only without repeated members.
    let Ok(once) = serde_json::from_str::<serde_json::Value>(json.as_str()) else { return };
    let Ok(json) = Raw::from_text(&once.to_string()) else { return };
    let value = T::from_json(&json);
    let Some(again) = written(&value, &json) else { return };
    let (value, again) = (format!("{value:?}"), format!("{:?}", Ok::<_, ()>(again)));
    // Malformed icons are left out.
    if !value.contains("DecodeError") {
        assert_eq!(value, again, "{json}");
    }
}

/// Reads again what a value is written as; both are written alike.
fn written<T: TextForm, E>(value: &Result<T, E>, json: &Raw) -> Option<T> {
    let text = value.as_ref().ok()?.to_json();
    assert_eq!(Raw::from_text(text.as_str()).as_ref(), Ok(&text), "not JSON on one line: {json}");
    let again = T::from_json(&text).unwrap_or_else(|error| panic!("{error}: {json} became {text}"));
    assert_eq!(again.to_json(), text, "{json}");
    Some(again)
}

/// Assembles an object from the words of the form.
fn assembled(input: &mut Unstructured<'_>) -> Result<Raw> {
    let mut text = String::new();
    object(input, 0, &mut text)?;
    Ok(Raw::from_text(&text).unwrap_or_else(|_| panic!("not JSON: {text}")))
}

fn object(input: &mut Unstructured<'_>, depth: usize, out: &mut String) -> Result<()> {
    out.push('{');
    let mut comma = "";
    while !input.is_empty() && input.ratio(4, 5)? {
        out.push_str(comma);
        out.push_str(&format!("{:?}:", word(input)?));
        value(input, depth + 1, out)?;
        comma = ",";
    }
    out.push('}');
    Ok(())
}

fn value(input: &mut Unstructured<'_>, depth: usize, out: &mut String) -> Result<()> {
    match input.int_in_range(0..=if depth < 8 { 7 } else { 5 })? {
        0 => out.push_str("null"),
        1 => out.push_str(if bool::arbitrary(input)? { "true" } else { "false" }),
        2 => out.push_str(&u64::arbitrary(input)?.to_string()),
        3 => out.push_str(input.choose(&["0", "-1", "1.5", "-0.0", "1e300", "0.000000001"])?),
        4 | 5 => out.push_str(&format!("{:?}", word(input)?)),
        6 => object(input, depth, out)?,
        _ => {
            out.push('[');
            value(input, depth + 1, out)?;
            out.push(']');
        }
    }
    Ok(())
}

fn word(input: &mut Unstructured<'_>) -> Result<&'static str> {
    static ALL: LazyLock<Vec<&str>> = LazyLock::new(|| WORDS.split_whitespace().collect());
    input.choose(&ALL).copied()
}

/// Tags, names of variants, keys, and values of strings.
const WORDS: &str = "event command name change outcome number message v closed completed \
    subscribed late_task notification progress ready request request_cancelled task_progress \
    unwatched watched violation call cancel notify_changed close end_stream subscribe log notify \
    refuse_undeclared request_input respond respond_error set_log_level extension prompts resource \
    resources tools done reason result error peer uri principal fault local stalled unreachable \
    cause handshake_refused refused http status invalid redirected target code data kind detail \
    not_json too_long incoming params options method context revision info capabilities \
    instructions declared experimental extensions raw version title icons src 2026-07-28 \
    2024-11-05 log_level wants_progress input_responses state meta caller filter level logger \
    questions timeout timeout_max parent bypass_cache input_required uris elements total limits \
    served_methods revisions decide_subscriptions on_violation accept_modern_initialize expect_era \
    sends_info ignore reply legacy modern id settings methods result_types listen_keys is_request \
    sender named_by client server a.b/c roots tools.listChanged sampling debug emergency ada x/y \
    depth_max calls_max violations_max call_timeout ping_every inf NaN stale blocked unsupported";
