//! What becomes a JSON value, what an event stream, and what it begins and ends with.

use super::*;

#[test]
fn an_answer_alone_is_one_json_value_http_10() {
    let mut it = Played::new();
    let (call, incoming) = it.call();
    assert_eq!(it.session.poll_reply(call), None, "nothing to say yet");
    it.answer(incoming);
    assert!(it.session.has_output());
    let (status, body) = it.json(call);
    assert_eq!((status, short(&body)), (200, "result 1".into()));
    assert_eq!(it.session.poll_frame(call), Some(Frame::End), "the exchange is over");
    assert!(!it.session.has_output() && !it.session.is_busy());
}

#[test]
fn an_error_of_a_session_is_an_answer_like_any_other() {
    let mut it = Played::new();
    let unknown = it.ask("no/such", json!({}));
    let (status, body) = it.json(unknown);
    assert_eq!((status, short(&body)), (200, "error -32601".into()));
}

#[test]
fn whatever_comes_before_the_answer_makes_it_an_event_stream_http_19_http_13() {
    for early in [true, false] {
        let mut it = Played::new();
        let (call, incoming) = it.call();
        it.progress(incoming, 1);
        if early {
            assert_eq!(it.hear(call).said(), ["progress 1"]);
        }
        it.session
            .log(it.now, Some(incoming), crate::schema::Level::Error, None, &"x".into_raw())
            .unwrap();
        it.answer(incoming);
        let heard = it.hear(call);
        assert!(heard.is_over, "it ends after the answer");
        let expected = ["progress 1", "message", "result 1"];
        assert_eq!(heard.said(), expected[usize::from(early)..]);
        assert!(heard.messages.iter().all(|(id, _)| id.is_some()));
    }
}

trait IntoRaw {
    fn into_raw(self) -> crate::Raw;
}

impl IntoRaw for &str {
    fn into_raw(self) -> crate::Raw {
        crate::Raw::new(self).unwrap()
    }
}

#[test]
fn what_needs_no_answer_is_accepted_with_nothing_http_08() {
    let mut it = Played::new();
    it.tell("notifications/cancelled", json!({"requestId": 99}));
    let stray = it.post(false, &json!({"jsonrpc": "2.0", "id": 7, "result": {}}));
    assert_eq!(it.json(stray), (202, Value::Null));
    assert!(!it.session.is_busy());
}

#[test]
fn what_needs_no_answer_and_is_refused_says_why_http_09() {
    let mut it = Played::new();
    let broken = it.session.handle_post(it.now, false, &b"{\"jsonrpc\":\"2.0\"}"[..]);
    let (status, body) = it.json(broken);
    assert_eq!((status, short(&body)), (400, "error -32600".into()));
    assert!(body["id"].is_null());
    assert!(!it.session.is_busy());
}

#[test]
fn a_request_that_takes_a_while_is_primed_with_what_to_resume_from_http_16() {
    let mut it = Played::new();
    let (call, incoming) = it.call();
    it.wait(Duration::from_millis(49));
    assert_eq!(it.session.poll_reply(call), None);
    it.wait(Duration::from_millis(1));
    let primed = it.hear(call);
    assert!(primed.messages.is_empty() && primed.last_id.is_some() && !primed.is_over);
    assert_eq!(primed.retry, Some(Duration::from_secs(1)));
    it.answer(incoming);
    let heard = it.hear(call);
    assert_eq!((heard.said(), heard.is_over), (alloc::vec!["result 1".into()], true));
}

#[test]
fn an_answer_that_is_there_is_json_however_late_it_is_asked_for() {
    let mut it = Played::new();
    let (call, incoming) = it.call();
    it.answer(incoming);
    it.wait(Duration::from_secs(1));
    assert_eq!(it.json(call).0, 200);
}

