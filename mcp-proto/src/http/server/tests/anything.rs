//! Whatever happens to its streams: each request's answer reaches a client that resumes properly,
//! exactly once; and where too little is kept for that, the client is told so, and has no gap in
//! what it heard.

use alloc::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// What happens next, to the `.0`th of what there is.
#[derive(Clone, Copy, Debug)]
enum Act {
    Post,
    Progress(usize),
    Answer(usize),
    HangUp(usize),
    Change,
    Listen,
    /// The client reads a response, and has `.1` hundredths of what it reads.
    Cut(usize, usize),
    Read(usize),
    /// The client comes back to what was cut.
    Resume(usize),
    Wait(u64),
}

fn act() -> impl Strategy<Value = Act> {
    let any = 0..64_usize;
    prop_oneof![
        3 => Just(Act::Post),
        4 => any.clone().prop_map(Act::Progress),
        2 => any.clone().prop_map(Act::Answer),
        1 => any.clone().prop_map(Act::HangUp),
        1 => Just(Act::Change),
        1 => Just(Act::Listen),
        3 => (any.clone(), 0..=100_usize).prop_map(|(which, part)| Act::Cut(which, part)),
        3 => any.clone().prop_map(Act::Read),
        4 => any.prop_map(Act::Resume),
        1 => (0..20_000_u64).prop_map(Act::Wait),
    ]
}

/// One stream as its client knows it.
#[derive(Debug, Default)]
struct Known {
    /// Where it is read now.
    exchange: Option<ExchangeId>,
    last_id: Option<String>,
    said: Vec<String>,
    /// It was cut before it could be resumed.
    is_lost: bool,
    is_over: bool,
}

struct World {
    it: Played,
    /// It may be that not all can be resumed.
    is_tight: bool,
    /// By the request's id; 0 is the stream of what belongs to none.
    streams: BTreeMap<u64, Known>,
    open: Vec<(u64, IncomingId, u32)>,
    changes: usize,
    /// The latest progress of each that was answered.
    answered: BTreeMap<u64, u32>,
}

