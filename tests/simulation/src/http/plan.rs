//! What a seed draws of an HTTP world before it starts.

use std::collections::BTreeSet;
use std::time::Duration;

use mcp_harness::Seed;
use mcp_proto::http::client::HttpConfig;
use mcp_proto::http::legacy_sse::{ServerUrl, SseSettings};
use mcp_proto::http::{Policy, StreamSettings};
use mcp_proto::{Capability, Era, Limits, Revision, client, server};

use super::legacy_sse::{MESSAGES, STREAM_URL};
use crate::case::{Case, Feature};

/// What can happen in one step.
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
    EndSession,
    Fail,
    HangUp,
    Listen,
    Log,
    Notify,
    Progress,
    Restart,
    ServerCall,
    SetLevel,
    Stall,
    Wake,
}

/// Every action, the feature it needs, and its maximum weight.
pub(crate) const ACTIONS: &[(Action, Option<Feature>, usize)] = &[
    (Action::Again, Some(Feature::AnswersTwice), 2),
    (Action::Answer, None, 14),
    (Action::Ask, Some(Feature::Asks), 6),
    (Action::Call, None, 14),
    (Action::Cancel, Some(Feature::Cancels), 5),
    (Action::Change, Some(Feature::Changes), 5),
    (Action::Close, Some(Feature::Closes), 1),
    (Action::Cut, Some(Feature::Cuts), 6),
    (Action::EarlyTick, Some(Feature::EarlyTimers), 3),
    (Action::EndSession, Some(Feature::Restarts), 1),
    (Action::Fail, Some(Feature::Refusals), 4),
    (Action::HangUp, Some(Feature::HangsUp), 6),
    (Action::Listen, Some(Feature::Listens), 4),
    (Action::Log, Some(Feature::Logs), 6),
    (Action::Notify, Some(Feature::Notifies), 3),
    (Action::Progress, Some(Feature::Progress), 8),
    (Action::Restart, Some(Feature::Restarts), 1),
    (Action::ServerCall, Some(Feature::ServerCalls), 4),
    (Action::SetLevel, Some(Feature::Logs), 2),
    (Action::Stall, Some(Feature::Stalls), 4),
    (Action::Wake, None, 4),
];

/// The stream features that HTTP worlds have as well.
const SHARED: &[Feature] = &[
    Feature::AnswersTwice,
    Feature::Asks,
    Feature::BusyApplications,
    Feature::Cancels,
    Feature::Changes,
    Feature::Closes,
    Feature::CoarseTimers,
    Feature::Cuts,
    Feature::EarlyTimers,
    Feature::Latency,
    Feature::LateTimers,
    Feature::Listens,
    Feature::Logs,
    Feature::LongWaits,
    Feature::NeverAnswers,
    Feature::Notifies,
    Feature::Progress,
    Feature::Refusals,
    Feature::ServerCalls,
    Feature::ShortTimeouts,
    Feature::SmallLimits,
    Feature::SmallOutbox,
    Feature::SomeRevisions,
    Feature::Splits,
    Feature::Stalls,
];

/// The features of HTTP worlds.
pub(super) fn features() -> impl Iterator<Item = Feature> {
    SHARED.iter().chain(Feature::ONLY_HTTP).copied()
}

/// The draw of a seed.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The features that are on.
    pub(crate) on: BTreeSet<Feature>,
    weights: Vec<usize>,
    pub(super) steps: usize,
    pub(super) client: client::Config,
    pub(super) http: HttpConfig,
    pub(super) server: server::Config,
    pub(super) policy: Policy,
    pub(super) settings: StreamSettings,
    /// Of a server that offers HTTP+SSE instead of Streamable HTTP.
    pub(super) sse: Option<SseSettings>,
    pub(super) clients: usize,
    pub(super) sessions_max: usize,
    pub(super) idle_max: Duration,
    /// The longest and shortest transit times.
    pub(super) latency_max: Duration,
    /// The revisions of each side.
    pub(super) revisions: [Vec<Revision>; 2],
}

