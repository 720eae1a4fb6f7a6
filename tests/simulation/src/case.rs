//! Which world to run, as words on a command line: a seed and what is left out of what it draws;
//! knows nothing of what anything in it means.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;

use mcp_harness::Seed;

/// What joins the parties of a world.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Kind {
    /// HTTP: many exchanges, each on its own.
    Http,
    /// Two streams of bytes.
    #[default]
    Streams,
}

/// One world: all that it takes to run it again.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Case {
    /// What joins the parties.
    pub kind: Kind,
    /// What everything is drawn from.
    pub seed: u64,
    /// Features that are off whatever the seed says.
    pub without: BTreeSet<Feature>,
    /// How many steps there are at most.
    pub steps: Option<usize>,
    /// Steps that are left out.
    pub skip: BTreeSet<usize>,
}

impl Case {
    /// The world of a seed, whole.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// A stream of numbers for one purpose, which no other purpose's numbers depend on.
    #[must_use]
    pub const fn fork(&self, purpose: u64) -> Seed {
        let mut mixed = Seed(self.seed ^ purpose.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        Seed(mixed.next())
    }

    /// Takes in one option of the command line; `None` when it is none of a case's.
    #[must_use]
    pub fn option(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "--seed" => self.seed = value.parse().ok()?,
            "--steps" => self.steps = Some(value.parse().ok()?),
            "--skip" => self.skip = value.split(',').filter_map(range).flatten().collect(),
            "--without" => {
                self.without = value.split(',').map(Feature::from_name).collect::<Option<_>>()?
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

/// `3-5`, or `3`.
fn range(words: &str) -> Option<RangeInclusive<usize>> {
    let (first, last) = words.split_once('-').unwrap_or((words, words));
    Some(first.parse().ok()?..=last.parse().ok()?)
}

macro_rules! features {
    (streams: $($(#[$doc:meta])* $name:ident),*; http: $($(#[$http_doc:meta])* $http:ident),* $(,)?) => {
        /// Something that a world can have or not have; each seed draws which are on.
        #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
        pub enum Feature { $($(#[$doc])* $name,)* $($(#[$http_doc])* $http),* }

        impl Feature {
            /// Those of two streams.
            pub const OF_STREAMS: &'static [Self] = &[$(Self::$name),*];

            /// Those that only worlds of HTTP have.
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
    /// Applications answer the same request again.
    AnswersTwice,
    /// Servers answer with questions.
    Asks,
    /// Some calls have `now` from before.
    BackwardClock,
    /// Applications do not look at their events for a while.
    BusyApplications,
    /// Calls are cancelled.
    Cancels,
    /// Lists and resources change.
    Changes,
    /// Either side closes before the end.
    Closes,
    /// Timers go off on a coarse grid.
    CoarseTimers,
    /// A link breaks.
    Cuts,
    /// Timeouts are handled that are not due.
    EarlyTimers,
    /// Progress comes in floods.
    Floods,
    /// One side closes its end of a link.
    HalfCloses,
    /// The client is not a machine but says almost the right things.
    HostileClient,
    /// The server is not a machine but says almost the right things.
    HostileServer,
    /// Bytes travel for a while.
    Latency,
    /// Timers go off late.
    LateTimers,
    /// Clients listen to changes.
    Listens,
    /// Servers log, and clients say what they want to hear.
    Logs,
    /// Much time passes between steps.
    LongWaits,
    /// Some requests are never answered.
    NeverAnswers,
    /// Notifications that no revision knows, and those of one side.
    Notifies,
    /// Lists are read page by page.
    Pages,
    /// Keep-alive pings.
    Pings,
    /// Violations are not only reported.
    Policies,
    /// Applications tell of progress.
    Progress,
    /// Applications answer with errors.
    Refusals,
    /// Servers call clients.
    ServerCalls,
    /// Calls give up early.
    ShortTimeouts,
    /// Links split what they carry.
    Splits,
    /// Links stand still.
    Stalls,
    /// The bounds are small.
    SmallLimits,
    /// Little may wait to be sent.
    SmallOutbox,
    /// Not every capability is declared.
    SomeCapabilities,
    /// Each side speaks some revisions.
    SomeRevisions,
    /// Links hold few bytes.
    TightPipes;

    http:
    /// Connections are refused, or break before the request or its response came through.
    Drops,
    /// Sessions may be idle for a short time only.
    Expires,
    /// Servers close responses and have their clients come back.
    HangsUp,
    /// Servers learn late that a client is gone.
    LateGone,
    /// There are several clients.
    ManyClients,
    /// Clients open no stream of their own.
    NoStream,
    /// Servers end sessions, or begin anew and know nothing of them.
    Restarts,
    /// Servers keep little of what was said.
    SmallReplays,
    /// Servers have room for few sessions.
    SmallTables,
}