impl World {
    fn new(replay_bytes_max: usize) -> Self {
        let settings = Settings { replay_bytes_max, ..Settings::default() };
        let it = Played::in_revision("2025-11-25", settings);
        let is_tight = replay_bytes_max < Settings::default().replay_bytes_max;
        let streams = BTreeMap::from([(0, Known::default())]);
        Self { it, is_tight, streams, open: Vec::new(), changes: 0, answered: BTreeMap::new() }
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Post if self.open.len() < 8 => {
                let id = self.it.next_id;
                let (exchange, incoming) = self.it.call();
                self.open.push((id, incoming, 0));
                self.streams.insert(id, Known { exchange: Some(exchange), ..Known::default() });
            }
            Act::Progress(which) => {
                let which = which % self.open.len().max(1);
                if let Some((_, incoming, number)) = self.open.get_mut(which) {
                    *number += 1;
                    self.it.progress(*incoming, *number);
                }
            }
            Act::Answer(which) if !self.open.is_empty() => {
                let (id, incoming, number) = self.open.remove(which % self.open.len());
                self.it.answer(incoming);
                self.answered.insert(id, number);
            }
            Act::HangUp(which) if !self.open.is_empty() => {
                let (_, incoming, _) = self.open[which % self.open.len()];
                self.it.session.hang_up(self.it.now, incoming).unwrap();
            }
            Act::Change => {
                self.changes += 1;
                self.it.change();
            }
            Act::Listen => {
                let standing = self.streams.get_mut(&0).unwrap();
                if standing.exchange.is_none() && standing.last_id.is_none() {
                    standing.exchange = Some(self.it.get(None));
                }
            }
            Act::Cut(which, part) => self.read(which, part),
            Act::Read(which) => self.read(which, 101),
            Act::Resume(which) => self.resume(which),
            Act::Wait(milliseconds) => self.it.wait(Duration::from_millis(milliseconds)),
            Act::Post | Act::Answer(_) | Act::HangUp(_) => {}
        }
    }

    fn read(&mut self, which: usize, part: usize) {
        let which = which % self.streams.len();
        let Some((id, known)) = self.streams.iter_mut().nth(which) else { return };
        let Some(exchange) = known.exchange else { return };
        let head = self.it.session.poll_reply(exchange);
        if let Some(Reply { body: Body::Whole(body), status, .. }) = &head {
            assert_eq!(*status, 200);
            known.said.push(short(&serde_json::from_slice(body).unwrap()));
            known.exchange = None;
            known.is_over = true;
            return;
        }
        let (bytes, is_over) = self.it.bytes(exchange);
        let had = if part > 100 { bytes.len() } else { bytes.len() * part / 100 };
        let heard = Heard::read(&bytes[..had]);
        known.said.extend(heard.said());
        if let Some(last) = heard.last_id {
            known.last_id = Some(last);
        }
        let is_answered = known.said.last().is_some_and(|last| *last == format!("result {id}"));
        known.is_over = is_answered;
        if part <= 100 {
            self.it.session.handle_gone(self.it.now, exchange);
        }
        if part <= 100 || is_over {
            known.exchange = None;
            known.is_lost |= known.last_id.is_none() && !is_answered;
        }
    }

    fn resume(&mut self, which: usize) {
        let is_cut = |known: &&mut Known| {
            known.exchange.is_none() && known.last_id.is_some() && !known.is_over && !known.is_lost
        };
        let mut cut: Vec<&mut Known> = self.streams.values_mut().filter(is_cut).collect();
        let count = cut.len().max(1);
        let Some(known) = cut.get_mut(which % count) else { return };
        let Some(last) = known.last_id.as_deref() else { return };
        match self.it.session.handle_get(self.it.now, Some(last)) {
            Ok(exchange) => known.exchange = Some(exchange),
            Err(Unresumable) => {
                assert!(self.is_tight, "{known:?}");
                known.is_lost = true;
            }
        }
    }

    /// Everything is answered, and whoever was cut off comes back and reads to the end.
    fn finish(mut self) {
        while !self.open.is_empty() {
            self.act(Act::Answer(0));
        }
        for _ in 0..3 {
            for which in 0..self.streams.len() {
                self.read(which, 101);
                self.resume(0);
            }
        }
        // What nobody listened to may have gone before anybody did.
        for (id, known) in self.streams.iter().filter(|(id, _)| **id != 0 || !self.is_tight) {
            let expected: Vec<String> = match self.answered.get(id) {
                None => core::iter::repeat_n("tools/list_changed".into(), self.changes).collect(),
                Some(last) => {
                    let progress = (1..=*last).map(|number| format!("progress {number}"));
                    progress.chain([format!("result {id}")]).collect()
                }
            };
            // What was lost before it had an id is lost, and so is what nobody listened to.
            let is_whole = !known.is_lost && (*id != 0 || known.last_id.is_some());
            assert!(expected.starts_with(&known.said), "{id}: {known:?}, not {expected:?}");
            assert!(!is_whole || known.said == expected, "{id}: {known:?}, not {expected:?}");
        }
        let session = &mut self.it.session;
        let standing = self.streams[&0].exchange;
        assert_eq!(session.is_busy(), standing.is_some());
        assert!(
            session.exchanges.iter().all(|(id, _)| Some(id) == standing),
            "{:?}",
            session.exchanges
        );
        assert!(session.streams.iter().all(|(id, stream)| id == UNSOLICITED || stream.is_done()));
    }
}

fn play(mut world: World, acts: Vec<Act>) {
    for act in acts {
        world.act(act);
        bounds::check(&world.it);
    }
    world.finish();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn each_answer_is_had_once_by_who_resumes_sse_18(acts in prop::collection::vec(act(), 0..120)) {
        play(World::new(Settings::default().replay_bytes_max), acts);
    }

    #[test]
    fn whoever_cannot_resume_is_told_and_hears_no_gap_sse_18(
        acts in prop::collection::vec(act(), 0..120),
        replay_bytes_max in 0..2000_usize,
    ) {
        play(World::new(replay_bytes_max), acts);
    }
}
