//! What a seed draws before a world starts: features, weights and both sides.

use std::collections::BTreeSet;
use std::time::Duration;

use mcp_harness::{Chunking, Pipe, Seed};
use mcp_proto::{Capability, Era, Limits, Revision, ViolationPolicy, client, server};

use crate::case::{Case, Feature};

/// The players.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Mode {
    /// Two machines.
    Honest,
    /// A machine as the server of a hostile client.
    HostileClient,
    /// A machine as the client of a hostile server.
    HostileServer,
}

/// What can happen in one step: an action of an application or a link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Action {
    Again,
    Answer,
    Ask,
    Call,
    Cancel,
    Change,
    Close,
    Cut,
    EarlyTick,
    Fail,
    Flood,
    HalfClose,
    Listen,
    Log,
    Notify,
    Progress,
    Say,
    SetLevel,
    Stall,
    Unstall,
    Wake,
}

/// Every action, the feature it needs, and its maximum weight.
pub(crate) const ACTIONS: &[(Action, Option<Feature>, usize)] = &[
    (Action::Again, Some(Feature::AnswersTwice), 3),
    (Action::Answer, None, 12),
    (Action::Ask, Some(Feature::Asks), 8),
    (Action::Call, None, 12),
    (Action::Cancel, Some(Feature::Cancels), 6),
    (Action::Change, Some(Feature::Changes), 4),
    (Action::Close, Some(Feature::Closes), 1),
    (Action::Cut, Some(Feature::Cuts), 1),
    (Action::EarlyTick, Some(Feature::EarlyTimers), 3),
    (Action::Fail, Some(Feature::Refusals), 4),
    (Action::Flood, Some(Feature::Floods), 2),
    (Action::HalfClose, Some(Feature::HalfCloses), 1),
    (Action::Listen, Some(Feature::Listens), 3),
    (Action::Log, Some(Feature::Logs), 4),
    (Action::Notify, Some(Feature::Notifies), 3),
    (Action::Progress, Some(Feature::Progress), 8),
    (Action::Say, None, 30),
    (Action::SetLevel, Some(Feature::Logs), 2),
    (Action::Stall, Some(Feature::Stalls), 2),
    (Action::Unstall, Some(Feature::Stalls), 3),
    (Action::Wake, None, 4),
];

/// The draw of a seed.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The players.
    pub(crate) mode: Mode,
    /// The features that are on.
    pub(crate) on: BTreeSet<Feature>,
    /// The weight of each action.
    pub(crate) weights: Vec<usize>,
    /// The number of steps.
    pub(crate) steps: usize,
    /// The client's machine.
    pub(crate) client: client::Config,
    /// The server's machine.
    pub(crate) server: server::Config,
    /// The revisions of each side.
    pub(crate) revisions: [Vec<Revision>; 2],
    /// The limits of each side.
    pub(crate) limits: [Limits; 2],
}

