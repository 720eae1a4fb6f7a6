//! The lifecycle of a legacy session, for both sides: which phase follows which, and what each
//! allows.
//!
//! It does not know what the messages look like, what is open, or what time it is. Every transition
//! and every permission of the lifecycle stands in the two tables below. (LIF-01…19, T-26…T-31)
//!
//! ```text
//!              Welcome                         Welcome              Settled
//!  client:  Opening ─────────────▶ Ready    server:  Opening ─────────▶ Greeted ─────────▶ Ready
//!                                                       │                  │                 │
//!  Ready ── Forgotten ──▶ Opening (client, HTTP)        │                  │                 │
//!  any ── End ──▶ Closed (client)                       └────── End ───────┴─────────────────┤
//!  any ── Fault ──▶ Closed                                                                   ▼
//!                                                    Closed ◀── Idle or Fault ──────────  Draining
//! ```

use crate::revision::Side;

/// Where a session stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Phase {
    /// `initialize` was not answered yet.
    Opening,
    /// Server: it was answered, and the client has not said `initialized`.
    Greeted,
    /// Both sides are up.
    Ready,
    /// Server: the connection is ending, and requests may still be answered.
    Draining,
    /// Over.
    Closed,
}

/// What moves a session on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Trigger {
    /// `initialize` was answered with a revision that both have.
    Welcome,
    /// The client said `initialized`.
    Settled,
    /// The peer hung up, or the application closes.
    End,
    /// Nothing is left to answer, or the time for it is up.
    Idle,
    /// The peer broke a rule that cannot be survived.
    Fault,
    /// Client, over HTTP: the server has forgotten the session, and a new one is to be opened.
    /// (HTTP-34)
    Forgotten,
}

impl Phase {
    /// Where `trigger` leads; `None` where it means nothing and changes nothing.
    pub(crate) const fn next(self, side: Side, trigger: Trigger) -> Option<Self> {
        match (self, side, trigger) {
            (Self::Opening, Side::Client, Trigger::Welcome) => Some(Self::Ready),
            (Self::Ready, Side::Client, Trigger::Forgotten) => Some(Self::Opening),
            (Self::Opening, Side::Server, Trigger::Welcome) => Some(Self::Greeted),
            (Self::Greeted, Side::Server, Trigger::Settled) => Some(Self::Ready),
            (Self::Opening | Self::Greeted | Self::Ready, Side::Client, Trigger::End) => {
                Some(Self::Closed)
            }
            (Self::Opening | Self::Greeted | Self::Ready, Side::Server, Trigger::End) => {
                Some(Self::Draining)
            }
            (Self::Draining, _, Trigger::Idle) => Some(Self::Closed),
            (Self::Opening | Self::Greeted | Self::Ready | Self::Draining, _, Trigger::Fault) => {
                Some(Self::Closed)
            }
            _ => None,
        }
    }

    /// What is allowed in this phase.
    pub(crate) const fn allows(self) -> &'static Allowed {
        match self {
            Self::Opening => &ALLOWED[0],
            Self::Greeted => &ALLOWED[1],
            Self::Ready => &ALLOWED[2],
            Self::Draining => &ALLOWED[3],
            Self::Closed => &ALLOWED[4],
        }
    }
}

/// What a phase allows.
#[derive(Debug)]
pub(crate) struct Allowed {
    /// Taking input in.
    pub(crate) input: bool,
    /// Serving the peer's requests, beyond `initialize` and `ping`. (LIF-17, LIF-18)
    pub(crate) serving: bool,
    /// Sending pings. (LIF-09, LIF-10)
    pub(crate) pings: bool,
    /// Sending log messages. (LIF-10, D-24)
    pub(crate) logs: bool,
    /// Sending all other requests and notifications.
    pub(crate) traffic: bool,
}

const ALLOWED: [Allowed; 5] = [
    // Opening
    Allowed { input: true, serving: false, pings: true, logs: false, traffic: false },
    // Greeted
    Allowed { input: true, serving: true, pings: true, logs: true, traffic: false },
    // Ready
    Allowed { input: true, serving: true, pings: true, logs: true, traffic: true },
    // Draining
    Allowed { input: false, serving: false, pings: false, logs: true, traffic: false },
    // Closed
    Allowed { input: false, serving: false, pings: false, logs: false, traffic: false },
];

#[cfg(test)]
mod tests {
    use super::*;

    const PHASES: [Phase; 5] =
        [Phase::Opening, Phase::Greeted, Phase::Ready, Phase::Draining, Phase::Closed];
    const ONWARD: [Trigger; 5] =
        [Trigger::Welcome, Trigger::Settled, Trigger::End, Trigger::Idle, Trigger::Fault];

    #[test]
    fn closed_is_final() {
        for side in [Side::Client, Side::Server] {
            assert!(
                ONWARD
                    .into_iter()
                    .chain([Trigger::Forgotten])
                    .all(|trigger| Phase::Closed.next(side, trigger).is_none())
            );
        }
    }

    #[test]
    fn every_phase_ends_within_two_steps_and_none_goes_back() {
        for side in [Side::Client, Side::Server] {
            for phase in PHASES {
                let ended = phase.next(side, Trigger::End).unwrap_or(phase);
                let ended = ended.next(side, Trigger::Idle).unwrap_or(ended);
                assert_eq!(ended, Phase::Closed, "{side:?} {phase:?}");
                for next in ONWARD.into_iter().filter_map(|trigger| phase.next(side, trigger)) {
                    assert!(next as u8 > phase as u8);
                }
            }
        }
    }

    #[test]
    fn only_a_client_that_is_ready_begins_anew_http_34() {
        for (side, phase) in
            [Side::Client, Side::Server].into_iter().flat_map(|s| PHASES.map(|p| (s, p)))
        {
            let next = phase.next(side, Trigger::Forgotten);
            assert_eq!(next.is_some(), (side, phase) == (Side::Client, Phase::Ready));
        }
    }

    /// The permissions as a word: input, serving, pings, logs, traffic.
    fn allowed(phase: Phase) -> [bool; 5] {
        let Allowed { input, serving, pings, logs, traffic } = *phase.allows();
        [input, serving, pings, logs, traffic]
    }

    #[test]
    fn each_phase_allows_what_the_lifecycle_says_lif_09_lif_10_lif_17_lif_18() {
        assert_eq!(allowed(Phase::Opening), [true, false, true, false, false]);
        assert_eq!(allowed(Phase::Greeted), [true, true, true, true, false]);
        assert_eq!(allowed(Phase::Ready), [true; 5]);
        // Answers and their log messages still leave.
        assert_eq!(allowed(Phase::Draining), [false, false, false, true, false]);
        assert_eq!(allowed(Phase::Closed), [false; 5]);
    }

    #[test]
    fn a_server_is_ready_only_after_both_messages_of_the_handshake() {
        for (phase, trigger, server, client) in [
            (Phase::Opening, Trigger::Welcome, Some(Phase::Greeted), Some(Phase::Ready)),
            (Phase::Opening, Trigger::Settled, None, None),
            (Phase::Greeted, Trigger::Settled, Some(Phase::Ready), None),
            (Phase::Greeted, Trigger::Welcome, None, None),
            (Phase::Ready, Trigger::End, Some(Phase::Draining), Some(Phase::Closed)),
            (Phase::Ready, Trigger::Idle, None, None),
        ] {
            assert_eq!(phase.next(Side::Server, trigger), server, "{phase:?} {trigger:?}");
            assert_eq!(phase.next(Side::Client, trigger), client, "{phase:?} {trigger:?}");
        }
    }
}
