//! [`State`]: the states of an authorization.
//!
//! ```text
//!         challenge, begin, restore        stored and valid
//!  Idle ─────────────────────────▶ Opening ──────────────────────▶ Ready
//!   ▲                                │  ▲                          │  ▲
//!   │ forget;                        │  │ challenge, begin,        │  │ granted, or failed
//!   │ nothing stored (restore)  else │  │ after `until`            │  │ with a valid grant
//!   │                                ▼  │    challenge, renewal    ▼  │
//!   └───────── any             Running ◀┼──────────────────────── Running
//!                                    │  │
//!                                    └─▶ Denied       any ── close ──▶ Closing ──▶ Closed
//! ```
//!
//! | input | in state | does |
//! |---|---|---|
//! | 401, older generation | any with a valid grant | `Retry` |
//! | 401, this generation | `Ready`: accepted before, stored or renewed | `Wait`, → `Running` |
//! | 401, this generation | `Ready`: just issued after a 401 | `Denied(Rejected)`, → `Denied` |
//! | 401 or 403 | `Opening`, `Running` | `Wait`; its scopes join those of the flow |
//! | 403 for scopes | `Ready` | `Retry` if a newer grant has them; else `Wait`, → `Running` |
//! | 403 for scopes, repeated | `Ready` | `Denied(Scopes)` or `Denied(Loop)` |
//! | 403 without scopes | any | `Denied(Forbidden)` |
//! | 401 or 403 | `Denied` before `until` | `Denied` with its reason |
//! | 401 or 403 | `Idle`, `Denied` after `until` | `Wait`, → `Opening` |
//! | time to renew | `Ready` | → `Running`, in which requests still go out |
//!
//! A stored grant for an identity assertion passes from `Opening` to `Checking`, which waits for an
//! assertion: only the tokens of its subject are used. 401 and 403 wait there as in `Opening`.
//!
//! The steps of `Running` are drawn in `flow`, the uses of the store in `storage`.

use alloc::boxed::Box;

use super::challenge::ScopeChallenge;
use super::denial::Denial;
use super::flow::Flow;
use crate::auth::GrantRecord;
use crate::time::Instant;

/// The state of an authorization.
#[derive(Debug, Default)]
pub(super) enum State {
    /// Nothing is known.
    #[default]
    Idle,
    /// The stored grant is being read.
    Opening(ScopeChallenge),
    /// The stored grant was read, and the application is asked whose tokens to use.
    Checking(Box<Checking>),
    /// There is a grant.
    Ready,
    /// A flow obtains or renews a grant.
    Running(Box<Flow>),
    /// The last flow failed, and there is no grant.
    Denied {
        denial: Denial,
        /// Until then, challenges are answered with the reason immediately.
        until: Instant,
    },
    /// A flow finishes a refresh, for the store only.
    Closing(Box<Flow>),
    Closed,
}

/// A stored grant before its subject is known to be the one in use.
#[derive(Debug)]
pub(super) struct Checking {
    pub(super) challenge: ScopeChallenge,
    pub(super) stored: GrantRecord,
    /// When the application has taken too long.
    pub(super) until: Instant,
}