impl Plan {
    /// Draws a plan.
    #[must_use]
    pub(crate) fn draw(case: &Case) -> Self {
        let mut random = case.fork(1);
        let mut on = BTreeSet::new();
        for feature in Feature::OF_STREAMS {
            let rare = matches!(feature, Feature::Cuts | Feature::HalfCloses | Feature::Closes);
            if random.below(if rare { 4 } else { 2 }) == 0 {
                on.insert(*feature);
            }
        }
        // At most one of them.
        let spared = [Feature::HostileClient, Feature::HostileServer][random.below(2)];
        on.remove(&spared);
        on.retain(|feature| !case.without.contains(feature));
        let mode = if on.contains(&Feature::HostileClient) {
            Mode::HostileClient
        } else if on.contains(&Feature::HostileServer) {
            Mode::HostileServer
        } else {
            Mode::Honest
        };
        // Every weight is drawn, so that leaving a feature out changes no other.
        let weights = ACTIONS.iter().map(|(_, _, most)| 1 + random.below(*most)).collect();
        let steps = case.steps.unwrap_or(usize::MAX).min(10 + random.below(30) * random.below(10));
        let revisions = [2, 3].map(|purpose| revisions(&mut case.fork(purpose), &on));
        let limits = [4, 5].map(|purpose| limits(&mut case.fork(purpose), &on));
        let [of_client, of_server] = &revisions;
        let mut random = case.fork(6);
        let mut client =
            client::Config::new("c", "1").revisions(of_client).limits(limits[0].clone());
        let mut server =
            server::Config::new("s", "1").revisions(of_server).limits(limits[1].clone());
        for capability in OF_CLIENT {
            if random.below(4) != 0 || !on.contains(&Feature::SomeCapabilities) {
                client = client.capability(*capability);
            }
        }
        for capability in OF_SERVER {
            if random.below(4) != 0 || !on.contains(&Feature::SomeCapabilities) {
                server = server.capability(*capability);
            }
        }
        match random.below(6) {
            0 => client = client.expect_era(Era::Legacy),
            1 => client = client.expect_era(Era::Modern),
            _ => {}
        }
        if on.contains(&Feature::Policies) {
            let policies =
                [ViolationPolicy::Close, ViolationPolicy::Ignore, ViolationPolicy::Reply];
            client = client.on_violation(policies[random.below(3)]);
            server = server.on_violation(policies[random.below(3)]);
        }
        client = client.serve_method("x/known");
        server = server.serve_method("x/known");
        Self { mode, on, weights, steps, client, server, revisions, limits }
    }

    /// Returns whether a feature is on.
    #[must_use]
    pub(crate) fn has(&self, feature: Feature) -> bool {
        self.on.contains(&feature)
    }

    /// Draws the next action; `None` if its feature is off.
    #[must_use]
    pub(crate) fn action(&self, random: &mut Seed) -> Option<Action> {
        let mut choice = random.below(self.weights.iter().sum());
        for ((action, feature, _), weight) in ACTIONS.iter().zip(&self.weights) {
            if choice < *weight {
                return feature.is_none_or(|feature| self.has(feature)).then_some(*action);
            }
            choice -= weight;
        }
        None
    }

    /// Draws the pause after a step.
    #[must_use]
    pub(crate) fn pause(&self, random: &mut Seed) -> Duration {
        let (kind, size) = (random.below(16), random.next());
        match kind {
            0..6 => Duration::ZERO,
            6..12 => Duration::from_micros(size % 20_000),
            12..15 => Duration::from_millis(size % 300),
            _ if self.has(Feature::LongWaits) => Duration::from_millis(size % 90_000),
            _ => Duration::ZERO,
        }
    }

    /// Draws a link.
    #[must_use]
    pub(crate) fn link(&self, random: &mut Seed) -> Pipe {
        let mut link = Pipe::default();
        let (latency, size, capacity) =
            (random.below(200), random.below(4), 1 + random.below(3000));
        let seed = Seed(random.next());
        link.latency =
            Duration::from_millis(if self.has(Feature::Latency) { latency as u64 } else { 1 });
        if self.has(Feature::Splits) {
            link.chunking = match size {
                0 => Chunking::Bytes(1),
                1 => Chunking::Seeded(seed, 5),
                _ => Chunking::Seeded(seed, 200),
            };
        }
        if self.has(Feature::TightPipes) {
            link.capacity = capacity;
        }
        link
    }
}

const OF_CLIENT: &[Capability] = &[
    Capability::ElicitationForm,
    Capability::ElicitationUrl,
    Capability::Roots,
    Capability::RootsListChanged,
    Capability::Sampling,
    Capability::SamplingTools,
];

const OF_SERVER: &[Capability] = &[
    Capability::Completions,
    Capability::Logging,
    Capability::Prompts,
    Capability::PromptsListChanged,
    Capability::Resources,
    Capability::ResourcesListChanged,
    Capability::ResourcesSubscribe,
    Capability::Tools,
    Capability::ToolsListChanged,
];

