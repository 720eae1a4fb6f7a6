//! Tests of inbound requests and batches without a connection.

use alloc::string::{String, ToString};
use alloc::vec;

use super::*;
use crate::connection::input_required::round::Reader;
use crate::method::MethodId;
use crate::revision::Side;
use crate::vocabulary::Peer;
use crate::vocabulary::for_test::{message, params_in};

const LEGACY: Revision = Revision::V2025_11_25;
const MODERN: Revision = Revision::V2026_07_28;
const ALONE: Destination = Destination { stream: StreamId(3), batch: None };

fn server(limits: Limits) -> (Env, Inbound) {
    (Env::for_test(Side::Server, limits, LEGACY), Inbound::default())
}

/// Takes the only delivered request.
fn delivered(env: &mut Env) -> (IncomingId, Request, Context) {
    let mut events = env.take_events();
    match (events.pop(), events.is_empty()) {
        (Some(Event::Request { incoming, request, context, .. }), true) => {
            (incoming, request, context)
        }
        other => panic!("{other:?}"),
    }
}

/// Delivers a `tools/call` whose id and progress token are `wire`.
fn deliver(env: &mut Env, inbound: &mut Inbound, to: Destination, wire: &str) -> IncomingId {
    let text = message(r#"{"name":"t"}"#);
    let peer = Peer::for_test(Side::Client, LEGACY);
    let rule = MethodId::CallTool.rule(peer.revision);
    let progress_token = Some(RequestId::from(wire));
    let sender = RequestContext {
        peer,
        log_level: None,
        answers: None,
        state: None,
        meta: None,
        progress_token,
    };
    let origin = Origin { to, frame: Frame::Borrowed(text.as_bytes()) };
    let params = params_in(&text);
    inbound.deliver(env, origin, wire.into(), MethodId::CallTool.into(), rule, &params, sender);
    let (incoming, request, context) = delivered(env);
    assert!(request.method == "tools/call" && context.wants_progress);
    incoming
}

fn respond(env: &mut Env, inbound: &mut Inbound, incoming: IncomingId) -> Result<(), Misuse> {
    let result = |_, out: &mut Vec<u8>| {
        out.extend_from_slice(b"{}");
        Ok(())
    };
    inbound.respond(env, incoming, &result).map(|_| ())
}

fn response(wire: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"{wire}","result":{{}}}}"#)
}

#[test]
fn a_request_is_answered_at_most_once_json_06() {
    let (mut env, mut inbound) = server(Limits::default());
    let incoming = deliver(&mut env, &mut inbound, ALONE, "a");
    assert_eq!(inbound.requests().find(&"a".into()), Some(incoming));
    assert!(inbound.has_id(&"a".into()) && !inbound.is_idle());
    assert_eq!(inbound.stream_of(Some(incoming)), Some(ALONE.stream));
    respond(&mut env, &mut inbound, incoming).unwrap();
    assert_eq!(env.sent(), [response("a")]);
    assert!(!inbound.has_id(&"a".into()) && inbound.is_idle());
    assert_eq!(respond(&mut env, &mut inbound, incoming), Err(Misuse::Stale));
    let error = inbound.respond_error(&mut env, incoming, ErrorObject::internal("no"));
    assert!(matches!(error, Err(Misuse::Stale)));
    assert!(env.sent().is_empty());
}

#[test]
fn the_transport_receives_the_code_and_the_request_of_an_error() {
    let (mut env, mut inbound) = server(Limits::default());
    let incoming = deliver(&mut env, &mut inbound, ALONE, "a");
    inbound.respond_error(&mut env, incoming, ErrorObject::new(-5, "no")).unwrap();
    let outgoing = env.out.poll().unwrap();
    assert_eq!(outgoing.kind, OutgoingKind::Response { incoming: Some(incoming), error: Some(-5) });
    assert_eq!((outgoing.route, outgoing.last), (Route::Stream(ALONE.stream), true));
    inbound.refuse(&mut env, ALONE, None, &ErrorObject::new(-6, "no"));
    let outgoing = env.out.poll().unwrap();
    assert_eq!(outgoing.kind, OutgoingKind::Response { incoming: None, error: Some(-6) });
}