#[test]
fn revisions_without_priming_say_nothing_for_longer_http_16_http_54() {
    for revision in ["2025-03-26", "2025-06-18"] {
        let mut it = Played::in_revision(revision, Settings::default());
        let (call, incoming) = it.call();
        it.wait(Duration::from_millis(14_999));
        assert_eq!(it.session.poll_reply(call), None);
        it.wait(Duration::from_millis(1));
        assert_eq!(it.bytes(call), (b":\n\n".to_vec(), false));
        it.answer(incoming);
        let heard = it.hear(call);
        assert!(heard.is_over && heard.retry.is_none() && heard.messages[0].0.is_some());
    }
}

#[test]
fn a_silent_stream_lives_by_comments_http_54() {
    let mut it = Played::new();
    let (call, incoming) = it.call();
    it.progress(incoming, 1);
    it.hear(call);
    for _ in 0..3 {
        it.wait(Duration::from_secs(14));
        assert_eq!(it.bytes(call), (Vec::new(), false));
        it.wait(Duration::from_secs(1));
        assert_eq!(it.bytes(call), (b":\n\n".to_vec(), false));
    }
    it.wait(Duration::from_secs(10));
    it.progress(incoming, 2);
    assert_eq!(it.hear(call).said(), ["progress 2"]);
    it.wait(Duration::from_secs(10));
    assert_eq!(it.bytes(call), (Vec::new(), false), "it was not silent for long enough");
}

#[test]
fn a_reader_that_does_not_read_gets_one_comment_at_most() {
    let mut it = Played::new();
    let get = it.get(None);
    it.hear(get);
    it.wait(Duration::from_secs(3600));
    assert_eq!(it.bytes(get).0, b":\n\n");
}

#[test]
fn a_cancelled_request_has_no_answer() {
    let mut it = Played::new();
    let (call, _) = it.call();
    let (streaming, incoming) = it.call();
    it.progress(incoming, 1);
    it.hear(streaming);
    it.tell("notifications/cancelled", json!({"requestId": 1}));
    it.tell("notifications/cancelled", json!({"requestId": 2}));
    assert_eq!(it.json(call), (204, Value::Null));
    let heard = it.hear(streaming);
    assert!(heard.is_over && heard.messages.is_empty());
}

#[test]
fn closing_ends_all_streams_once_what_is_open_is_answered() {
    let mut it = Played::new();
    let get = it.get(None);
    let (json, first) = it.call();
    let (streaming, second) = it.call();
    it.progress(second, 1);
    it.hear(streaming);
    it.session.close(it.now);
    assert!(!it.hear(get).is_over);
    it.answer(first);
    it.answer(second);
    assert_eq!(it.json(json).0, 200);
    let heard = it.hear(streaming);
    assert_eq!((heard.said(), heard.is_over), (alloc::vec!["result 2".into()], true));
    assert!(it.hear(get).is_over);
    assert!(!it.session.is_busy());
    let late = it.ask("ping", json!({}));
    assert_eq!(it.json(late), (503, Value::Null));
}

#[test]
fn closing_ends_what_is_not_answered_in_time() {
    let mut it = Played::new();
    let (silent, _) = it.call();
    let (streaming, incoming) = it.call();
    it.progress(incoming, 1);
    it.hear(streaming);
    it.session.close(it.now);
    it.wait(Limits::default().drain_timeout);
    assert_eq!(it.json(silent), (503, Value::Null));
    assert!(it.hear(streaming).is_over);
    assert!(!it.session.is_busy());
}

#[test]
fn a_session_is_busy_while_a_request_is_open_or_somebody_listens() {
    let mut it = Played::new();
    assert!(!it.session.is_busy());
    let (call, incoming) = it.call();
    assert!(it.session.is_busy());
    it.session.handle_gone(it.now, call);
    assert!(it.session.is_busy(), "the request goes on");
    it.answer(incoming);
    it.session.poll_reply(call);
    assert!(!it.session.is_busy());
    let get = it.get(None);
    assert!(it.session.is_busy());
    it.session.handle_gone(it.now, get);
    assert!(!it.session.is_busy());
}
