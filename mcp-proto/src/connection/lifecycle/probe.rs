//! Detects the era of the server from the outcome of `server/discover`.
//!
//! | outcome | next action |
//! |---|---|
//! | names the revision of the probe | accept |
//! | names others, in a result or an error | newest in common: probe again, or `initialize` |
//! | a modern-only or access error | close |
//! | over HTTP, that a modern server does not know the method | close |
//! | any other error, a timeout, an invalid result | `initialize` |
//!
//! If `initialize` is then refused and no probe was answered, one more probe follows, also after a
//! session was lost. An outcome that only says that the server is unavailable does not count as a
//! response. Over HTTP, where two requests can reach two servers, a refused probe that names
//! nothing new is repeated.
// LIF-25…32, T-32…T-37: probing, fallback to the legacy era, and mixed revision lists.

use alloc::string::String;
use alloc::vec::Vec;

use super::open_action::OpenAction;
use crate::error::code;
use crate::json::{Raw, elements, find, unescape};
use crate::limits::Limits;
use crate::revision::{Era, Revision, Side};
use crate::schema::{Capabilities, Decode, Implementation, key};
use crate::vocabulary::{CallError, Fault, Identity, Peer};

/// The client's progress in detecting the era.
#[derive(Debug, Default)]
pub(crate) struct Probing {
    /// Revisions probed so far.
    tried: Vec<Revision>,
    /// Number of probes sent.
    probes: u32,
    /// Whether the era is considered known: a probe was answered, or the last one was sent.
    is_certain: bool,
    /// Whether the server was unavailable for the last probe, so that its era was guessed.
    was_unavailable: bool,
    // T-35: whether a late response to a timed-out probe may arrive.
    expects_late: bool,
    // LIF-30: whether the status of the response to come shows a modern server.
    has_modern_status: bool,
    // LIF-25: whether exchanges are independent, so that a tried revision is probed again.
    uses_exchanges: bool,
}

/// The second probe follows a refused `initialize`, in case the server was only slow.
const PROBES_MAX: u32 = 2;

/// Maximum number of revision names read from a peer.
const NAMES_READ_MAX: usize = 256;

/// Maximum number and length of revision names quoted in a fault.
const NAMES_MAX: usize = 8;
const NAME_CHARS_MAX: usize = 32;

/// The fault of a modern server that does not know the probe.
const NO_DISCOVERY: &str = "the server does not implement `server/discover`; it answers as modern \
                            servers do (HTTP status 404 with error -32601), so it is not sent \
                            `initialize`: if it is legacy, use `Config::expect_era`";

/// The interpretation of the outcome of a probe.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "short-lived, one per connection")]
pub(crate) enum ProbeOutcome {
    /// The server describes itself.
    Discovered(Discovered),
    /// The server supports these revisions instead.
    Speaks(Vec<String>),
    /// The server is presumably legacy; the fault applies if we support no legacy revision.
    Unknown(Fault),
    /// Connecting is impossible.
    Refused(Fault),
}

/// The result of `server/discover`.
#[derive(Debug)]
pub(crate) struct Discovered {
    versions: Vec<String>,
    capabilities: Capabilities,
    info: Option<Implementation>,
    instructions: Option<String>,
}

impl ProbeOutcome {
    /// Interprets the outcome of a probe.
    // LIF-28, LIF-29: any unrecognized error means legacy.
    pub(crate) fn of(outcome: Result<Raw, CallError>, limits: &Limits) -> Self {
        match outcome {
            Ok(result) if result.as_bytes().len() > limits.peer_bytes_max => {
                Self::Refused(Fault::BadHandshake("description exceeds `peer_bytes_max`".into()))
            }
            Ok(result) => match Discovered::read(&result, limits) {
                Some(discovered) => Self::Discovered(discovered),
                None => Self::Unknown(Fault::BadHandshake("invalid discover result".into())),
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
            // Without access, another request would fail as well.
            Err(
                error @ (CallError::Http { status: 401 | 403, .. }
                | CallError::Unauthorized(_)
                | CallError::Unsent),
            ) => Self::Refused(Fault::Unreachable(error)),
            Err(
                error @ (CallError::Http { .. } | CallError::Lost | CallError::Redirected { .. }),
            ) => Self::Unknown(Fault::Unreachable(error)),
            // TMO-15, T-35: no cancellation; a legacy server must receive `initialize` first.
            Err(CallError::TimedOut) => Self::Unknown(Fault::HandshakeTimedOut),
            Err(other) => Self::Unknown(Fault::BadHandshake(alloc::format!("{other}").into())),
        }
    }

    /// Returns the interpretation for a server that is known to be modern.
    // LIF-30: `initialize` is not sent to it.
    pub(super) fn without_fallback(self) -> Self {
        match self {
            Self::Unknown(_) => Self::Refused(Fault::BadHandshake(NO_DISCOVERY.into())),
            other => other,
        }
    }
}

impl Probing {
    pub(super) fn on_sent(&mut self, revision: Revision) {
        self.probes += 1;
        self.tried.push(revision);
    }

