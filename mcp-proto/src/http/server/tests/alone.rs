//! Exchanges that stand alone.

use super::*;

#[test]
fn an_answer_alone_has_the_status_that_goes_with_it_http_42() {
    let (mut session, call) = alone(&modern("tools/call", json!({"name": "x"})));
    let Some(Event::Request { incoming, .. }) = session.poll_event() else { panic!("a call") };
    assert_eq!(session.poll_reply(call), None);
    session.respond(Instant::ZERO, incoming, &CallToolResult::text("done")).unwrap();
    let reply = session.poll_reply(call).unwrap();
    assert_eq!(reply.status, 200);
    assert!(reply.fields.iter().all(|(name, _)| *name != "mcp-session-id"));
    let (mut session, call) = alone(&modern("no/such", json!({})));
    assert_eq!(session.poll_reply(call).unwrap().status, 404);
}

#[test]
fn its_events_have_no_ids_and_are_never_primed_sse_24_http_52() {
    let (session, call) = alone(&modern("tools/call", json!({"name": "x"})));
    let mut it = Played { session, now: Instant::ZERO, next_id: 2 };
    let incoming = it.incoming();
    it.wait(Duration::from_secs(1));
    assert_eq!(it.session.poll_reply(call), None, "it is not primed");
    it.progress(incoming, 1);
    it.session.hang_up(it.now, incoming).unwrap();
    let first = it.hear(call);
    assert!(!first.is_over, "nor hung up");
    it.answer(incoming);
    let rest = it.hear(call);
    assert_eq!(
        (first.said(), rest.said()),
        (Vec::from(["progress 1".into()]), Vec::from(["result 1".into()]))
    );
    assert!(rest.is_over);
    for heard in [first, rest] {
        assert_eq!((heard.last_id, heard.retry), (None, None));
    }
    assert_eq!(it.session.streams.kept_bytes(), 0);
}

#[test]
fn whoever_is_gone_has_cancelled_t_76_t_77() {
    for is_begun in [false, true] {
        let (session, call) = alone(&modern("tools/call", json!({"name": "x"})));
        let mut it = Played { session, now: Instant::ZERO, next_id: 2 };
        let incoming = it.incoming();
        if is_begun {
            it.progress(incoming, 1);
            it.hear(call);
        }
        it.session.handle_gone(it.now, call);
        let Some(Event::RequestCancelled { incoming: cancelled, .. }) = it.session.poll_event()
        else {
            panic!("it was not cancelled");
        };
        assert_eq!(cancelled, incoming);
        assert!(it.session.respond(it.now, incoming, &CallToolResult::text("late")).is_err());
        assert!(!it.session.is_busy() && !it.session.has_output());
        assert_eq!(it.session.poll_frame(call), Some(Frame::End));
    }
}

#[test]
fn in_a_session_whoever_is_gone_comes_back_t_76() {
    let mut it = Played::new();
    let (call, incoming) = it.call();
    it.session.handle_gone(it.now, call);
    assert!(it.session.poll_event().is_none());
    it.answer(incoming);
}

#[test]
fn who_listens_hears_what_of_first_then_changes_and_a_result_at_the_end_t_102() {
    let (session, listen) = alone(&modern(
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    ));
    let mut it = Played { session, now: Instant::ZERO, next_id: 2 };
    it.change();
    let heard = it.hear(listen);
    assert_eq!(heard.said(), ["subscriptions/acknowledged", "tools/list_changed"]);
    it.change();
    assert_eq!(it.hear(listen).said(), ["tools/list_changed"]);
    it.session.close(it.now);
    let end = it.hear(listen);
    assert_eq!((end.said(), end.is_over), (Vec::from(["result 1".into()]), true));
    assert!(!it.session.is_busy());
}

#[test]
fn who_listens_and_is_gone_is_told_nothing_more() {
    let (session, listen) = alone(&modern(
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    ));
    let mut it = Played { session, now: Instant::ZERO, next_id: 2 };
    it.hear(listen);
    it.session.handle_gone(it.now, listen);
    it.change();
    assert!(!it.session.has_output() && !it.session.is_busy());
}
