//! The limits of a hub: how many sessions and exchanges it has, and how much they hold.

use core::time::Duration;

/// The limits of an [`HttpHub`](super::HttpHub).
///
/// [`Limits`](crate::Limits) bound each connection. These limits bound all connections together.
///
/// A hub with these limits holds at most about 32 KiB for each exchange and each session, and four
/// times [`bytes_max`](Self::bytes_max), in addition to the responses of the application.
///
/// Minor releases add fields: write `HubLimits { sessions_max: 50, ..HubLimits::default() }`.
// SEC-18: what clients can make a server hold is bounded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HubLimits {
    /// The maximum number of open exchanges, including event streams. Default: 4,000.
    ///
    /// Further requests receive status 503. Allow several for each session: its client may keep an
    /// event stream open.
    pub exchanges_max: usize,
    /// The maximum number of sessions. Default: 1,000.
    ///
    /// When a client opens another session, the idle session that would expire first ends. If the
    /// first 64 are busy, the client receives status 503.
    pub sessions_max: usize,
    /// The maximum number of sessions of one [`Principal`](crate::Principal). Default: 250.
    ///
    /// Requests for further sessions receive status 429. Clients without a principal are not
    /// limited: if they are not trusted, the driver must limit the rate of their requests.
    pub sessions_per_principal_max: usize,
    /// The maximum bytes of bodies that are being read, requests in flight, replay buffers,
    /// subscriptions and the descriptions of clients. Default: 256 MiB.
    ///
    /// While the limit is exceeded, a session that grows loses its replay buffer. A request that
    /// would exceed the limit receives status 503. Before that, it ends idle sessions, while all
    /// sessions together hold more than half of the limit.
    pub bytes_max: usize,
    /// How long a session may be idle before it ends. Default: 30 min.
    ///
    /// A session with a request in flight or an open stream is not idle.
    pub idle_max: Duration,
    /// How long a session is kept if no message follows `initialize`. Default: 20 s.
    pub unconfirmed_max: Duration,
    /// How long the body of a request may take to arrive after its head. Default: 30 s.
    ///
    /// A request that takes longer receives status 408.
    pub body_timeout: Duration,
}

impl Default for HubLimits {
    fn default() -> Self {
        Self {
            exchanges_max: 4_000,
            sessions_max: 1_000,
            sessions_per_principal_max: 250,
            bytes_max: 256 << 20,
            idle_max: Duration::from_secs(30 * 60),
            unconfirmed_max: Duration::from_secs(20),
            body_timeout: Duration::from_secs(30),
        }
    }
}