impl Plan {
    /// Draws a plan.
    #[must_use]
    pub(crate) fn draw(case: &Case) -> Self {
        let mut random = case.fork(1);
        let mut on = BTreeSet::new();
        for feature in features() {
            let rare = matches!(
                feature,
                Feature::Restarts
                    | Feature::Closes
                    | Feature::BusyApplications
                    | Feature::LegacySse
            );
            if random.below(if rare { 5 } else { 2 }) == 0 {
                on.insert(feature);
            }
        }
        on.retain(|feature| !case.without.contains(feature));
        // Every weight is drawn, so that leaving a feature out changes no other.
        let weights = ACTIONS.iter().map(|(_, _, most)| 1 + random.below(*most)).collect();
        let steps = case.steps.unwrap_or(usize::MAX).min(10 + random.below(30) * random.below(10));
        let revisions = [2, 3].map(|purpose| revisions(&mut case.fork(purpose), &on));
        let limits = [4, 5].map(|purpose| limits(&mut case.fork(purpose), &on));
        let [of_client, of_server] = &revisions;
        let [client_limits, server_limits] = limits;
        let mut random = case.fork(6);
        let mut client = client::Config::new("c", "1").revisions(of_client).limits(client_limits);
        for capability in OF_CLIENT {
            client = client.capability(*capability);
        }
        let mut server = server::Config::new("s", "1").revisions(of_server).limits(server_limits);
        for capability in OF_SERVER {
            server = server.capability(*capability);
        }
        match random.below(6) {
            0 => client = client.expect_era(Era::Legacy),
            1 => client = client.expect_era(Era::Modern),
            _ => {}
        }
        let has = |feature| on.contains(&feature);
        client = client.serve_method("x/known");
        server = server.serve_method("x/known");
        let mut settings = StreamSettings::default();
        let (replay, retry, prime, quiet) =
            (random.below(3000), random.below(2000), random.below(200), random.below(20_000));
        if has(Feature::SmallReplays) {
            settings.replay_bytes_max = replay;
        }
        settings.retry = Some(Duration::from_millis(retry as u64)).filter(|_| retry % 4 > 0);
        settings.prime_after = Duration::from_millis(prime as u64);
        settings.keep_alive = Duration::from_millis(100 + quiet as u64);
        let mut http = HttpConfig::new(random.next());
        if has(Feature::NoStream) {
            http = http.without_stream();
        }
        let (clients, sessions, idle) =
            (2 + random.below(2), 1 + random.below(2), random.below(60_000));
        let latency = random.below(400) as u64;
        let sse = has(Feature::LegacySse).then(|| sse(&server, &settings));
        if sse.is_some()
            && let Ok(url) = ServerUrl::parse(STREAM_URL)
        {
            http = http.sse_fallback(url);
        }
        Self {
            weights,
            steps,
            http,
            policy: Policy::from_config(&server),
            client,
            server,
            settings,
            sse,
            clients: if has(Feature::ManyClients) { clients } else { 1 },
            sessions_max: if has(Feature::SmallTables) { sessions } else { 8 },
            idle_max: Duration::from_millis(if has(Feature::Expires) {
                1000 + idle as u64
            } else {
                3_600_000
            }),
            latency_max: Duration::from_millis(if has(Feature::Latency) { 2 + latency } else { 2 }),
            revisions,
            on,
        }
    }

    /// Returns whether a feature is on.
    #[must_use]
    pub(super) fn has(&self, feature: Feature) -> bool {
        self.on.contains(&feature)
    }

    /// Draws the next action; `None` if its feature is off.
    #[must_use]
    pub(super) fn action(&self, random: &mut Seed) -> Option<Action> {
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
    pub(super) fn pause(&self, random: &mut Seed) -> Duration {
        let (kind, size) = (random.below(16), random.next());
        match kind {
            0..5 => Duration::ZERO,
            5..11 => Duration::from_micros(size % 20_000),
            11..15 => Duration::from_millis(size % 700),
            _ if self.has(Feature::LongWaits) => Duration::from_millis(size % 40_000),
            _ => Duration::ZERO,
        }
    }

    /// Draws a transit time.
    pub(super) fn latency(&self, random: &mut Seed) -> Duration {
        let most = self.latency_max.as_micros() as u64;
        Duration::from_micros(most / 10 + random.next() % most)
    }

    /// Draws when a timer that is due fires.
    pub(super) fn wakes(&self, due: mcp_proto::Instant) -> mcp_proto::Instant {
        let mut at = due.as_nanos();
        if self.has(Feature::LateTimers) {
            at += at.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 200_000_000;
        }
        if self.has(Feature::CoarseTimers) {
            at = at.div_ceil(50_000_000) * 50_000_000;
        }
        mcp_proto::Instant::from_nanos(at)
    }
}

fn sse(server: &server::Config, settings: &StreamSettings) -> SseSettings {
    match SseSettings::new(server.clone(), MESSAGES) {
        Ok(sse) => sse.keep_alive(settings.keep_alive),
        Err(invalid) => unreachable!("{invalid}"),
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
    let mask = match random.below(4) {
        0 => 1 + random.below(31),
        1 => 1 << random.below(5) | 1 << random.below(5),
        // The oldest and the newest meet most often.
        _ => [0b01000, 0b10000, 0b11000, 1 << random.below(5)][random.below(4)],
    };
    if !on.contains(&Feature::SomeRevisions) {
        return Revision::ALL.to_vec();
    }
    let all = Revision::ALL.into_iter().enumerate();
    all.filter(|(index, _)| mask >> index & 1 == 1).map(|(_, revision)| revision).collect()
}

fn limits(random: &mut Seed, on: &BTreeSet<Feature>) -> Limits {
    let mut limits = Limits::default();
    let mut below = |is_on: bool, field: &mut usize, least: usize, bound: usize| {
        let drawn = least + random.below(bound);
        if is_on {
            *field = drawn;
        }
    };
    let small = on.contains(&Feature::SmallLimits);
    below(small, &mut limits.calls_max, 4, 6);
    below(small, &mut limits.requests_max, 1, 5);
    below(small, &mut limits.events_max, 1, 6);
    below(small, &mut limits.subscriptions_max, 0, 3);
    below(on.contains(&Feature::SmallOutbox), &mut limits.outbox_bytes_max, 0, 4000);
    below(on.contains(&Feature::SmallOutbox), &mut limits.replies_bytes_max, 0, 9000);
    let rounds = random.below(4) as u32;
    if small {
        limits.input_rounds_max = rounds;
    }
    let (few_bytes, calls, requests) =
        (random.below(2) == 0, random.below(1500), random.below(1500));
    if small && few_bytes {
        limits.calls_bytes_max = 100 + calls;
        limits.requests_bytes_max = 100 + requests;
    }
    let mut millis = |most: u64| Duration::from_millis(500 + random.next() % most);
    let drawn = [millis(20_000), millis(5000), millis(60_000)];
    if on.contains(&Feature::ShortTimeouts) {
        limits.call_timeout = drawn[1];
        limits.call_timeout_max = drawn[0] + drawn[1];
        limits.human_timeout = drawn[0];
        limits.human_timeout_max = drawn[0] + drawn[2];
    }
    limits
}
