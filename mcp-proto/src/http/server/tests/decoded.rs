//! Bodies that were read before they came to a session.

use super::*;
use crate::rpc::Decoded;

/// What a session makes of a body: the head of its response, its body, and what the application
/// hears.
fn outcome(
    limits: &Limits,
    body: &Bytes,
    is_read_before: bool,
) -> (Option<(u16, String)>, Vec<String>) {
    let mut it = Played::of(config().limits(limits.clone()), "2025-11-25", Settings::default());
    let exchange = if is_read_before {
        let message = Incoming::Owned(body.clone());
        it.session.handle_decoded(it.now, true, Decoded::read(&message, &Limits::default()))
    } else {
        it.session.handle_post(it.now, true, body.clone())
    };
    let heard =
        core::iter::from_fn(|| it.session.poll_event()).map(|event| format!("{event:?}")).collect();
    let reply =
        it.session.poll_reply(exchange).map(|reply| (reply.status, format!("{:?}", reply.body)));
    (reply, heard)
}

#[test]
fn a_body_means_the_same_whoever_read_it_first() {
    let deep = format!(r#"{{"name":"t","arguments":{{"a":{}{}}}}}"#, "[".repeat(9), "]".repeat(9));
    let call = |id: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
    };
    let strict = Limits { depth_max: 8, id_bytes_max: 8, ..Limits::default() };
    for (body, is_refused) in [
        (call("7", r#"{"name":"t"}"#), false),
        (call("7", &deep), true),
        (call(r#""a long enough id""#, r#"{"name":"t"}"#), true),
        (call("7", "[]"), true),
        ("[1".to_string(), true),
    ] {
        let body = Bytes::from(body);
        for limits in [&Limits::default(), &strict] {
            let [now, before] =
                [false, true].map(|is_read_before| outcome(limits, &body, is_read_before));
            assert_eq!(now, before, "{body:?} {limits:?}");
            let heard = now.1.iter().any(|event| event.starts_with("Request"));
            assert!(limits != &strict || heard != is_refused, "by its own limits: {body:?}");
        }
    }
}

#[test]
fn a_session_that_rested_goes_on_as_before() {
    let mut it = Played::new();
    let (call, incoming) = it.call();
    it.session.rest();
    it.progress(incoming, 1);
    it.answer(incoming);
    let first = it.hear(call);
    assert_eq!(first.said(), ["progress 1", "result 1"], "it does not while somebody waits");
    it.change();
    it.session.handle_gone(it.now, call);
    it.session.rest();
    let get = it.get(None);
    assert_eq!(it.hear(get).said(), ["tools/list_changed"], "nothing that is kept is lost");
    it.session.handle_gone(it.now, get);
    it.session.rest();
    let (call, incoming) = it.call();
    it.answer(incoming);
    assert_eq!(it.json(call).0, 200);
}
