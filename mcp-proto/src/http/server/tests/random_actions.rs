//! Random actions: a client that resumes its streams receives every response exactly once. With a
//! small replay buffer, a resumption may fail, but a stream never has a gap.

use alloc::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// A random action. `.0` selects its target.
#[derive(Clone, Copy, Debug)]
enum Action {
    Post,
    Progress(usize),
    Answer(usize),
    HangUp(usize),
    Change,
    Listen,
    /// The connection is cut after the client received `.1` percent of the available bytes.
    Cut(usize, usize),
    Read(usize),
    /// The client resumes a stream that was cut.
    Resume(usize),
    Wait(u64),
}

fn action() -> impl Strategy<Value = Action> {
    let any = 0..64_usize;
    prop_oneof![
        3 => Just(Action::Post),
        4 => any.clone().prop_map(Action::Progress),
        2 => any.clone().prop_map(Action::Answer),
        1 => any.clone().prop_map(Action::HangUp),
        1 => Just(Action::Change),
        1 => Just(Action::Listen),
        3 => (any.clone(), 0..=100_usize).prop_map(|(which, part)| Action::Cut(which, part)),
        3 => any.clone().prop_map(Action::Read),
        4 => any.prop_map(Action::Resume),
        1 => (0..20_000_u64).prop_map(Action::Wait),
    ]
}

/// A stream as its client sees it.
#[derive(Debug, Default)]
struct ClientStream {
    /// The exchange that reads the stream.
    exchange: Option<ServerExchangeId>,
    last_id: Option<String>,
    received: Vec<String>,
    /// The stream was cut and cannot be resumed.
    is_lost: bool,
    is_over: bool,
}

struct World {
    it: Fixture,
    /// The replay buffer is small, so resumptions may fail.
    is_tight: bool,
    /// Streams by request id; 0 is the unsolicited stream.
    streams: BTreeMap<u64, ClientStream>,
    open: Vec<(u64, IncomingId, u32)>,
    changes: usize,
    /// The last progress of each answered request.
    answered: BTreeMap<u64, u32>,
}

impl World {
    fn new(replay_bytes_max: usize) -> Self {
        let settings = StreamSettings { replay_bytes_max, ..StreamSettings::default() };
        let it = Fixture::in_revision("2025-11-25", settings);
        let is_tight = replay_bytes_max < StreamSettings::default().replay_bytes_max;
        let streams = BTreeMap::from([(0, ClientStream::default())]);
        Self { it, is_tight, streams, open: Vec::new(), changes: 0, answered: BTreeMap::new() }
    }

    fn apply(&mut self, action: Action) {
        match action {
            Action::Post if self.open.len() < 8 => {
                let id = self.it.next_id;
                let (exchange, incoming) = self.it.call();
                self.open.push((id, incoming, 0));
                self.streams.insert(
                    id,
                    ClientStream { exchange: Some(exchange), ..ClientStream::default() },
                );
            }
            Action::Progress(which) => {
                let which = which % self.open.len().max(1);
                if let Some((_, incoming, number)) = self.open.get_mut(which) {
                    *number += 1;
                    self.it.progress(*incoming, *number);
                }
            }
            Action::Answer(which) if !self.open.is_empty() => {
                let (id, incoming, number) = self.open.remove(which % self.open.len());
                self.it.answer(incoming);
                self.answered.insert(id, number);
            }
            Action::HangUp(which) if !self.open.is_empty() => {
                let (_, incoming, _) = self.open[which % self.open.len()];
                self.it.session.end_stream(self.it.now, incoming).unwrap();
            }
            Action::Change => {
                self.changes += 1;
                self.it.change();
            }
            Action::Listen => {
                let unsolicited = self.streams.get_mut(&0).unwrap();
                if unsolicited.exchange.is_none() && unsolicited.last_id.is_none() {
                    unsolicited.exchange = Some(self.it.get(None));
                }
            }
            Action::Cut(which, part) => self.read(which, part),
            Action::Read(which) => self.read(which, 101),
            Action::Resume(which) => self.resume(which),
            Action::Wait(milliseconds) => self.it.wait(Duration::from_millis(milliseconds)),
            Action::Post | Action::Answer(_) | Action::HangUp(_) => {}
        }
    }