    /// Handles the outcome of a probe, before its interpretation.
    pub(super) fn on_outcome(&mut self, outcome: &Result<Raw, CallError>) {
        let is_timeout = matches!(outcome, Err(CallError::TimedOut));
        self.expects_late |= is_timeout;
        self.was_unavailable = says_nothing(outcome) && !is_timeout;
        self.is_certain |= !says_nothing(outcome);
    }

    pub(super) fn on_modern_status(&mut self) {
        self.has_modern_status = true;
    }

    /// Returns, once, whether the status of the response shows a modern server.
    pub(super) fn take_modern_status(&mut self) -> bool {
        core::mem::take(&mut self.has_modern_status)
    }

    /// Returns whether the era was guessed, because no probe reached the server.
    pub(super) fn was_unavailable(&self) -> bool {
        self.was_unavailable
    }

    /// Returns, once, whether a late response was expected.
    pub(super) fn take_late(&mut self) -> bool {
        core::mem::take(&mut self.expects_late)
    }

    /// Returns whether a probe was sent and none was answered.
    pub(super) fn is_unanswered(&self) -> bool {
        self.probes > 0 && !self.is_certain
    }

    /// Returns, once, whether to probe again after `initialize` was refused.
    pub(super) fn take_last_chance(&mut self) -> bool {
        let has_chance = !self.is_certain && self.probes < PROBES_MAX;
        self.is_certain |= has_chance;
        has_chance
    }

    pub(super) fn use_exchanges(&mut self) {
        self.uses_exchanges = true;
    }

    /// Resets the state; the server is expected to be legacy still.
    pub(super) fn on_session_lost(&mut self) {
        *self = Self { uses_exchanges: true, ..Self::default() };
    }

    /// Returns the action that follows from a response.
    pub(super) fn next(
        &self,
        outcome: ProbeOutcome,
        identity: &Identity,
        trying: Revision,
    ) -> OpenAction {
        match outcome {
            ProbeOutcome::Discovered(server) if server.speaks(trying) => {
                OpenAction::Agreed(server.into_peer(trying))
            }
            ProbeOutcome::Discovered(server) => self.select(&server.versions, identity),
            ProbeOutcome::Speaks(names) => self.select(&names, identity),
            ProbeOutcome::Unknown(otherwise) => match identity.newest(Era::Legacy) {
                Some(revision) => OpenAction::Initialize(revision),
                None => OpenAction::Fault(otherwise),
            },
            ProbeOutcome::Refused(fault) => OpenAction::Fault(fault),
        }
    }

    // LIF-25, LIF-27, T-32…T-34: selects the newest common modern revision, otherwise a legacy one.
    fn select(&self, names: &[String], identity: &Identity) -> OpenAction {
        let common = |era| {
            let named = |revision: &Revision| names.iter().any(|name| name == revision.name());
            identity.revisions.iter().copied().filter(|it| it.is_of(era)).filter(named).max()
        };
        let timeout = identity.limits.handshake_timeout;
        if let Some(revision) = common(Era::Modern).filter(|it| !self.tried.contains(it)) {
            return OpenAction::Probe(revision, timeout);
        }
        if let Some(revision) = common(Era::Legacy) {
            return OpenAction::Initialize(revision);
        }
        // T-32, T-33: repeated only once, to avoid a loop.
        let may_repeat = self.uses_exchanges && self.probes < PROBES_MAX;
        if let Some(revision) = common(Era::Modern).filter(|_| may_repeat) {
            return OpenAction::Probe(revision, timeout);
        }
        let names: Vec<String> = names
            .iter()
            .take(NAMES_MAX)
            .map(|name| name.chars().take(NAME_CHARS_MAX).collect())
            .collect();
        OpenAction::Fault(Fault::NoCommonRevision(names.join(", ")))
    }
}

impl Discovered {
    fn read(result: &Raw, limits: &Limits) -> Option<Self> {
        let capabilities = Capabilities::decode(&result.member("capabilities")?).ok()?;
        let versions =
            result.member("supportedVersions").filter(|it| it.as_bytes().starts_with(b"["))?;
        let info = result.member("_meta").and_then(|meta| meta.member(key::SERVER_INFO));
        Some(Self {
            versions: names_in(versions.as_bytes()),
            capabilities,
            info: info
                .filter(|info| info.as_bytes().len() <= limits.identity_bytes_max())
                .and_then(|info| Implementation::decode(&info).ok()),
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
            capabilities: self.capabilities.reinterpret(Side::Server, revision),
            instructions: self.instructions.map(Into::into),
        }
    }
}

/// Returns whether the outcome of a probe says nothing about the era of the server.
// LIF-31: it does not decide the era, either.
pub(super) fn says_nothing(outcome: &Result<Raw, CallError>) -> bool {
    let Err(error) = outcome else { return false };
    matches!(
        error,
        CallError::Http { status: 401 | 403 | 408 | 425 | 429 | 502..=504, .. }
            | CallError::Lost
            | CallError::TimedOut
            | CallError::Unauthorized(_)
            | CallError::Unsent
    )
}

fn names_in(array: &[u8]) -> Vec<String> {
    elements(array).filter_map(unescape).map(Into::into).take(NAMES_READ_MAX).collect()
}

#[cfg(test)]
mod tests;
