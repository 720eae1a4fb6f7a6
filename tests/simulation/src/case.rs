//! The command-line form of a case: a seed, and what is left out of its draw.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;

use mcp_harness::Seed;

/// The kind of connection between the parties.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Kind {
    /// HTTP: many independent exchanges.
    Http,
    /// Two streams of bytes.
    #[default]
    Streams,
}

/// One world: everything needed to run it again.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Case {
    /// The kind of connection.
    pub kind: Kind,
    /// The seed of all randomness.
    pub seed: u64,
    /// Features that are off whatever the seed draws.
    pub without: BTreeSet<Feature>,
    /// The maximum number of steps.
    pub steps: Option<usize>,
    /// Steps that are skipped.
    pub skip: BTreeSet<usize>,
}

impl Case {
    /// Creates the complete world of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Returns a random stream for one purpose, independent of all others.
    #[must_use]
    pub const fn fork(&self, purpose: u64) -> Seed {
        let mut mixed = Seed(self.seed ^ purpose.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        Seed(mixed.next())
    }

    /// Parses a command-line option; `None` if it is not one of a case.
    #[must_use]
    pub fn option(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "--seed" => self.seed = value.parse().ok()?,
            "--steps" => self.steps = Some(value.parse().ok()?),
            "--skip" => self.skip = value.split(',').filter_map(range).flatten().collect(),
            "--without" => {
                self.without = value.split(',').map(Feature::from_name).collect::<Option<_>>()?;
            }
            _ => return None,
        }
        Some(())
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == Kind::Http {
            f.write_str("--http ")?;
        }
        write!(f, "--seed {}", self.seed)?;
        if let Some(steps) = self.steps {
            write!(f, " --steps {steps}")?;
        }
        let without: Vec<String> =
            self.without.iter().map(|feature| format!("{feature:?}")).collect();
        let first = |step: &&usize| **step == 0 || !self.skip.contains(&(**step - 1));
        let skip = self.skip.iter().filter(first).map(|first| {
            let last =
                (*first..).take_while(|step| self.skip.contains(step)).last().unwrap_or(*first);
            format!("{first}-{last}")
        });
        let skip: Vec<String> = skip.collect();
        for (name, words) in [("--without", without), ("--skip", skip)] {
            if !words.is_empty() {
                write!(f, " {name} {}", words.join(","))?;
            }
        }
        Ok(())
    }
}

/// Parses `3-5` or `3`.
fn range(words: &str) -> Option<RangeInclusive<usize>> {
    let (first, last) = words.split_once('-').unwrap_or((words, words));
    Some(first.parse().ok()?..=last.parse().ok()?)
}

macro_rules! features {
    (
        streams: $($(#[$doc:meta])* $name:ident),*;
        http: $($(#[$http_doc:meta])* $http:ident),* $(,)?
    ) => {
        /// An optional property of a world; each seed draws which are on.
        #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
        pub enum Feature { $($(#[$doc])* $name,)* $($(#[$http_doc])* $http),* }

        impl Feature {
            /// The features of stream worlds.
            pub const OF_STREAMS: &'static [Self] = &[$(Self::$name),*];

            /// The features that only HTTP worlds have.
            pub const ONLY_HTTP: &'static [Self] = &[$(Self::$http),*];

            fn from_name(name: &str) -> Option<Self> {
                let mut all = Self::OF_STREAMS.iter().chain(Self::ONLY_HTTP).copied();
                all.find(|feature| format!("{feature:?}") == name)
            }
        }
    };
}

features! {
    streams:
    /// Applications respond twice to one request.
    AnswersTwice,
    /// Servers respond with input requests.
    Asks,
    /// Some calls pass an earlier `now`.
    BackwardClock,
    /// Applications do not poll events for a while.
    BusyApplications,
    /// Calls are cancelled.
    Cancels,
    /// Lists and resources change.
    Changes,
    /// Either side closes early.
    Closes,
    /// Timers fire on a coarse grid.
    CoarseTimers,
    /// A link breaks.
    Cuts,
    /// Timeouts are handled before they are due.
    EarlyTimers,
    /// Progress arrives in floods.
    Floods,
    /// One side closes its direction of a link.
    HalfCloses,
    /// The client is not a machine, but sends almost valid lines.
    HostileClient,
    /// The server is not a machine, but sends almost valid lines.
    HostileServer,
    /// Bytes are delayed.
    Latency,
    /// Timers fire late.
    LateTimers,
    /// Clients subscribe to changes.
    Listens,
    /// Servers log, and clients set log levels.
    Logs,
    /// Much time passes between steps.
    LongWaits,
    /// Some requests are never answered.
    NeverAnswers,
    /// Notifications outside of the protocol, and role-specific ones.
    Notifies,
    /// Lists are read page by page.
    Pages,
    /// Keep-alive pings.
    Pings,
    /// Violations have consequences beyond a report.
    Policies,
    /// Applications report progress.
    Progress,
    /// Applications respond with errors.
    Refusals,
    /// Servers call clients.
    ServerCalls,
    /// Calls time out early.
    ShortTimeouts,
    /// Links split their bytes.
    Splits,
    /// Links stall.
    Stalls,
    /// Limits are small.
    SmallLimits,
    /// The outbox is small.
    SmallOutbox,
    /// Not every capability is declared.
    SomeCapabilities,
    /// Each side supports some revisions only.
    SomeRevisions,
    /// Links buffer few bytes.
    TightPipes;

    http:
    /// Connections are refused, or break before the request or its response arrives.
    Drops,
    /// Sessions expire soon when idle.
    Expires,
    /// Servers close responses early, and clients reconnect.
    HangsUp,
    /// Servers notice late that a client is gone.
    LateGone,
    /// Servers offer HTTP+SSE instead of Streamable HTTP.
    LegacySse,
    /// Several clients take part.
    ManyClients,
    /// Clients open no GET stream.
    NoStream,
    /// Servers end sessions, or restart and forget them.
    Restarts,
    /// Servers keep short replay buffers.
    SmallReplays,
    /// Servers allow few sessions.
    SmallTables,
}
