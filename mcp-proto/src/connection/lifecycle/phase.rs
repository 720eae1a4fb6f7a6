//! The phases of a connection: all transitions between them, and what each allows.
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
// LIF-01…19, T-26…T-31: order of the handshake, and what may be sent before it completes.

use crate::revision::Side;

/// The phase of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Phase {
    /// The peer is not known yet.
    Opening,
    /// Server: `initialize` was answered, `notifications/initialized` has not arrived.
    Greeted,
    /// Open.
    Ready,
    /// Server: the connection is closing; open requests may still be answered.
    Draining,
    /// Closed; final.
    Closed,
}

/// An event that changes the phase.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Trigger {
    /// The revision was negotiated.
    Welcome,
    /// The client sent `notifications/initialized`.
    Settled,
    /// The peer or the application closes the connection.
    End,
    /// No request is open, or the drain timeout has expired.
    Idle,
    /// An unrecoverable error occurred.
    Fault,
    /// Client, over HTTP: the server lost the session, or its era has changed; the connection must
    /// be opened again.
    // HTTP-34: the server answered 404 for the session id. LIF-31: the assumed era was wrong.
    Forgotten,
}

impl Phase {
    /// Returns the next phase, or `None` if `trigger` has no effect.
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

    /// Returns what this phase allows.
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
    /// Accepting input.
    pub(crate) input: bool,
    /// Serving requests other than `initialize` and `ping`.
    // LIF-17, LIF-18: before `initialize` they are refused, before `initialized` served.
    pub(crate) serving: bool,
    /// Sending pings.
    // LIF-09, LIF-10: the only requests allowed before the handshake completes.
    pub(crate) pings: bool,
    /// Sending log messages.
    // LIF-10, D-24: allowed before `notifications/initialized`.
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
    fn every_phase_closes_within_two_transitions_and_none_goes_back() {
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
    fn only_a_ready_client_reopens_a_lost_session_http_34() {
        for (side, phase) in
            [Side::Client, Side::Server].into_iter().flat_map(|s| PHASES.map(|p| (s, p)))
        {
            let next = phase.next(side, Trigger::Forgotten);
            assert_eq!(next.is_some(), (side, phase) == (Side::Client, Phase::Ready));
        }
    }

    /// Returns the permissions in order: input, serving, pings, logs, traffic.
    fn allowed(phase: Phase) -> [bool; 5] {
        let Allowed { input, serving, pings, logs, traffic } = *phase.allows();
        [input, serving, pings, logs, traffic]
    }

    #[test]
    fn each_phase_grants_the_specified_permissions_lif_09_lif_10_lif_17_lif_18() {
        assert_eq!(allowed(Phase::Opening), [true, false, true, false, false]);
        assert_eq!(allowed(Phase::Greeted), [true, true, true, true, false]);
        assert_eq!(allowed(Phase::Ready), [true; 5]);
        // Responses and their log messages are still sent.
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
