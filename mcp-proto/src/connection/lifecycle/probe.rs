//! How a client learns the era of its server, from the answer to `server/discover`. (LIF-25…32,
//! T-32…T-37)
//!
//! | answer | next |
//! |---|---|
//! | it names the revision of the probe | agreed |
//! | it names others, as a result or in an error | the best one in common: another probe, or `initialize` |
//! | an error that only a modern server sends, or one about access | the end |
//! | any other error, silence, nonsense | `initialize`; if that is refused and no probe was answered: one more probe |
//!
//! A server that refuses a probe and names nothing new is probed once more where each message finds
//! its own way to it: two requests can reach two servers.

use alloc::string::String;
use alloc::vec::Vec;

use super::next::Next;
use crate::error::code;
use crate::json::{Raw, elements, find, unescape};
use crate::limits::Limits;
use crate::revision::{Era, Revision, Side};
use crate::schema::{Capabilities, Decode, Implementation, key};
use crate::vocabulary::{CallError, Fault, Identity, Peer};

/// Where a client is with the probe.
#[derive(Debug, Default)]
pub(crate) struct Probing {
    /// Revisions that a probe was sent in.
    tried: Vec<Revision>,
    /// Probes that were sent.
    probes: u32,
    /// A probe was answered, or the last one sent: the era is taken as known.
    is_certain: bool,
    /// A probe was given up, and its answer may still come. (T-35)
    expects_late: bool,
    /// Each message finds its own way to the server. (LIF-25)
    is_over_exchanges: bool,
}

/// A server that refuses its first probe and then `initialize` is asked once more, in case it was
/// only slow.
const PROBES_MAX: u32 = 2;

/// Names of revisions that are read: there are five, and a peer can name millions.
const NAMES_READ_MAX: usize = 256;

/// Names of revisions that are quoted from a peer.
const NAMES_MAX: usize = 8;
const NAME_CHARS_MAX: usize = 32;

/// What the answer to a probe amounts to.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one for each connection, for a moment")]
pub(crate) enum Answer {
    /// The server describes itself.
    Discovered(Discovered),
    /// The server speaks other revisions: these.
    Speaks(Vec<String>),
    /// The server is legacy, as far as can be told; otherwise this is wrong with it.
    Unknown(Fault),
    /// The server cannot be connected to.
    Refused(Fault),
}

/// How a server describes itself.
#[derive(Debug)]
pub(crate) struct Discovered {
    versions: Vec<String>,
    capabilities: Capabilities,
    info: Option<Implementation>,
    instructions: Option<String>,
}

impl Answer {
    /// Reads the outcome of a probe. (LIF-28, LIF-29)
    pub(crate) fn of(outcome: Result<Raw, CallError>, limits: &Limits) -> Self {
        match outcome {
            Ok(result) if result.as_bytes().len() > limits.peer_bytes_max => {
                Self::Refused(Fault::BadHandshake("it is longer than this side can hold".into()))
            }
            Ok(result) => match Discovered::read(&result) {
                Some(discovered) => Self::Discovered(discovered),
                None => Self::Unknown(Fault::BadHandshake("no answer to `server/discover`".into())),
            },
            Err(CallError::Refused(error)) => match error.code {
                code::UNSUPPORTED_PROTOCOL_VERSION => {
                    match error.data.as_ref().and_then(|data| data.member("supported")) {
                        Some(names) => Self::Speaks(names_in(names.as_bytes())),
                        None => Self::Refused(Fault::Refused(error)),
                    }
                }
                code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY => {
                    Self::Refused(Fault::Refused(error))
                }
                _ => Self::Unknown(Fault::Refused(error)),
            },
            // A client that is not let in is not let in with another message either.
            Err(error @ (CallError::Http { status: 401 | 403 } | CallError::Unsent)) => {
                Self::Refused(Fault::Unopened(error))
            }
            Err(error @ (CallError::Http { .. } | CallError::Lost)) => {
                Self::Unknown(Fault::Unopened(error))
            }
            // Nothing is cancelled: a legacy server must receive `initialize` first. (TMO-15, T-35)
            Err(CallError::TimedOut) => Self::Unknown(Fault::HandshakeTimedOut),
            Err(other) => Self::Unknown(Fault::BadHandshake(alloc::format!("{other}").into())),
        }
    }
}

