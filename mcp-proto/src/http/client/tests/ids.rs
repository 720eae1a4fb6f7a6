//! Tests of request ids over several sessions.
// ID-13: ids keep counting.

use super::*;

#[test]
fn ids_keep_counting_in_the_session_that_replaces_a_lost_one_id_13() {
    let mut it = Fixture::ready(Revision::V2025_11_25);
    it.call("tools/call");
    let lost = it.post("tools/call");
    it.head(&lost, 404, JSON);
    it.events();
    it.aborts(&lost);
    let initialize = it.post("initialize");
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    let initialized = it.post("notifications/initialized");
    it.reply(&initialized, 202, PLAIN, "");
    let stream = it.get();
    it.reply(&stream, 405, PLAIN, "");
    it.events();

    let call = it.call("tools/list");
    let list = it.post("tools/list");
    assert!(id_of(&lost) < id_of(&initialize) && id_of(&initialize) < id_of(&list));
    // A late response to the lost request answers no other request.
    it.head(&list, 200, EVENTS);
    it.feed(&list, &event(&result_of(&lost, r#"{"tools":[{"name":"old"}]}"#)));
    assert!(!it.events().iter().any(|event| event.starts_with(&call.to_string())));
    it.feed(&list, &event(&result_of(&list, r#"{"tools":[]}"#)));
    assert_eq!(it.events(), [format!(r#"{call}: {{"tools":[]}}"#)]);
}
