//! How a client finds out which era its server is of, and what the server's answer to the question means; knows nothing
//! of what comes after it.
//!
//! The first message is `server/discover`. A server that knows it is modern; whatever else comes of it, the server is
//! legacy and gets `initialize`. (LIF-25…32, T-32…T-37)
//!
//! ```text
//!            discovered                    refused by a modern error
//!   probe ───────────────▶ ready    probe ──────────────────────────▶ what is in common: another probe or initialize
//!     │
//!     └── any other error, silence ──▶ initialize ── refused, and the probe had no answer ──▶ probe, once more
//! ```

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::calls::Asker;
use super::core::{Core, Identity};
use super::outcome::{CallError, Close, Fault};
use super::peer::Peer;
use super::phase::Trigger;
use super::stamp::Stamp;
use crate::error::code;
use crate::json::{Raw, elements, find, unescape};
use crate::revision::{Era, Revision, Side};
use crate::rpc::{self, ErrorObject};
use crate::schema::{Capabilities, Decode, Implementation, key};
use crate::wire::To;

/// How far a client is with finding out what its server speaks.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    /// Revisions that a probe was made in.
    tried: Vec<Revision>,
    /// A probe was answered: the era is known.
    is_certain: bool,
    /// A probe was given up, and its answer may still come. (T-35)
    is_late: bool,
    /// Probes that were made.
    probes: u32,
    /// Two requests can reach two servers, of which one refuses what the other takes. (LIF-25)
    is_over_exchanges: bool,
}

#[cfg(feature = "http")]
impl Opening {
    /// The era is known: there was a session.
    pub(super) fn settled(&mut self) {
        *self = Self { is_certain: true, is_over_exchanges: true, ..Self::default() };
    }

    /// Each message finds its own way to the server.
    pub(super) fn over_exchanges(&mut self) {
        self.is_over_exchanges = true;
    }
}

impl Opening {
    /// Whether a probe may be made again as it was: once, so that there is no loop. (T-32, T-33)
    fn may_repeat(&self) -> bool {
        self.is_over_exchanges && self.probes < PROBES_MAX
    }
}

/// A server that refuses its first probe and then `initialize` is asked once more, in case it was only slow.
const PROBES_MAX: u32 = 2;

/// Names of revisions that are looked at: there are five, and a peer can name millions.
const NAMES_READ_MAX: usize = 256;

/// Names of revisions that are repeated from a peer: enough of them to see what is wrong.
const NAMES_MAX: usize = 8;
const NAME_CHARS_MAX: usize = 32;

impl Core {
    /// Client: the first message out. (LIF-01, LIF-26, LIF-32)
    pub(crate) fn open(&mut self) {
        let legacy = self.me.newest(Era::Legacy);
        let expects_legacy = self.me.expected == Some(Era::Legacy);
        match (self.me.newest(Era::Modern), legacy) {
            (Some(revision), None) => self.probe(revision, self.limits().handshake_timeout),
            (Some(revision), _) if !expects_legacy => self.probe(revision, self.limits().probe_timeout),
            (_, Some(revision)) => self.initialize_in(revision),
            (None, None) => self.fault(Fault::NothingToOffer),
        }
    }

    fn probe(&mut self, revision: Revision, patience: Duration) {
        self.opening.probes += 1;
        self.opening.tried.push(revision);
        self.trying = revision;
        self.stamp = Arc::new(Stamp::new(&self.me, Side::Client, revision));
        let wire = self.calls.insert(self.now, Asker::Probe, false, (patience, patience));
        let stamp = Arc::clone(&self.stamp);
        self.write(To::ANY, |out| {
            rpc::open_request(out, wire, "server/discover");
            out.extend_from_slice(b",\"params\":");
            stamp.write_params(out, None, None, None);
            out.push(b'}');
        });
    }

    /// The probe was answered.
    pub(super) fn probed(&mut self, outcome: Result<Raw, CallError>) {
        self.opening.is_certain = true;
        match outcome {
            Ok(result) if result.as_bytes().len() > self.limits().peer_bytes_max => {
                self.fault(Fault::BadHandshake("it is longer than this side can hold".into()));
            }
            Ok(result) => match Discovered::read(&result) {
                Some(discovered) => self.discovered(discovered),
                None => self.fall_back(Fault::BadHandshake("no answer to `server/discover`".into())),
            },
            Err(CallError::Refused(error)) => match error.code {
                code::UNSUPPORTED_PROTOCOL_VERSION => {
                    let names = error.data.as_ref().and_then(|data| data.member("supported"));
                    match names.map(|names| names_in(names.as_bytes())) {
                        Some(names) => self.settle_on(&names),
                        None => self.fault(Fault::Refused(error)),
                    }
                }
                code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY => self.fault(Fault::Refused(error)),
                _ => self.fall_back(Fault::Refused(error)),
            },
            // Whoever is not let in is not let in by another message either.
            Err(error @ (CallError::Http { status: 401 | 403 } | CallError::Unsent)) => {
                self.fault(Fault::Unopened(error));
            }
            Err(error @ (CallError::Http { .. } | CallError::Lost)) => self.fall_back(Fault::Unopened(error)),
            Err(other) => self.fall_back(Fault::BadHandshake(alloc::format!("{other}").into())),
        }
    }

