//! Tests of the unsolicited stream: messages that belong to no request.

use super::*;

// HTTP-25, HTTP-26
#[test]
fn only_messages_that_belong_to_no_request_use_it_http_25_http_26() {
    let mut it = Fixture::new();
    let get = it.get(None);
    let (call, incoming) = it.call();
    it.progress(incoming, 1);
    it.change();
    it.answer(incoming);
    assert_eq!(it.read(get).summaries(), ["tools/list_changed"]);
    assert_eq!(it.read(call).summaries(), ["progress 1", "result 1"]);
}

// HTTP-16, HTTP-23
#[test]
fn it_starts_with_a_priming_event_http_16() {
    let mut it = Fixture::new();
    let get = it.get(None);
    let stream = it.read(get);
    assert!(stream.last_id.is_some() && stream.retry.is_none() && !stream.is_over);
    it.session.handle_gone(it.now, get);
    it.change();
    let again = it.get(stream.last_id.as_deref());
    assert_eq!(it.read(again).summaries(), ["tools/list_changed"]);
    let mut old = Fixture::in_revision("2025-06-18", StreamSettings::default());
    let get = old.get(None);
    assert_eq!(old.bytes(get), (b":\n\n".to_vec(), false));
}

#[test]
fn messages_wait_for_the_first_listener() {
    let mut it = Fixture::new();
    it.change();
    it.change();
    let get = it.get(None);
    assert_eq!(it.read(get).summaries(), ["tools/list_changed"; 2]);
    it.session.handle_gone(it.now, get);
    let again = it.get(None);
    assert!(it.read(again).messages.is_empty(), "later listeners do not receive them again");
}

// HTTP-27, HTTP-28
#[test]
fn a_second_listener_replaces_the_first_http_27() {
    let mut it = Fixture::new();
    let first = it.get(None);
    it.read(first);
    it.change();
    let second = it.get(None);
    it.change();
    assert_eq!(it.bytes(first), (Vec::new(), true));
    assert_eq!(it.read(second).summaries(), ["tools/list_changed"; 2]);
    it.session.handle_gone(it.now, first);
    it.change();
    assert_eq!(
        it.read(second).summaries(),
        ["tools/list_changed"],
        "a disconnection of the replaced listener has no effect"
    );
}

// HTTP-19
#[test]
fn requests_with_a_parent_use_its_stream_http_19_http_27() {
    let mut it = Fixture::new();
    let get = it.get(None);
    it.read(get);
    let (call, incoming) = it.call();
    let options = crate::CallOptions { parent: Some(incoming), ..crate::CallOptions::default() };
    it.session.call_raw(it.now, "ping", None, options).unwrap();
    it.session.call_raw(it.now, "ping", None, crate::CallOptions::default()).unwrap();
    assert_eq!(
        (it.read(call).summaries(), it.read(get).summaries()),
        (Vec::from(["ping".into()]), Vec::from(["ping".into()]))
    );
}

#[test]
fn input_requests_use_the_stream_of_their_request_http_19_http_27() {
    let roots = json!({"roots": {}});
    let mut it =
        Fixture::declaring(&roots, "7c1e", config(), "2025-11-25", StreamSettings::default());
    let get = it.get(None);
    it.read(get);
    let (call, incoming) = it.call();
    let questions = [("where", crate::NeededInput::Roots)];
    it.session.request_input(it.now, incoming, &questions, None).unwrap();
    assert_eq!(
        (it.read(call).summaries(), it.read(get).summaries()),
        (Vec::from(["roots/list".into()]), Vec::new())
    );
}