impl Probing {
    pub(super) fn sent(&mut self, revision: Revision) {
        self.probes += 1;
        self.tried.push(revision);
    }

    pub(super) fn answered(&mut self) {
        self.is_certain = true;
    }

    pub(super) fn timed_out(&mut self) {
        self.expects_late = true;
    }

    /// Whether a late answer was expected; it is expected once.
    pub(super) fn take_late(&mut self) -> bool {
        core::mem::take(&mut self.expects_late)
    }

    pub(super) fn is_certain(&self) -> bool {
        self.is_certain
    }

    /// Whether one more probe makes sense after `initialize` was refused; it is the last.
    pub(super) fn take_last_chance(&mut self) -> bool {
        let has_chance = !self.is_certain && self.probes < PROBES_MAX;
        self.is_certain |= has_chance;
        has_chance
    }

    pub(super) fn over_exchanges(&mut self) {
        self.is_over_exchanges = true;
    }

    /// The era is known: there was a session.
    pub(super) fn settled(&mut self) {
        *self = Self { is_certain: true, is_over_exchanges: true, ..Self::default() };
    }

    /// The machine: what follows from an answer.
    pub(super) fn next(&self, answer: Answer, identity: &Identity, trying: Revision) -> Next {
        match answer {
            Answer::Discovered(server) if server.speaks(trying) => {
                Next::Agreed(server.into_peer(trying))
            }
            Answer::Discovered(server) => self.settle_on(&server.versions, identity),
            Answer::Speaks(names) => self.settle_on(&names, identity),
            Answer::Unknown(otherwise) => match identity.newest(Era::Legacy) {
                Some(revision) => Next::Initialize(revision),
                None => Next::Fault(otherwise),
            },
            Answer::Refused(fault) => Next::Fault(fault),
        }
    }

    /// The best revision that is ours and in `names`. (LIF-25, LIF-27, T-32…T-34)
    fn settle_on(&self, names: &[String], identity: &Identity) -> Next {
        let common = |era| {
            let named = |revision: &Revision| names.iter().any(|name| name == revision.name());
            identity.revisions.iter().copied().filter(|it| it.is_of(era)).filter(named).max()
        };
        let patience = identity.limits.handshake_timeout;
        if let Some(revision) = common(Era::Modern).filter(|it| !self.tried.contains(it)) {
            return Next::Probe(revision, patience);
        }
        if let Some(revision) = common(Era::Legacy) {
            return Next::Initialize(revision);
        }
        // Once, so that there is no loop. (T-32, T-33)
        let may_repeat = self.is_over_exchanges && self.probes < PROBES_MAX;
        if let Some(revision) = common(Era::Modern).filter(|_| may_repeat) {
            return Next::Probe(revision, patience);
        }
        let names: Vec<String> = names
            .iter()
            .take(NAMES_MAX)
            .map(|name| name.chars().take(NAME_CHARS_MAX).collect())
            .collect();
        Next::Fault(Fault::NoCommonRevision(names.join(", ")))
    }
}

impl Discovered {
    fn read(result: &Raw) -> Option<Self> {
        let capabilities = Capabilities::decode(&result.member("capabilities")?).ok()?;
        let versions =
            result.member("supportedVersions").filter(|it| it.as_bytes().starts_with(b"["))?;
        let info = result.member("_meta").and_then(|meta| meta.member(key::SERVER_INFO));
        Some(Self {
            versions: names_in(versions.as_bytes()),
            capabilities,
            info: info.and_then(|info| Implementation::decode(&info).ok()),
            instructions: find(result.as_bytes(), "instructions")
                .and_then(unescape)
                .map(Into::into),
        })
    }

    fn speaks(&self, revision: Revision) -> bool {
        self.versions.iter().any(|name| name == revision.name())
    }

    fn into_peer(self, revision: Revision) -> Peer {
        Peer {
            revision,
            info: self.info.unwrap_or_else(|| Implementation::new("", "")),
            capabilities: self.capabilities.seen_from(Side::Server, revision),
            instructions: self.instructions.map(Into::into),
        }
    }
}

fn names_in(array: &[u8]) -> Vec<String> {
    elements(array).filter_map(unescape).map(Into::into).take(NAMES_READ_MAX).collect()
}

#[cfg(test)]
mod tests;