    /// The probe's time is up. Nothing is cancelled: a legacy server must hear `initialize` first. (TMO-15, T-35)
    pub(super) fn probe_timed_out(&mut self) {
        self.opening.is_late = true;
        self.fall_back(Fault::HandshakeTimedOut);
    }

    /// Whether an error that names no request is a probe's, which was given up.
    pub(super) fn takes_late_refusal(&mut self) -> bool {
        core::mem::take(&mut self.opening.is_late)
    }

    /// The server is legacy, as far as anyone can tell. (LIF-28, LIF-29)
    fn fall_back(&mut self, otherwise: Fault) {
        match self.me.newest(Era::Legacy) {
            Some(revision) => self.initialize_in(revision),
            None => self.fault(otherwise),
        }
    }

    /// `initialize` was refused: unless a probe was answered before, the server may be modern. (LIF-31)
    pub(super) fn initialize_refused(&mut self, error: ErrorObject) {
        match self.me.newest(Era::Modern) {
            Some(revision) if !self.opening.is_certain && self.opening.probes < PROBES_MAX => {
                self.opening.is_certain = true;
                self.probe(revision, self.limits().handshake_timeout);
            }
            _ => self.fault(Fault::Refused(error)),
        }
    }

    /// Goes on in the best revision that is ours and in `names`. (LIF-25, LIF-27, T-32…T-34)
    fn settle_on(&mut self, names: &[String]) {
        let common = |era| {
            let named = |revision: &Revision| names.iter().any(|name| name == revision.name());
            self.me.revisions.iter().copied().filter(|it| it.era() == era).filter(named).max()
        };
        let modern = common(Era::Modern).filter(|it| !self.opening.tried.contains(it));
        if let Some(revision) = modern {
            return self.probe(revision, self.limits().handshake_timeout);
        }
        if let Some(revision) = common(Era::Legacy) {
            return self.initialize_in(revision);
        }
        // Who refuses a revision and names it, and nothing else that is ours, is asked once more where that may help.
        if let Some(revision) = common(Era::Modern).filter(|_| self.opening.may_repeat()) {
            return self.probe(revision, self.limits().handshake_timeout);
        }
        let names: Vec<String> =
            names.iter().take(NAMES_MAX).map(|name| name.chars().take(NAME_CHARS_MAX).collect()).collect();
        self.fault(Fault::NoCommonRevision(names.join(", ")));
    }

    /// What to connect with once more, when the server went away at the probe. (T-36)
    pub(crate) fn fallback(&self) -> Option<Identity> {
        let went_away = self.closed() == Some(&Close::Peer) && self.peer.is_none();
        let at_the_probe = self.trying.era() == Era::Modern && !self.opening.is_certain;
        if !(went_away && at_the_probe && self.me.newest(Era::Legacy).is_some()) {
            return None;
        }
        let mut me = Identity::clone(&self.me);
        me.revisions.retain(|revision| revision.era() == Era::Legacy);
        Some(me)
    }

    fn discovered(&mut self, server: Discovered) {
        let spoken = server.versions.iter().any(|name| name == self.trying.name());
        if !spoken {
            return self.settle_on(&server.versions);
        }
        let revision = self.trying;
        self.peer = Some(Arc::new(Peer {
            revision,
            info: server.info.unwrap_or_else(|| Implementation::new("", "")),
            capabilities: server.capabilities.seen_from(Side::Server, revision),
            instructions: server.instructions.map(Into::into),
        }));
        self.step(Trigger::Welcome);
    }
}

/// What a server says of itself.
struct Discovered {
    versions: Vec<String>,
    capabilities: Capabilities,
    info: Option<Implementation>,
    instructions: Option<String>,
}

impl Discovered {
    fn read(result: &Raw) -> Option<Self> {
        let capabilities = Capabilities::decode(&result.member("capabilities")?).ok()?;
        let versions = result.member("supportedVersions").filter(|it| it.as_bytes().starts_with(b"["))?;
        let info = result.member("_meta").and_then(|meta| meta.member(key::SERVER_INFO));
        Some(Self {
            versions: names_in(versions.as_bytes()),
            capabilities,
            info: info.and_then(|info| Implementation::decode(&info).ok()),
            instructions: find(result.as_bytes(), "instructions").and_then(unescape).map(Into::into),
        })
    }
}

fn names_in(array: &[u8]) -> Vec<String> {
    elements(array).filter_map(unescape).map(Into::into).take(NAMES_READ_MAX).collect()
}
