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
    assert_eq!(it.session.kept_bytes, 0);
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
        let Some(Event::RequestCancelled { incoming: cancelled, .. }) = it.session.poll_event() else {
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
    let (session, listen) =
        alone(&modern("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})));
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
    let (session, listen) =
        alone(&modern("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})));
    let mut it = Played { session, now: Instant::ZERO, next_id: 2 };
    it.hear(listen);
    it.session.handle_gone(it.now, listen);
    it.change();
    assert!(!it.session.has_output() && !it.session.is_busy());
}

/// Who the server of `config` takes `message` to be from, and in which revision; nobody if it refuses.
fn heard_from(config: &Config, message: &Value, said: &mut Option<Said>) -> Option<(String, Revision)> {
    let server = Server::new(Instant::ZERO, config.clone());
    let mut session = Session::alone(server, Revision::V2026_07_28, Settings::default());
    if let Some(said) = said {
        session.recall(said);
    }
    session.handle_post(Instant::ZERO, true, message.to_string().as_bytes());
    *said = session.said().cloned();
    let event = session.poll_event();
    let Some(Event::Request { context, .. }) = event else { return None };
    Some((context.peer.info.name.clone(), context.peer.revision))
}

#[test]
fn what_was_said_before_counts_for_the_same_bytes_and_the_same_server_alone() {
    let (ours, mut said) = (config(), None);
    let first = modern("tools/call", json!({"name": "x"}));
    let mut other = first.clone();
    other["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] = "d".into();
    let named = |name: &str| Some((String::from(name), Revision::V2026_07_28));
    assert_eq!(heard_from(&ours, &first, &mut said), named("c"));
    let kept = said.clone().unwrap();
    assert_eq!(heard_from(&ours, &first, &mut said), named("c"));
    assert!(said.as_ref().unwrap().is(&kept), "it was not read again");
    assert_eq!(heard_from(&ours, &other, &mut said), named("d"));
    assert!(!said.as_ref().unwrap().is(&kept));
    // Another server may not speak that revision at all.
    let legacy = config().revisions(&[Revision::V2025_11_25]);
    assert_eq!(heard_from(&legacy, &first, &mut Some(kept)), None);
}
