//! The questions in flight about tokens, and the answers to earlier ones.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use event_listener::Event;
use mcp_proto::http::{TokenExpiry, VerifiedToken};

use super::cache::{AnswerCache, Digest};
use super::slots::{Slot, Slots, SlotsMax};
use crate::auth::system::unix_time;
use crate::http::VerifyError;

/// The longest life of an answer that a token is not active.
const INACTIVE_LIFE: Duration = Duration::from_secs(10);

/// The questions in flight, and earlier answers.
pub(super) struct Questions {
    began: Instant,
    table: Mutex<Table>,
    slots: Arc<Slots>,
}

#[derive(Default)]
struct Table {
    pending: HashMap<Digest, Arc<Question>>,
    cache: AnswerCache,
}

/// A question, whose answer goes to all requests with the token.
#[derive(Default)]
pub(super) struct Question {
    outcome: OnceLock<Answer>,
    answered: Event,
}

/// The response of the authorization server about a token.
pub(super) type Answer = Result<VerifiedToken, VerifyError>;

impl Questions {
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), table: Mutex::default(), slots: Arc::default() }
    }

    /// Returns the question about a token: the earlier one, answered or in flight, or else a new
    /// one for the caller to ask, once there is a slot for it.
    pub(super) async fn next(
        self: &Arc<Self>,
        key: Digest,
        address: Option<IpAddr>,
        max: SlotsMax,
    ) -> (Arc<Question>, Option<Asking>) {
        let known = self.lock().find(&key, self.began.elapsed());
        if let Some(known) = known {
            return (known, None);
        }
        let slot = self.slots.take(address, max).await;
        let mut table = self.lock();
        // Another request may have asked in the meantime.
        if let Some(known) = table.find(&key, self.began.elapsed()) {
            return (known, None);
        }
        let question = Arc::<Question>::default();
        table.pending.insert(key, Arc::clone(&question));
        let asked = Arc::clone(&question);
        (question, Some(Asking { questions: Arc::clone(self), key, question: asked, _place: slot }))
    }

    /// Drops what there is about a token. A question about it is not asked again, but its answer
    /// goes only to the requests that wait for it.
    pub(super) fn forget(&self, key: &Digest) {
        let mut table = self.lock();
        table.pending.remove(key);
        table.cache.remove(key);
    }

    /// Drops what there is about all tokens.
    pub(super) fn clear(&self) {
        *self.lock() = Table::default();
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn find(&self, key: &Digest, now: Duration) -> Option<Arc<Question>> {
        let answered = self.cache.get(key, now).map(Question::answered);
        answered.or_else(|| self.pending.get(key).cloned())
    }

    /// Returns whether the token has not been forgotten since this question about it.
    fn is_pending(&self, key: &Digest, question: &Arc<Question>) -> bool {
        self.pending.get(key).is_some_and(|pending| Arc::ptr_eq(pending, question))
    }
}

impl Question {
    fn answered(answer: Answer) -> Arc<Self> {
        Arc::new(Self { outcome: answer.into(), answered: Event::new() })
    }

    pub(super) async fn answer(&self) -> Answer {
        loop {
            let answered = self.answered.listen();
            if let Some(answer) = self.outcome.get() {
                return answer.clone();
            }
            answered.await;
        }
    }
}

/// A question in flight. Dropping it ends the question, also if its task is dropped.
pub(super) struct Asking {
    questions: Arc<Questions>,
    key: Digest,
    pub(super) question: Arc<Question>,
    _place: Slot,
}

impl Asking {
    /// Ends the question, and keeps the answer for at most `cache_life`.
    pub(super) fn end(self, answer: Answer, cache_life: Duration) {
        let life = match &answer {
            Ok(token) => cache_life.min(remaining(token.expiry)),
            Err(_) => cache_life.min(INACTIVE_LIFE),
        };
        let now = self.questions.began.elapsed();
        let mut table = self.questions.lock();
        if table.is_pending(&self.key, &self.question) {
            table.cache.insert(self.key, &answer, now, now + life);
        }
        drop(table);
        let _first = self.question.outcome.set(answer);
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let mut table = self.questions.lock();
        if table.is_pending(&self.key, &self.question) {
            table.pending.remove(&self.key);
        }
        drop(table);
        let _unless_answered = self.question.outcome.set(Err(VerifyError::Unavailable));
        self.question.answered.notify(usize::MAX);
    }
}

/// Returns how long a token is still valid.
fn remaining(expiry: TokenExpiry) -> Duration {
    match expiry {
        TokenExpiry::At(expiry) => Duration::from_secs(expiry.saturating_sub(unix_time())),
        TokenExpiry::Unknown | TokenExpiry::Never => Duration::MAX,
    }
}

#[cfg(test)]
mod tests {
    use futures_lite::future::{block_on, poll_once};

    use super::*;

    const LIFE: Duration = Duration::from_secs(30);
    const KEY: Digest = [1; 32];

    fn ask(questions: &Arc<Questions>) -> Asking {
        let max = SlotsMax { all: 9, per_address: 9 };
        let mut next = Box::pin(questions.next(KEY, None, max));
        match block_on(poll_once(&mut next)) {
            Some((_, Some(asking))) => asking,
            _ => panic!("there is no question to ask"),
        }
    }

    #[test]
    fn an_answer_to_a_question_from_before_is_not_kept() {
        for forget in [|it: &Questions| it.forget(&KEY), |it: &Questions| it.clear()] {
            let questions = Arc::new(Questions::new());
            let asking = ask(&questions);
            let question = Arc::clone(&asking.question);
            forget(&questions);
            let later = ask(&questions);
            assert!(!Arc::ptr_eq(&question, &later.question), "the server is asked again");
            asking.end(Ok(VerifiedToken::new("https://i")), LIFE);
            assert!(block_on(question.answer()).is_ok(), "earlier requests get the answer");
            let known = questions.lock().find(&KEY, Duration::ZERO);
            let is_open = |known: &Arc<Question>| known.outcome.get().is_none();
            assert!(known.as_ref().is_some_and(is_open), "the later question continues");
            later.end(Err(VerifyError::Invalid), LIFE);
            let known = questions.lock().find(&KEY, questions.began.elapsed());
            assert_eq!(known.unwrap().outcome.get(), Some(&Err(VerifyError::Invalid)));
        }
    }
}
