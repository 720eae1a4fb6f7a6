//! Tests of the memory accounting of batches.

use core::convert::Infallible;

use super::*;

fn id(text: &str) -> RequestId {
    RequestId::from(text)
}

/// Returns a batch of `ids` of which `missing` responses are pending.
fn batch(batches: &mut Batches, ids: &[&str], missing: usize) -> BatchId {
    let batch = batches.begin(StreamId::ONLY);
    for name in ids {
        batches.reserve_id(batch, &id(name));
        batches.expect(batch);
    }
    for _ in ids.iter().skip(missing) {
        let Ok(()) = batches.add(batch, |out| -> Result<(), Infallible> {
            out.extend_from_slice(b"{}");
            Ok(())
        });
        assert!(batches.settle(batch).is_none());
    }
    batch
}

#[test]
fn an_id_costs_four_times_its_length_plus_a_constant() {
    let mut batches = Batches::default();
    let mut held = 0;
    for (name, cost) in [("", 128), ("a", 132), ("abc", 140)] {
        let batch = batches.begin(StreamId::ONLY);
        batches.reserve_id(batch, &id(name));
        held += cost;
        assert_eq!(batches.bytes(), held, "{name:?}");
    }
}

#[test]
fn a_completed_batch_releases_its_ids_and_responses_bat_18() {
    let mut batches = Batches::default();
    let first = batch(&mut batches, &["a", "bc"], 0);
    let between = batches.bytes();
    let second = batch(&mut batches, &["d"], 0);
    let Some((_, answers)) = batches.settle(second) else { panic!("the batch is complete") };
    assert_eq!(answers, b"{}");
    assert_eq!(batches.bytes(), between);
    assert!(batches.has_id(&id("a")) && !batches.has_id(&id("d")));
    let Some((_, answers)) = batches.settle(first) else { panic!("the batch is complete") };
    assert_eq!(answers, b"{},{}");
    assert_eq!((batches.bytes(), batches.is_empty()), (0, true));
    assert!(!batches.has_id(&id("a")));
}