fn revisions(random: &mut Seed, on: &BTreeSet<Feature>) -> Vec<Revision> {
    // Mostly one or two; otherwise both sides would nearly always agree on the newest.
    let mask = match random.below(4) {
        0 => 1 + random.below(31),
        1 => 1 << random.below(5) | 1 << random.below(5),
        _ => 1 << random.below(5),
    };
    let all = Revision::ALL.into_iter().enumerate();
    if !on.contains(&Feature::SomeRevisions) {
        return Revision::ALL.to_vec();
    }
    all.filter(|(index, _)| mask >> index & 1 == 1).map(|(_, revision)| revision).collect()
}

fn limits(random: &mut Seed, on: &BTreeSet<Feature>) -> Limits {
    let mut limits = Limits::default();
    let mut some = |is_on: bool| random.below(2) == 0 && is_on;
    let small = on.contains(&Feature::SmallLimits);
    let (calls, retired, requests, batch, events) =
        (some(small), some(small), some(small), some(small), some(small));
    let (replies, violations, rounds, questions, subscriptions) =
        (some(small), some(small), some(small), some(small), some(small));
    let (uris, message, depth, ids, bytes) =
        (some(small), some(small), some(small), some(small), some(small));
    let (cache, stall) = (some(true), some(true));
    let mut below = |is_on: bool, field: &mut usize, least: usize, bound: usize| {
        let drawn = least + random.below(bound);
        if is_on {
            *field = drawn;
        }
    };
    below(calls, &mut limits.calls_max, 2, 6);
    below(retired, &mut limits.retired_calls_max, 0, 3);
    below(requests, &mut limits.requests_max, 1, 5);
    below(batch, &mut limits.batch_members_max, 1, 4);
    below(events, &mut limits.events_max, 1, 6);
    below(questions, &mut limits.input_requests_max, 0, 3);
    below(subscriptions, &mut limits.subscriptions_max, 0, 3);
    below(uris, &mut limits.subscription_uris_max, 0, 3);
    below(message, &mut limits.message_bytes_max, 400, 3000);
    below(ids, &mut limits.id_bytes_max, 8, 20);
    below(bytes, &mut limits.requests_bytes_max, 100, 1500);
    below(bytes, &mut limits.calls_bytes_max, 100, 1500);
    below(bytes, &mut limits.subscriptions_bytes_max, 10, 100);
    below(bytes, &mut limits.events_bytes_max, 100, 1500);
    below(cache, &mut limits.cache_bytes_max, 0, 5000);
    let outbox = on.contains(&Feature::SmallOutbox);
    below(outbox, &mut limits.outbox_bytes_max, 0, 2000);
    below(outbox && stall, &mut limits.replies_bytes_max, 0, 7000);
    let mut number = |bound: u32| (random.next() % u64::from(bound)) as u32;
    let drawn = (number(4), number(6), number(4), number(10));
    if replies {
        limits.error_replies_max = drawn.0;
    }
    if violations {
        limits.violations_max = Some(drawn.1);
    }
    if rounds {
        limits.input_rounds_max = drawn.2;
    }
    if depth {
        limits.depth_max = 7 + drawn.3 as u8;
    }
    let mut millis = |most: u64| Duration::from_millis(1 + random.next() % most);
    let drawn = [
        millis(20_000),
        millis(5000),
        millis(20_000),
        millis(10_000),
        millis(4000),
        millis(60_000),
    ];
    if on.contains(&Feature::ShortTimeouts) {
        limits.call_timeout = drawn[1];
        limits.call_timeout_max = drawn[0];
        limits.human_timeout = drawn[0];
        limits.human_timeout_max = drawn[2];
        limits.handshake_timeout = drawn[3];
        limits.probe_timeout = drawn[4];
    }
    if outbox && stall {
        limits.stall_timeout = drawn[1] / 4;
    }
    if on.contains(&Feature::Pings) {
        limits.ping_every = Some(drawn[2]);
        limits.ping_timeout = drawn[3];
    }
    limits
}
