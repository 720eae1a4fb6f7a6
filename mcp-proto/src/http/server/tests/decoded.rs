//! Tests of messages that were parsed before they reach a session, and of `rest`.

use super::*;
use crate::rpc::DecodedMessage;

/// Posts a body and returns the status and body of the response, and the events.
fn outcome(
    limits: &Limits,
    body: &Bytes,
    is_decoded: bool,
) -> (Option<(u16, String)>, Vec<String>) {
    let mut it =
        Fixture::of(config().limits(limits.clone()), "2025-11-25", StreamSettings::default());
    let exchange = if is_decoded {
        let message = IncomingMessage::Owned(body.clone());
        it.session.handle_decoded(it.now, true, DecodedMessage::parse(&message, &Limits::default()))
    } else {
        it.session.handle_post(it.now, true, body.clone())
    };
    let events =
        core::iter::from_fn(|| it.session.poll_event()).map(|event| format!("{event:?}")).collect();
    let reply =
        it.session.poll_reply(exchange).map(|reply| (reply.status, format!("{:?}", reply.body)));
    (reply, events)
}

#[test]
fn decoded_and_raw_bodies_have_equal_outcomes() {
    let deep = format!(r#"{{"name":"t","arguments":{{"a":{}{}}}}}"#, "[".repeat(9), "]".repeat(9));
    let call = |id: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
    };
    let strict = Limits { depth_max: 8, id_bytes_max: 8, ..Limits::default() };
    for (body, is_rejected) in [
        (call("7", r#"{"name":"t"}"#), false),
        (call("7", &deep), true),
        (call(r#""a long enough id""#, r#"{"name":"t"}"#), true),
        (call("7", "[]"), true),
        ("[1".to_string(), true),
    ] {
        let body = Bytes::from(body);
        for limits in [&Limits::default(), &strict] {
            let [raw, decoded] = [false, true].map(|is_decoded| outcome(limits, &body, is_decoded));
            assert_eq!(raw, decoded, "{body:?} {limits:?}");
            let is_delivered = raw.1.iter().any(|event| event.starts_with("Request"));
            assert!(
                limits != &strict || is_delivered != is_rejected,
                "the session applies its own limits: {body:?}"
            );
        }
    }
}

#[test]
fn rest_does_not_change_behaviour() {
    let mut it = Fixture::new();
    let (call, incoming) = it.call();
    it.session.shrink();
    it.progress(incoming, 1);
    it.answer(incoming);
    let first = it.read(call);
    assert_eq!(first.summaries(), ["progress 1", "result 1"], "open exchanges are unaffected");
    it.change();
    it.session.handle_gone(it.now, call);
    it.session.shrink();
    let get = it.get(None);
    assert_eq!(it.read(get).summaries(), ["tools/list_changed"], "waiting messages are not lost");
    it.session.handle_gone(it.now, get);
    it.session.shrink();
    let (call, incoming) = it.call();
    it.answer(incoming);
    assert_eq!(it.json(call).0, 200);
}
