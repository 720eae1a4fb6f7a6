//! Every variant of every document is written as text from which an equal value is read.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;
use core::time::Duration;

use proptest::prelude::*;

use super::document::Tagged;
use super::*;
use crate::command::{CommandOutcome, OwnedChange, OwnedCommand};
use crate::error::Misuse;
use crate::json::Raw;
use crate::limits::Limits;
use crate::method::Method;
use crate::revision::{Capability, Era, Revision, Side};
use crate::rpc::ErrorObject;
use crate::schema::{Capabilities, Implementation, Level};
use crate::vocabulary::{
    CallError, CallId, CallOptions, Caller, CloseReason, Context, Fault, Filter, IncomingId,
    InputResponses, NeededInput, Peer, Principal, Progress, Request, Violation, ViolationKind,
    ViolationPolicy,
};
use crate::{Extension, ExtensionMethod, client, server};

fn raw(text: &str) -> Raw {
    Raw::from_text(text).unwrap()
}

/// Asserts that the value survives a round trip, and returns its text.
fn round_trip<T: TextForm + Debug>(value: &T) -> String {
    let text = value.to_json();
    assert_eq!(Raw::from_text(text.as_str()).as_ref(), Ok(&text), "not JSON on one line");
    let read = T::from_json(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(format!("{read:?}"), format!("{value:?}"));
    assert_eq!(read.to_json(), text);
    text.to_string()
}

/// Asserts that values of all variants survive a round trip.
fn all_round_trip<T: TextForm + Tagged + Debug>(tag: &str, values: &[T]) {
    let mut missing = T::NAMES.to_vec();
    for value in values {
        round_trip(value);
        let name = value.to_json().member(tag).unwrap().to_text().unwrap().into_owned();
        missing.retain(|known| *known != name);
    }
    assert_eq!(missing, Vec::<&str>::new(), "not tested");
}

fn error_object() -> ErrorObject {
    ErrorObject::new(-1, "no \"é\"\n").with_data(raw("[null]"))
}

fn call_errors() -> Vec<CallError> {
    vec![
        CallError::Cancelled,
        CallError::Http { status: 503, reason: None },
        CallError::Http { status: 401, reason: Some("why".into()) },
        CallError::Invalid("why".into()),
        CallError::Lost,
        CallError::LostRead,
        CallError::Redirected { status: 302, target: "https://a".into() },
        CallError::Refused(ErrorObject::new(i64::MIN, "")),
        CallError::TooManyRounds,
        CallError::SessionEnded,
        CallError::Unauthorized("why".into()),
        CallError::Unsent,
        CallError::InputRefused(error_object()),
        CallError::TimedOut,
        CallError::SubscriptionEnded,
    ]
}

fn faults() -> Vec<Fault> {
    vec![
        Fault::BadHandshake("why".into()),
        Fault::FirstViolation,
        Fault::HandshakeTimedOut,
        Fault::NoCommonRevision("1999-01-01".into()),
        Fault::NoRevisionConfigured,
        Fault::Refused(error_object()),
        Fault::SessionLost,
        Fault::Stalled,
        Fault::TooManyViolations,
        Fault::Unreachable(CallError::Unsent),
        Fault::Unresponsive,
    ]
}

#[test]
fn errors_and_close_reasons_survive_a_round_trip() {
    let misuses = [
        Misuse::Blocked,
        Misuse::Closed,
        Misuse::NotReady,
        Misuse::Stale,
        Misuse::Undeclared,
        Misuse::Unencodable,
        Misuse::Unsupported,
    ];
    all_round_trip("name", &misuses);
    all_round_trip("name", &call_errors());
    all_round_trip("name", &faults());
    let mut reasons = vec![CloseReason::Local, CloseReason::Peer];
    reasons.extend(faults().into_iter().map(CloseReason::Fault));
    all_round_trip("name", &reasons);
    let error = raw(r#"{"name":"http","status":503}"#);
    let read = CallError::from_json(&error).unwrap();
    assert_eq!(read, CallError::Http { status: 503, reason: None });
    assert_eq!(
        read.to_json().as_str(),
        concat!(
            r#"{"name":"http","number":102,"status":503,"#,
            r#""message":"the server responded with HTTP status 503","v":1}"#
        )
    );
}

/// A name or a number that changes breaks programs that were built before.
#[test]
fn names_and_numbers_never_change() {
    fn numbers<T: Numbered>(of: &str) -> String {
        T::ALL.iter().map(|(number, name)| format!("{of} {number} {name}\n")).collect()
    }
    fn names<T: Tagged>(of: &str) -> String {
        T::NAMES.iter().map(|name| format!("{of} {name}\n")).collect()
    }
    fn keys<T: TextForm>(of: &str, value: &T) -> String {
        let json: BTreeMap<String, serde_json::Value> = value.to_json().parse().unwrap();
        json.keys().map(|key| format!("{of} {key}\n")).collect()
    }
    let found = [
        numbers::<Misuse>("Misuse"),
        numbers::<CallError>("CallError"),
        numbers::<Fault>("Fault"),
        numbers::<CloseReason>("CloseReason"),
        numbers::<ViolationKind>("ViolationKind"),
        names::<OwnedCommand>("OwnedCommand"),
        names::<OwnedChange>("OwnedChange"),
        names::<CommandOutcome>("CommandOutcome"),
        names::<client::Event>("client::Event"),
        names::<server::Event>("server::Event"),
        keys("client::Config", &client::Config::new("c", "1")),
        keys("server::Config", &server::Config::new("s", "1")),
        keys("Limits", &Limits::default()),
        Capability::all().map(|it| format!("Capability {it}\n")).collect(),
    ]
    .concat();
    let known = include_str!("names.txt");
    assert_eq!(found, known, "names.txt does not list the names and numbers; none may change");
    let mut numbers: Vec<&str> = known
        .lines()
        .filter_map(|line| line.split(' ').nth(1))
        .filter(|it| it.as_bytes()[0] < b'A')
        .collect();
    let all = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), all, "a number is used twice");
}

