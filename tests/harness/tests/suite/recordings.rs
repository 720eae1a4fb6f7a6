//! Replays every golden scenario from a recording, with application data that no scenario has.

use std::path::Path;

use mcp_harness::Golden;

#[test]
fn every_transcript_replays_bit_for_bit() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts");
    let all = Golden::load_all(&directory);
    assert!(all.len() > 100, "{} transcripts", all.len());
    all.iter().for_each(Golden::assert_replays);
}
