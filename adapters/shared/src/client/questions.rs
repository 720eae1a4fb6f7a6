//! The questions of a server: the call that each is about, and the source of the answer.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use mcp_proto::client::{Client as Machine, Command};
use mcp_proto::{ErrorObject, IncomingId, Misuse, Principal, Raw, Request};

use crate::client::request_handler::{Handlers, RequestHandler};
use crate::transport::link::Link;

/// The source of the answers to the questions about a call.
#[derive(Clone, Default)]
pub(crate) enum Answering {
    /// The handlers of the client.
    #[default]
    Client,
    /// Handlers of this call; those of the client for other questions.
    Call(Handlers),
    /// The code that holds the call, on behalf of an asker.
    Holder(Asker),
    /// Nothing: the method asks no questions.
    Nothing,
}

/// For whom a call is made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Asker {
    pub(crate) principal: Option<Principal>,
    /// The number of the connection, which tells apart askers that are not authenticated.
    pub(crate) connection: u64,
}

impl Asker {
    fn is(&self, other: &Self) -> bool {
        match (&self.principal, &other.principal) {
            (Some(principal), Some(other)) => principal == other,
            (None, None) => self.connection == other.connection,
            _ => false,
        }
    }
}

impl Answering {
    /// Returns the source of the answers to questions about a call of `method`.
    pub(crate) fn of_method(self, method: &str) -> Self {
        if cannot_ask(method) { Self::Nothing } else { self }
    }

    /// Adds a handler of the call.
    pub(crate) fn add(&mut self, key: &'static str, handler: RequestHandler) {
        let mut handlers = match self {
            Self::Call(handlers) => std::mem::take(handlers),
            _ => Handlers::default(),
        };
        let all: &mut HashMap<_, _> = Arc::make_mut(&mut handlers);
        all.insert(key, handler);
        *self = Self::Call(handlers);
    }
}

impl fmt::Debug for Answering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Client => "Client",
            Self::Call(_) => "Call",
            Self::Holder(_) => "Holder",
            Self::Nothing => "Nothing",
        })
    }
}

/// Returns whether servers have no reason to ask questions about calls of `method`.
fn cannot_ask(method: &str) -> bool {
    const METHODS: [&str; 7] = [
        "completion/complete",
        "logging/setLevel",
        "ping",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/cancel",
        "tasks/get",
    ];
    method.ends_with("/list") || METHODS.contains(&method)
}

/// The call to which a question is assigned.
pub(super) enum Assigned<I> {
    /// The call that the question names, or the only one that it can be about.
    Call(I),
    /// No open call answers questions itself.
    NoCall,
    /// Several calls could have asked, and they have several askers.
    Ambiguous,
}

/// Assigns a question to one of the open calls, each given with the source of its answers.
///
/// A legacy server over a byte stream does not say which call asks. Among the calls of one asker,
/// the greatest is preferred.
// An answer of one user must not reach the call of another.
pub(super) fn assign<'a, I: Copy + Ord>(
    open: impl Iterator<Item = (I, &'a Answering)>,
) -> Assigned<I> {
    let mut asking: Option<(I, &Answering)> = None;
    let mut is_ambiguous = false;
    let mut is_answered = false;
    for (call, answering) in open.filter(|(_, it)| !matches!(it, Answering::Nothing)) {
        is_answered |= !matches!(answering, Answering::Client);
        asking = Some(match asking {
            None => (call, answering),
            Some(earlier) => {
                is_ambiguous |= !matches!(
                    (earlier.1, answering),
                    (Answering::Holder(one), Answering::Holder(other)) if one.is(other)
                );
                if call > earlier.0 { (call, answering) } else { earlier }
            }
        });
    }
    match asking {
        Some(_) if is_answered && is_ambiguous => Assigned::Ambiguous,
        Some((call, _)) if is_answered => Assigned::Call(call),
        _ => Assigned::NoCall,
    }
}

/// Answers a question with an error.
pub(super) fn refuse(link: &Arc<Link<Machine>>, incoming: IncomingId, error: &ErrorObject) {
    let refuse = Command::RespondError { incoming, error };
    let _gone = link.with(|state, now| state.connection.run(now, refuse));
}

/// A question about a call, for the code that holds the call. Dropping it answers with an error.
pub(crate) struct Question {
    link: Arc<Link<Machine>>,
    incoming: IncomingId,
    pub(crate) request: Request,
    is_open: bool,
}

impl Question {
    pub(super) fn new(link: &Arc<Link<Machine>>, incoming: IncomingId, request: Request) -> Self {
        Self { link: Arc::clone(link), incoming, request, is_open: true }
    }

    /// Sends the answer, unless the question was withdrawn.
    pub(crate) fn answer(mut self, answer: Result<Raw, ErrorObject>) {
        self.is_open = false;
        let incoming = self.incoming;
        match answer {
            Ok(answer) => {
                let sent = self.link.with(|state, now| {
                    state.connection.run(now, Command::respond(incoming, &answer))
                });
                // Such as one that is no object.
                if sent == Err(Misuse::Unencodable) {
                    let error = ErrorObject::internal("the answer is invalid");
                    refuse(&self.link, incoming, &error);
                }
            }
            Err(error) => refuse(&self.link, incoming, &error),
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        if self.is_open {
            let error = ErrorObject::internal("the call that asked is over");
            refuse(&self.link, self.incoming, &error);
        }
    }
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question").field("method", &self.request.method).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(name: Option<&str>, connection: u64) -> Answering {
        Answering::Holder(Asker { principal: name.and_then(Principal::new), connection })
    }

    fn assigned(open: &[(u64, Answering)]) -> Option<Option<u64>> {
        match assign(open.iter().map(|(call, answering)| (*call, answering))) {
            Assigned::Call(call) => Some(Some(call)),
            Assigned::NoCall => Some(None),
            Assigned::Ambiguous => None,
        }
    }

    #[test]
    fn a_question_that_names_no_call_is_assigned_within_one_asker_only() {
        use Answering::{Client, Nothing};
        let call = |id: u64| Some(Some(id));
        let (ada, bob) = (|| holder(Some("ada"), 1), || holder(Some("bob"), 1));
        assert_eq!(assigned(&[]), Some(None));
        assert_eq!(assigned(&[(1, Client), (2, Client)]), Some(None));
        assert_eq!(assigned(&[(1, ada()), (2, Nothing)]), call(1));
        assert_eq!(assigned(&[(2, ada()), (1, ada())]), call(2));
        assert_eq!(assigned(&[(1, ada()), (2, bob())]), None);
        assert_eq!(assigned(&[(1, ada()), (2, ada()), (3, bob())]), None);
        assert_eq!(assigned(&[(1, ada()), (2, Client)]), None);
        assert_eq!(assigned(&[(1, holder(None, 1)), (2, holder(None, 1))]), call(2));
        assert_eq!(assigned(&[(1, holder(None, 1)), (2, holder(None, 2))]), None);
        assert_eq!(assigned(&[(1, holder(None, 1)), (2, ada())]), None);
        let own = || Answering::Call(Handlers::default());
        assert_eq!(assigned(&[(1, own())]), call(1));
        assert_eq!(assigned(&[(1, own()), (2, own())]), None);
    }
}
