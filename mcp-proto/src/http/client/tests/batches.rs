//! Tests of batches on event streams, in the one revision that has them.

use super::*;

const LOG: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;

#[test]
fn messages_on_a_stream_arrive_in_batches_or_one_by_one_bat_08() {
    for is_batched in [false, true] {
        let mut it = Fixture::ready(Revision::V2025_03_26);
        let call = it.call("tools/list");
        let send = it.post("tools/list");
        let answer = result_of(&send, r#"{"tools":[]}"#);
        it.head(&send, 200, EVENTS);
        if is_batched {
            it.feed(&send, &event(&format!("[{LOG},{answer}]")));
        } else {
            it.feed(&send, &(event(LOG) + &event(&answer)));
        }
        it.end(&send);
        let answered = format!(r#"{call}: {{"tools":[]}}"#);
        assert_eq!(it.events(), ["None notifications/message", &answered], "{is_batched}");
        assert_eq!(it.exchanges(), 0);
    }
}