#[test]
fn limits_survive_a_round_trip() {
    round_trip(&Limits::default());
    let limits = Limits {
        message_bytes_max: usize::MAX,
        depth_max: 0,
        violations_max: Some(u32::MAX),
        ping_every: Some(Duration::from_nanos(1)),
        call_timeout: Duration::MAX,
        list_timeout: Duration::ZERO,
        ..Limits::default()
    };
    let text = round_trip(&limits);
    assert!(text.contains(r#""ping_every":0.000000001,"#), "{text}");
    assert_eq!(Limits::from_json(&raw("{}")), Ok(Limits::default()));
    let read = Limits::from_json(&raw(r#"{"call_timeout":1e-3,"v":1}"#)).unwrap();
    assert_eq!(read.call_timeout, Duration::from_millis(1));
    let read = Limits::from_json(&raw(r#"{"call_timeout":0.00000000001}"#)).unwrap();
    assert_eq!(read.call_timeout, Duration::ZERO);
}

fn extension() -> Extension {
    Extension::new("com.example/boards")
        .settings(raw(r#"{"colors":8}"#))
        .revisions(Revision::V2025_06_18..=Revision::V2026_07_28)
        .method(ExtensionMethod::request(Side::Client, "x/draw").named_by("board"))
        .method(ExtensionMethod::notification(Side::Server, "x/drawn").of_both_sides())
        .result_type("tools/call", "sketch")
        .listen_key("boards")
}

#[test]
fn configurations_survive_a_round_trip() {
    let limits = Limits { calls_max: 1, ..Limits::default() };
    let info = || Implementation::new("n", "1").title("N");
    round_trip(&server::Config::new("s", "1"));
    let config = server::Config::new("s", "1")
        .info(info())
        .capability(Capability::ToolsListChanged)
        .capability(Capability::TasksToolsCall)
        .experimental(raw(r#"{"a":1}"#))
        .instructions("Ask.")
        .revisions(&[Revision::V2026_07_28, Revision::V2024_11_05])
        .serve_method("x/y")
        .extension(extension())
        .unwrap()
        .decide_subscriptions()
        .limits(limits.clone())
        .on_violation(ViolationPolicy::Close);
    round_trip(&config);
    round_trip(&client::Config::new("c", "1"));
    let capabilities = Capability::all().fold(Capabilities::none(), Capabilities::with);
    let config = client::Config::new("c", "1")
        .info(info())
        .capabilities(capabilities.with_extension("a.b/c", raw(r#"{"d":1}"#)))
        .revisions(&[])
        .serve_method("x/y")
        .extension(extension())
        .unwrap()
        .expect_era(Era::Legacy)
        .accept_modern_initialize()
        .without_info()
        .limits(limits)
        .on_violation(ViolationPolicy::Reply);
    round_trip(&config);
    // What is left out has its default.
    let least = raw(r#"{"info":{"name":"c","version":"1"}}"#);
    let read = client::Config::from_json(&least).unwrap();
    assert_eq!(read.to_json(), client::Config::new("c", "1").to_json());
}

#[test]
fn invalid_members_are_refused_with_their_place_and_what_is_allowed() {
    fn refused<T: TextForm>(text: &str) -> String {
        T::from_json(&raw(text)).err().unwrap_or_else(|| panic!("{text} was read")).to_string()
    }
    let server = |members: &str| {
        refused::<server::Config>(&format!(r#"{{"info":{{"name":"s","version":"1"}},{members}}}"#))
    };
    for (error, expected) in [
        (
            server(r#""limits":{"callTimeout":5}"#),
            r#"expected a known member such as `call_timeout` at "/limits/callTimeout", found 5"#,
        ),
        (
            server(r#""capabilities":["tools","tool"]"#),
            r#"expected the name of a `Capability` at "/capabilities/1", found "tool""#,
        ),
        (
            server(r#""expect_era":"modern""#),
            r#"expected a known member such as `extensions` at "/expect_era", found "modern""#,
        ),
        (
            server(r#""on_violation":"panic""#),
            r#"expected one of close, ignore, reply at "/on_violation", found "panic""#,
        ),
        (
            server(r#""extensions":[{"id":"boards"}]"#),
            "expected a valid extension (extension \"boards\": the identifier needs a prefix, as \
             in `com.example/name`) at \"/extensions\", found [{\"id\":\"boards\"}]",
        ),
        (
            server(r#""limits":{"depth_max":256}"#),
            r#"expected an integer from 0 to 255 at "/limits/depth_max", found 256"#,
        ),
        (
            server(r#""limits":{"call_timeout":-1}"#),
            r#"expected a number of seconds at "/limits/call_timeout", found -1"#,
        ),
        (
            server(r#""capabilities":{"experimental":1}"#),
            "expected valid extensions or features at \"/capabilities/experimental\", found 1",
        ),
        (server(r#""v":2"#), r#"expected version 1 at "/v", found 2"#),
        (
            refused::<server::Config>(r#"{"limits":{}}"#),
            r#"expected a value at "/info/name", found nothing"#,
        ),
        (
            refused::<OwnedCommand>(r#"{"command":"cancel","call":1}"#),
            r#"expected a value at "/reason", found nothing"#,
        ),
        (
            refused::<OwnedCommand>(r#"{"command":"notify_changed","change":{"change":"tool"}}"#),
            "expected one of extension, prompts, resource, resources, tools at \
             \"/change/change\", found \"tool\"",
        ),
        (refused::<Limits>("[]"), "expected an object, found []"),
        (
            refused::<OwnedCommand>(r#"{"command":"close","call":1}"#),
            r#"expected a known member such as `command` at "/call", found 1"#,
        ),
    ] {
        assert_eq!(error, expected);
    }
}

fn commands() -> Vec<OwnedCommand> {
    let incoming = IncomingId::reserved(300);
    let options = CallOptions {
        progress: true,
        timeout: Some(Duration::MAX),
        timeout_max: None,
        parent: Some(incoming),
        bypass_cache: true,
        input_required: true,
    };
    let question = |params| ("k".into(), NeededInput::Raw("roots/list".into(), params));
    let questions = vec![question(None), question(Some(raw("null"))), question(Some(raw("{}")))];
    let progress = |progress| OwnedCommand::Progress { incoming, progress };
    let changed = |change| OwnedCommand::NotifyChanged { change };
    vec![
        OwnedCommand::Call {
            method: "x/y".into(),
            params: Some(raw("{}")),
            options: options.clone(),
        },
        OwnedCommand::Call { method: "".into(), params: None, options: CallOptions::default() },
        OwnedCommand::Cancel { call: CallId(u64::MAX), reason: "é".into() },
        changed(OwnedChange::Prompts),
        changed(OwnedChange::Extension {
            method: "x/drawn".into(),
            key: "boards".into(),
            element: "b1".into(),
            params: Some(Raw::empty_object()),
        }),
        changed(OwnedChange::Resource("file:///a".into())),
        changed(OwnedChange::Resources),
        changed(OwnedChange::Tools),
        OwnedCommand::Close,
        OwnedCommand::EndStream { incoming },
        OwnedCommand::Subscribe {
            filter: Filter::new().tools().resource("a").resource("b").element("boards", "b1"),
            options,
        },
        OwnedCommand::Log {
            incoming: None,
            level: Level::Emergency,
            logger: Some("l".into()),
            data: raw("7"),
        },
        OwnedCommand::Notify { method: "n".into(), params: Some(raw("null")) },
        progress(Progress::new(-0.5).with_total(1e300).with_message("half")),
        progress(Progress::new(-0.0).with_total(f64::INFINITY)),
        progress(Progress::new(f64::NAN).with_total(f64::NEG_INFINITY)),
        OwnedCommand::RefuseUndeclared { incoming, questions: questions.clone() },
        OwnedCommand::RequestInput { incoming, questions, state: Some("s".into()) },
        OwnedCommand::Respond { incoming, result: Some(raw("{\"a\":1}")) },
        OwnedCommand::RespondError { incoming, error: error_object() },
        OwnedCommand::SetLogLevel { level: Level::Info, options: CallOptions::default() },
    ]
}

#[test]
fn commands_and_outcomes_survive_a_round_trip() {
    all_round_trip("command", &commands());
    let outcomes =
        [Ok(CommandOutcome::Done), Ok(CommandOutcome::Call(CallId(300))), Err(Misuse::Stale)];
    for outcome in outcomes {
        round_trip(&outcome);
    }
    let text = r#"{"command":"respond","incoming":7,"result":{"content":[]},"v":1}"#;
    let command = OwnedCommand::from_json(&raw(text)).unwrap();
    assert_eq!(
        command,
        OwnedCommand::Respond { incoming: 7.into(), result: Some(raw(r#"{"content":[]}"#)) }
    );
    assert_eq!(command.to_json().as_str(), text);
    // A question without params becomes a raw one.
    let ask = |question| OwnedCommand::RefuseUndeclared {
        incoming: 1.into(),
        questions: vec![("k".into(), question)],
    };
    let read = OwnedCommand::from_json(&ask(NeededInput::Roots).to_json());
    assert_eq!(read, Ok(ask(NeededInput::Raw("roots/list".into(), None))));
}

fn peer(side: Side) -> Arc<Peer> {
    let revision = Revision::V2026_07_28;
    let declared = raw(r#"{"tools":{"listChanged":true},"roots":{},"x":[1]}"#);
    Arc::new(Peer {
        revision,
        info: Implementation::new("p", "1").title("P"),
        capabilities: Capabilities::declared(declared, side, revision),
        instructions: Some("Ask.".into()),
    })
}

fn violations() -> Vec<Violation> {
    let kinds = [
        ViolationKind::BadNotification,
        ViolationKind::InvalidBatch,
        ViolationKind::DuplicateId,
        ViolationKind::BeforeInitialize,
        ViolationKind::HttpExchange,
        ViolationKind::Invalid,
        ViolationKind::NotJson,
        ViolationKind::TooLong,
        ViolationKind::Truncated,
        ViolationKind::UnknownResponse,
        ViolationKind::StaleProgress,
        ViolationKind::UnexpectedRequest,
        ViolationKind::UnknownSubscription,
    ];
    assert_eq!(kinds.len(), ViolationKind::ALL.len());
    kinds.map(|kind| Violation { kind, detail: Cow::Borrowed("why") }).into()
}

#[test]
fn events_of_servers_survive_a_round_trip() {
    use server::Event;

    let principal = Principal::new("ada");
    let bare = Context::new(peer(Side::Client));
    let answers = vec![("city".into(), raw(r#"{"action":"accept"}"#)), ("é\"".into(), raw("1"))];
    let full = Context {
        log_level: Some(Level::Debug),
        wants_progress: true,
        input_responses: Some(InputResponses::new(answers)),
        state: Some("s".into()),
        meta: Some(raw("{}")),
        caller: Some(Arc::new(Caller::new().with_principal(principal.clone().unwrap()))),
        ..bare.clone()
    };
    let (call, incoming) = (CallId(1), IncomingId(2));
    let request = |context| Event::Request {
        incoming,
        request: Request::new("tools/call", Some(raw(r#"{"name":"x"}"#))),
        context,
    };
    let mut events = vec![
        Event::Closed(CloseReason::Fault(Fault::Unreachable(CallError::Refused(error_object())))),
        Event::Completed { call, outcome: Ok(raw("null")) },
        Event::Completed { call, outcome: Err(CallError::TimedOut) },
        Event::LateTask(raw("{}")),
        Event::Notification { method: Method::from("x/y"), params: None },
        Event::Notification { method: Method::from("ping"), params: Some(raw("{}")) },
        Event::Progress { call, progress: Progress::new(0.5) },
        Event::Ready(peer(Side::Client)),
        request(bare.clone()),
        request(Context { caller: Some(Arc::new(Caller::new())), ..bare }),
        request(full),
        Event::RequestCancelled { incoming, reason: Some("why".into()) },
        Event::Unwatched { uri: "a:b".into(), principal: None },
        Event::Watched { uri: "a:b".into(), principal },
    ];
    events.extend(violations().into_iter().map(Event::Violation));
    all_round_trip("event", &events);
}

#[test]
fn events_of_clients_survive_a_round_trip() {
    use client::Event;

    let (call, incoming) = (CallId(1), IncomingId(2));
    let request = Request::new("roots/list", None);
    let mut events = vec![
        Event::Closed(CloseReason::Peer),
        Event::Subscribed { call, filter: Filter::new().prompts().resources() },
        Event::LateTask(raw("{}")),
        Event::Notification { call: Some(call), method: Method::from("x/y"), params: None },
        Event::Progress { call, progress: Progress::new(1.0).with_total(2.0) },
        Event::Ready(peer(Side::Server)),
        Event::Request { incoming, call: None, request: request.clone() },
        Event::Request { incoming, call: Some(call), request },
        Event::RequestCancelled { incoming, reason: None },
        Event::TaskProgress { call, progress: Progress::new(1.0) },
    ];
    let outcomes = call_errors().into_iter().map(Err).chain([Ok(raw("{}"))]);
    events.extend(outcomes.map(|outcome| Event::Completed { call, outcome }));
    events.extend(violations().into_iter().map(Event::Violation));
    all_round_trip("event", &events);
}

proptest! {
    #[test]
    fn numbers_are_exact(
        id: u64, total: f64, secs: u64, nanos in 0..1_000_000_000_u32, code: i64, text: String,
    ) {
        let options = CallOptions {
            timeout: Some(Duration::new(secs, nanos)),
            ..CallOptions::default()
        };
        round_trip(&OwnedCommand::SetLogLevel { level: Level::Info, options });
        let progress = Progress::new(total).with_message(&*text);
        round_trip(&OwnedCommand::Progress { incoming: IncomingId(id), progress });
        round_trip(&CallError::Refused(ErrorObject::new(code, text)));
    }
}