#[test]
fn a_modern_client_sends_no_errors_frm_16() {
    let mut inbound = Inbound::default();
    for (side, revision, count) in
        [(Side::Client, MODERN, 0), (Side::Client, LEGACY, 1), (Side::Server, MODERN, 1)]
    {
        let mut env = Env::for_test(side, Limits::default(), revision);
        inbound.refuse(&mut env, ALONE, Some(&"a".into()), &ErrorObject::internal("no"));
        assert_eq!(env.sent().len(), count, "{side:?} {revision}");
    }
}

#[test]
fn an_unencodable_result_leaves_the_request_open_and_its_progress_deferred() {
    let (mut env, mut inbound) = server(Limits { outbox_bytes_max: 0, ..Limits::default() });
    let incoming = deliver(&mut env, &mut inbound, ALONE, "a");
    // The first notification still fits.
    for value in [1.0, 2.0] {
        inbound.progress(&mut env, incoming, &Progress::new(value)).unwrap();
    }
    env.sent();
    let broken = |_, out: &mut Vec<u8>| {
        out.extend_from_slice(b"{\"half");
        Err(Unencodable)
    };
    assert!(matches!(inbound.respond(&mut env, incoming, &broken), Err(Misuse::Unencodable)));
    assert!(env.sent().is_empty() && inbound.requests().has_deferred());
    respond(&mut env, &mut inbound, incoming).unwrap();
    let sent = env.sent();
    assert_eq!(sent.len(), 2);
    assert!(sent[0].contains(r#""progress":2"#) && sent[1] == response("a"), "{sent:?}");
}

#[test]
fn requests_are_bounded_in_number_and_bytes_sec_19() {
    let (mut env, mut inbound) =
        server(Limits { requests_max: 2, requests_bytes_max: 30, ..Limits::default() });
    let has_room = |inbound: &Inbound, env: &Env, params: &str| {
        inbound.require_room(&params_in(&message(params)), env.limits()).is_ok()
    };
    assert!(has_room(&inbound, &env, &format!(r#"{{"a":"{}"}}"#, "x".repeat(22))));
    assert!(!has_room(&inbound, &env, &format!(r#"{{"a":"{}"}}"#, "x".repeat(23))));
    let first = deliver(&mut env, &mut inbound, ALONE, "a");
    assert!(has_room(&inbound, &env, "{}"));
    deliver(&mut env, &mut inbound, ALONE, "b");
    assert!(!has_room(&inbound, &env, "{}"));
    respond(&mut env, &mut inbound, first).unwrap();
    // A request of 12 bytes is still open.
    assert!(has_room(&inbound, &env, &format!(r#"{{"a":"{}"}}"#, "x".repeat(10))));
    assert!(!has_room(&inbound, &env, &format!(r#"{{"a":"{}"}}"#, "x".repeat(11))));
}

#[test]
fn progress_must_increase_and_belong_to_an_open_request_prg_03_prg_05() {
    let (mut env, mut inbound) = server(Limits::default());
    let incoming = deliver(&mut env, &mut inbound, ALONE, "a");
    for (value, is_ok) in [(1.0, true), (1.0, false), (0.5, false), (f64::NAN, false), (2.0, true)]
    {
        let sent = inbound.progress(&mut env, incoming, &Progress::new(value));
        assert_eq!((sent.is_ok(), env.sent().len()), (is_ok, usize::from(is_ok)), "{value}");
    }
    assert_eq!(inbound.progress(&mut env, IncomingId(9), &Progress::new(3.0)), Err(Misuse::Stale));
}

#[test]
fn deferred_progress_is_replaced_by_the_latest() {
    let (mut env, mut inbound) = server(Limits { outbox_bytes_max: 0, ..Limits::default() });
    let incoming = deliver(&mut env, &mut inbound, ALONE, "a");
    for value in [1.0, 2.0, 3.0] {
        inbound.progress(&mut env, incoming, &Progress::new(value)).unwrap();
    }
    inbound.send_deferred(&mut env);
    assert_eq!(env.sent().len(), 1, "there is no room yet");
    inbound.send_deferred(&mut env);
    let sent = env.sent();
    assert!(sent.len() == 1 && sent[0].contains(r#""progress":3"#), "{sent:?}");
    assert!(!inbound.requests().has_deferred());
}

#[test]
fn a_batch_is_answered_after_all_of_its_members_bat_06() {
    let (mut env, mut inbound) = server(Limits::default());
    let batch = Some(inbound.begin_batch(ALONE.stream));
    let to = Destination { batch, ..ALONE };
    for wire in ["a", "b", "c"] {
        inbound.reserve_id(batch, &wire.into());
    }
    let a = deliver(&mut env, &mut inbound, to, "a");
    inbound.accept(&mut env, to, &"b".into());
    let c = deliver(&mut env, &mut inbound, to, "c");
    inbound.settle(&mut env, batch);
    respond(&mut env, &mut inbound, c).unwrap();
    assert!(env.sent().is_empty() && inbound.batch_bytes() > 0);
    assert!(inbound.has_id(&"c".into()), "the id is reserved until the batch completes");
    // A cancelled member is omitted.
    let open = inbound.remove(a).unwrap();
    inbound.close(&mut env, &open);
    assert_eq!(env.sent(), [format!("[{},{}]", response("b"), response("c"))]);
    assert!(inbound.is_idle() && !inbound.has_id(&"c".into()));
}

#[test]
fn a_batch_without_responses_ends_its_stream_without_a_message_bat_07() {
    let (mut env, mut inbound) = server(Limits::default());
    env.out.use_streams();
    let batch = Some(inbound.begin_batch(ALONE.stream));
    inbound.settle(&mut env, batch);
    let outgoing = env.out.poll().unwrap();
    assert_eq!((outgoing.kind, outgoing.last), (OutgoingKind::EndOfStream, true));
    let batch = Some(inbound.begin_batch(ALONE.stream));
    inbound.forget_batches();
    inbound.settle(&mut env, batch);
    assert!(env.out.is_empty() && inbound.is_idle());
}

#[test]
fn closing_a_request_ends_its_stream() {
    let (mut env, mut inbound) = server(Limits::default());
    env.out.use_streams();
    let incoming = deliver(&mut env, &mut inbound, ALONE, "a");
    let open = inbound.remove(incoming).unwrap();
    assert!(inbound.remove(incoming).is_none() && !inbound.has_id(&"a".into()));
    inbound.close(&mut env, &open);
    let outgoing = env.out.poll().unwrap();
    assert_eq!(
        (outgoing.kind, outgoing.route),
        (OutgoingKind::EndOfStream, Route::Stream(ALONE.stream))
    );
}

fn ask(env: &mut Env, inbound: &mut Inbound, incoming: IncomingId) {
    let questions = [("q", NeededInput::Roots), ("r", NeededInput::Roots)];
    inbound.begin_asking(env, incoming, &questions, Some("s"));
}

#[test]
fn a_request_is_delivered_again_with_the_answers() {
    let (mut env, mut inbound) = server(Limits::default());
    let first = deliver(&mut env, &mut inbound, ALONE, "a");
    ask(&mut env, &mut inbound, first);
    assert_eq!(
        respond(&mut env, &mut inbound, first),
        Err(Misuse::Stale),
        "the client has to answer first"
    );
    assert_eq!(inbound.progress(&mut env, first, &Progress::new(1.0)), Err(Misuse::Stale));
    let answer = |text| Ok(Raw::from_text(text).unwrap());
    assert_eq!(inbound.on_answer(&mut env, first, 1, answer("[2]")), None);
    assert!(env.take_events().is_empty(), "one answer is missing");
    assert_eq!(inbound.on_answer(&mut env, first, 0, answer("[1]")), None);
    let (again, request, context) = delivered(&mut env);
    assert_ne!(again, first);
    assert_eq!(request.params.unwrap().to_string(), r#"{"name":"t"}"#);
    let answers = context.input_responses.unwrap();
    let answers: Vec<_> =
        answers.iter().map(|(key, answer)| (key.to_string(), answer.to_string())).collect();
    assert_eq!(answers, [("q".into(), "[1]".into()), ("r".into(), "[2]".to_string())]);
    assert_eq!((context.state.as_deref(), context.wants_progress), (Some("s"), true));
    assert_eq!(inbound.requests().get(again).unwrap().rounds(), 1);
    assert_eq!(inbound.on_answer(&mut env, first, 0, answer("[3]")), None, "the request has ended");
    respond(&mut env, &mut inbound, again).unwrap();
    assert_eq!(env.sent(), [response("a")]);
}

fn question(params: &str) -> WrittenQuestion {
    WrittenQuestion { method: "roots/list".into(), params: params.into() }
}

#[test]
fn held_questions_are_taken_oldest_first_and_counted_t_28() {
    let (mut env, mut inbound) = server(Limits::default());
    let [first, second] = ["a", "b"].map(|wire| deliver(&mut env, &mut inbound, ALONE, wire));
    let bytes = inbound.requests().bytes();
    inbound.hold(second, vec![question("{}")]);
    inbound.hold(first, vec![question("{}"), question("[1,2]")]);
    assert_eq!((inbound.requests().held_questions(), inbound.requests().bytes()), (3, bytes + 9));
    let taken = inbound.next_held().map(|(incoming, questions)| (incoming, questions.len()));
    assert_eq!(taken, Some((first, 2)));
    assert_eq!((inbound.requests().held_questions(), inbound.requests().bytes()), (1, bytes + 2));
    assert_eq!(inbound.next_held().map(|(incoming, _)| incoming), Some(second));
    assert!(inbound.next_held().is_none() && inbound.requests().bytes() == bytes);
}

#[test]
fn a_removed_request_takes_its_id_progress_and_questions_with_it_can_03_t_28() {
    let (mut env, mut inbound) = server(Limits { outbox_bytes_max: 0, ..Limits::default() });
    let incoming = deliver(&mut env, &mut inbound, ALONE, "a");
    for value in [1.0, 2.0] {
        inbound.progress(&mut env, incoming, &Progress::new(value)).unwrap();
    }
    assert_eq!(env.sent().len(), 1);
    assert!(inbound.requests().has_deferred());
    ask(&mut env, &mut inbound, incoming);
    assert_eq!(env.sent().len(), 1, "progress precedes the questions");
    inbound.hold(incoming, vec![question("{}")]);
    assert!(inbound.remove(incoming).is_some() && inbound.remove(incoming).is_none());
    assert_eq!((inbound.requests().held_questions(), inbound.requests().bytes()), (0, 0));
    assert!(inbound.next_held().is_none(), "nothing is asked for a cancelled request");
    assert!(
        !inbound.has_id(&"a".into()) && !inbound.requests().has_deferred() && inbound.is_idle()
    );
}

#[test]
fn a_failed_question_refuses_the_request_t_99() {
    let held = r#"{"name":"t"}"#.len() * 2;
    for (limits, outcome) in [
        (Limits::default(), Err(CallError::TimedOut)),
        (Limits { requests_bytes_max: held, ..Limits::default() }, Ok("x".repeat(held))),
    ] {
        let (mut env, mut inbound) = server(limits);
        let incoming = deliver(&mut env, &mut inbound, ALONE, "a");
        ask(&mut env, &mut inbound, incoming);
        let outcome = outcome.map(|text| Raw::from_text(&format!("{text:?}")).unwrap());
        let error = inbound.on_answer(&mut env, incoming, 1, outcome).unwrap();
        assert!(error.message.starts_with("no answer to `r`"), "{error:?}");
        assert!(env.take_events().is_empty());
        inbound.respond_error(&mut env, incoming, error).unwrap();
        assert_eq!(env.sent().len(), 1);
    }
}

#[test]
fn a_question_in_a_result_is_answered_or_withdrawn() {
    let mut env = Env::for_test(Side::Client, Limits::default(), MODERN);
    let mut inbound = Inbound::default();
    let text = r#"{"inputRequests":{"q":{"method":"roots/list"},"r":{"method":"roots/list"}}}"#;
    let reader = Reader {
        limits: env.limits(),
        capabilities: &env.identity.capabilities,
        revision: MODERN,
        retained_bytes: 0,
    };
    let round = reader.read(&Raw::from_text(text).unwrap(), 0).unwrap();
    let asked = inbound.deliver_questions(&mut env, CallId(5), &round).unwrap();
    assert_eq!((asked.len(), env.take_events().len()), (2, 2));
    let no_object = |_, out: &mut Vec<u8>| {
        out.extend_from_slice(b"[]");
        Ok(())
    };
    assert!(matches!(inbound.respond(&mut env, asked[1], &no_object), Err(Misuse::Unencodable)));
    let error = inbound.respond_error(&mut env, asked[1], ErrorObject::internal("no")).unwrap();
    assert!(matches!(error, Responded::Question { call: CallId(5), index: 1, .. }));
    inbound.withdraw_questions(&mut env, &asked);
    let cancelled: Vec<_> = env
        .take_events()
        .into_iter()
        .map(|event| match event {
            Event::RequestCancelled { incoming, .. } => incoming,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(cancelled, vec![asked[0]], "the other one was answered");
    assert!(env.sent().is_empty() && inbound.is_idle());
}
