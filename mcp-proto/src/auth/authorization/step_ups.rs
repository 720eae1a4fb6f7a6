//! The requests for more scopes of the last minutes, so that none is repeated without end.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};

use crate::auth::{AuthLimits, Scopes};
use crate::time::Instant;

/// The longest part of an operation's name that counts.
const OPERATION_BYTES_MAX: usize = 256;

/// How many different challenges of one operation lead to a new authorization.
const PER_OPERATION_MAX: usize = 3;

/// Recent requests for more scopes.
#[derive(Debug, Default)]
pub(super) struct StepUps {
    recent: VecDeque<StepUp>,
}

#[derive(Debug)]
struct StepUp {
    operation: Box<str>,
    scopes: Box<str>,
    until: Instant,
}

/// Whether another authorization may be requested.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Admission {
    Admitted,
    /// The operation was refused for lack of these scopes before.
    Repeated,
    /// There were too many requests for more scopes.
    TooMany,
}

impl StepUps {
    /// Remembers that `operation` needs `scopes`, and decides whether to ask for them.
    // AUT-26: a limit of attempts for each operation.
    pub(super) fn admit(
        &mut self,
        now: Instant,
        operation: &str,
        scopes: &Scopes,
        limits: &AuthLimits,
    ) -> Admission {
        self.recent.retain(|step_up| step_up.until > now);
        let operation = operation_key(operation);
        let scopes: String = scopes.to_string();
        let of_operation = self.recent.iter().filter(|step_up| *step_up.operation == *operation);
        if of_operation.clone().any(|step_up| *step_up.scopes == *scopes) {
            return Admission::Repeated;
        }
        if of_operation.count() >= PER_OPERATION_MAX
            || self.recent.len() >= limits.scope_retries_max
        {
            return Admission::TooMany;
        }
        let until = now + limits.scope_retry_interval;
        self.recent.push_back(StepUp { operation: operation.into(), scopes: scopes.into(), until });
        Admission::Admitted
    }
}

fn operation_key(operation: &str) -> &str {
    let end = (0..=OPERATION_BYTES_MAX.min(operation.len()))
        .rev()
        .find(|end| operation.is_char_boundary(*end));
    operation.get(..end.unwrap_or_default()).unwrap_or_default()
}
