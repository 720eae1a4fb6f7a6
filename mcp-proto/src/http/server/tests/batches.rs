//! Tests of batches over HTTP, in the one revision that has them.

use super::*;

#[test]
fn a_stream_carries_a_response_to_each_request_of_a_batch_bat_10() {
    for is_stream in [false, true] {
        let mut it = Fixture::in_revision("2025-03-26", StreamSettings::default());
        let call = |id: u32| {
            let params = json!({"name": "x", "_meta": {"progressToken": id}});
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
        };
        let note = json!({"jsonrpc": "2.0", "method": "notifications/x"});
        let batch = it.post(true, &json!([call(7), note, call(8)]));
        let first = it.incoming();
        assert!(matches!(it.session.poll_event(), Some(Event::Notification { .. })));
        let second = it.incoming();
        if is_stream {
            it.progress(first, 1);
            let stream = it.read(batch);
            assert!(!stream.is_over && stream.summaries() == ["progress 1"]);
        }
        it.answer(second);
        if is_stream {
            assert!(!it.read(batch).is_over, "one response is missing");
        } else {
            assert_eq!(it.session.poll_reply(batch), None, "one response is missing");
        }
        it.answer(first);
        let messages = if is_stream {
            let stream = it.read(batch);
            assert!(stream.is_over);
            stream.messages.into_iter().map(|(_, message)| message).collect()
        } else {
            let (status, body) = it.json(batch);
            assert_eq!(status, 200);
            Vec::from([body])
        };
        let ids = messages.iter().flat_map(|message| match message.as_array() {
            Some(all) => all.clone(),
            None => Vec::from([message.clone()]),
        });
        let mut ids: Vec<u64> = ids.filter_map(|answer| answer["id"].as_u64()).collect();
        ids.sort_unstable();
        assert_eq!(ids, [7, 8]);
    }
}
