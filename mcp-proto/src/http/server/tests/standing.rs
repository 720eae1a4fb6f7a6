//! The stream of what belongs to no request.

use super::*;

#[test]
fn what_belongs_to_no_request_goes_there_and_nothing_else_does_http_25_http_26() {
    let mut it = Played::new();
    let get = it.get(None);
    let (call, incoming) = it.call();
    it.progress(incoming, 1);
    it.change();
    it.answer(incoming);
    assert_eq!(it.hear(get).said(), ["tools/list_changed"]);
    assert_eq!(it.hear(call).said(), ["progress 1", "result 1"]);
}

#[test]
fn it_begins_with_what_to_resume_from_at_once_http_16() {
    let mut it = Played::new();
    let get = it.get(None);
    let heard = it.hear(get);
    assert!(heard.last_id.is_some() && heard.retry.is_some() && !heard.is_over);
    it.session.handle_gone(it.now, get);
    it.change();
    let again = it.get(heard.last_id.as_deref());
    assert_eq!(it.hear(again).said(), ["tools/list_changed"]);
    let mut old = Played::in_revision("2025-06-18", Settings::default());
    let get = old.get(None);
    assert_eq!(old.bytes(get), (b":\n\n".to_vec(), false));
}

#[test]
fn what_was_said_while_nobody_listened_is_heard_by_whoever_comes() {
    let mut it = Played::new();
    it.change();
    it.change();
    let get = it.get(None);
    assert_eq!(it.hear(get).said(), ["tools/list_changed"; 2]);
    it.session.handle_gone(it.now, get);
    let again = it.get(None);
    assert!(it.hear(again).messages.is_empty(), "and by nobody else");
}

#[test]
fn the_second_that_listens_takes_the_place_of_the_first_http_27() {
    let mut it = Played::new();
    let first = it.get(None);
    it.hear(first);
    it.change();
    let second = it.get(None);
    it.change();
    assert_eq!(it.bytes(first), (Vec::new(), true));
    assert_eq!(it.hear(second).said(), ["tools/list_changed"; 2]);
    it.session.handle_gone(it.now, first);
    it.change();
    assert_eq!(
        it.hear(second).said(),
        ["tools/list_changed"],
        "that the first is gone changes nothing"
    );
}

#[test]
fn questions_of_a_request_go_along_with_it_http_19_http_27() {
    let mut it = Played::new();
    let get = it.get(None);
    it.hear(get);
    let (call, incoming) = it.call();
    let options = crate::CallOptions { parent: Some(incoming), ..crate::CallOptions::default() };
    it.session.call_raw(it.now, "ping", None, options).unwrap();
    it.session.call_raw(it.now, "ping", None, crate::CallOptions::default()).unwrap();
    assert_eq!(
        (it.hear(call).said(), it.hear(get).said()),
        (Vec::from(["ping".into()]), Vec::from(["ping".into()]))
    );
}

#[test]
fn what_a_handler_asks_goes_along_with_what_it_handles_http_19_http_27() {
    let roots = json!({"roots": {}});
    let mut it = Played::declaring(&roots, "7c1e", config(), "2025-11-25", Settings::default());
    let get = it.get(None);
    it.hear(get);
    let (call, incoming) = it.call();
    let questions = [("where", crate::Question::Roots)];
    it.session.request_input(it.now, incoming, &questions, None).unwrap();
    assert_eq!(
        (it.hear(call).said(), it.hear(get).said()),
        (Vec::from(["roots/list".into()]), Vec::new())
    );
}