    fn read(&mut self, which: usize, part: usize) {
        let which = which % self.streams.len();
        let Some((id, stream)) = self.streams.iter_mut().nth(which) else { return };
        let Some(exchange) = stream.exchange else { return };
        let head = self.it.session.poll_reply(exchange);
        if let Some(Reply { body: Body::Whole(body), status, .. }) = &head {
            assert_eq!(*status, 200);
            stream.received.push(summary(&serde_json::from_slice(body).unwrap()));
            stream.exchange = None;
            stream.is_over = true;
            return;
        }
        let (bytes, is_over) = self.it.bytes(exchange);
        let had = if part > 100 { bytes.len() } else { bytes.len() * part / 100 };
        let read = ReadStream::parse(&bytes[..had]);
        stream.received.extend(read.summaries());
        if let Some(last) = read.last_id {
            stream.last_id = Some(last);
        }
        let is_answered =
            stream.received.last().is_some_and(|last| *last == format!("result {id}"));
        stream.is_over = is_answered;
        if part <= 100 {
            self.it.session.handle_gone(self.it.now, exchange);
        }
        if part <= 100 || is_over {
            stream.exchange = None;
            stream.is_lost |= stream.last_id.is_none() && !is_answered;
        }
    }

    fn resume(&mut self, which: usize) {
        let is_cut = |stream: &&mut ClientStream| {
            stream.exchange.is_none()
                && stream.last_id.is_some()
                && !stream.is_over
                && !stream.is_lost
        };
        let mut cut: Vec<&mut ClientStream> = self.streams.values_mut().filter(is_cut).collect();
        let count = cut.len().max(1);
        let Some(stream) = cut.get_mut(which % count) else { return };
        let Some(last) = stream.last_id.as_deref() else { return };
        match self.it.session.handle_get(self.it.now, Some(last)) {
            Ok(exchange) => stream.exchange = Some(exchange),
            Err(Unresumable) => {
                assert!(self.is_tight, "{stream:?}");
                stream.is_lost = true;
            }
        }
    }

    /// Answers all requests, resumes and reads all streams to their ends, and checks the outcome.
    fn finish(mut self) {
        while !self.open.is_empty() {
            self.apply(Action::Answer(0));
        }
        for _ in 0..3 {
            for which in 0..self.streams.len() {
                self.read(which, 101);
                self.resume(0);
            }
        }
        // With a small buffer, unsolicited messages may be evicted before the client listens.
        for (id, stream) in self.streams.iter().filter(|(id, _)| **id != 0 || !self.is_tight) {
            let expected: Vec<String> = match self.answered.get(id) {
                None => core::iter::repeat_n("tools/list_changed".into(), self.changes).collect(),
                Some(last) => {
                    let progress = (1..=*last).map(|number| format!("progress {number}"));
                    progress.chain([format!("result {id}")]).collect()
                }
            };
            // A stream cut before its first event id is lost, and so is one that was never read.
            let is_whole = !stream.is_lost && (*id != 0 || stream.last_id.is_some());
            assert!(expected.starts_with(&stream.received), "{id}: {stream:?}, not {expected:?}");
            assert!(!is_whole || stream.received == expected, "{id}: {stream:?}, not {expected:?}");
        }
        let session = &mut self.it.session;
        let unsolicited = self.streams[&0].exchange;
        assert_eq!(session.is_busy(), unsolicited.is_some());
        assert!(
            session.exchanges.iter().all(|(id, _)| Some(*id) == unsolicited),
            "{:?}",
            session.exchanges
        );
        assert!(
            session.streams.iter().all(|(id, stream)| id == UNSOLICITED || stream.replay.is_done())
        );
    }
}

fn run(mut world: World, actions: Vec<Action>) {
    for action in actions {
        world.apply(action);
        bounds::check(&world.it);
    }
    world.finish();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_client_that_resumes_receives_each_response_once_sse_18(
        actions in prop::collection::vec(action(), 0..120),
    ) {
        run(World::new(StreamSettings::default().replay_bytes_max), actions);
    }

    #[test]
    fn a_failed_resumption_is_reported_and_leaves_no_gap_sse_18(
        actions in prop::collection::vec(action(), 0..120),
        replay_bytes_max in 0..2000_usize,
    ) {
        run(World::new(replay_bytes_max), actions);
    }
}
