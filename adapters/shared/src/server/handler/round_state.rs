//! The state that a handler keeps between rounds of input requests.

use mcp_proto::{ErrorObject, InputResponses, Raw};

/// The answers of all rounds so far, and the handler's own state.
///
/// The protocol transmits only the answers of the latest round; earlier ones are part of the
/// request state, which the client returns.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundState {
    answers: Vec<(String, Raw)>,
    pub(crate) state: Option<Raw>,
    /// The results of what must not happen twice.
    done: Vec<(String, Raw)>,
    /// The call that the handler relays, between two rounds. Boxed: few handlers relay calls.
    pub(crate) relayed: Option<Box<Relayed>>,
    /// The number under which the connection knows the cancellation of the request, in a legacy
    /// session.
    pub(crate) cancellation: Option<u64>,
    /// The handler has relayed a call in this run.
    pub(crate) has_relayed: bool,
    /// The keys of the questions of this run.
    asked: Vec<String>,
    /// The key of a question of this run that has no answer yet.
    pending: Option<String>,
}

/// A relayed call that has asked: under what it is kept here, the request state of its server, and
/// the keys of its questions.
pub(crate) type Relayed = (Option<String>, Option<String>, Vec<String>);

impl RoundState {
    /// Parses the output of [`to_text`](Self::to_text) and adds the latest answers.
    pub(crate) fn read(
        text: Option<&str>,
        latest: Option<&InputResponses>,
    ) -> Result<Self, ErrorObject> {
        let mut rounds = Self::default();
        if let Some(text) = text {
            let invalid =
                || ErrorObject::invalid_params("the request state is not valid for this request");
            let text = Raw::from_text(text).map_err(|_| invalid())?;
            (rounds.answers, rounds.state, rounds.done, rounds.relayed, rounds.cancellation) =
                text.parse().map_err(|_| invalid())?;
        }
        for (key, answer) in latest.into_iter().flat_map(InputResponses::iter) {
            rounds.answers.retain(|(earlier, _)| earlier != key);
            rounds.answers.push((key.to_owned(), answer.clone()));
        }
        Ok(rounds)
    }

    /// Adds answers of the client.
    pub(crate) fn with_answers(mut self, latest: Vec<(String, Raw)>) -> Self {
        for (key, answer) in latest {
            self.answers.retain(|(earlier, _)| *earlier != key);
            self.answers.push((key, answer));
        }
        self
    }

    /// Serializes the state; returns `None` if it is empty.
    pub(crate) fn to_text(&self) -> Option<String> {
        let Self { answers, state, done, relayed, cancellation, .. } = self;
        let is_empty = answers.is_empty() && state.is_none() && done.is_empty();
        if is_empty && relayed.is_none() && cancellation.is_none() {
            return None;
        }
        let parts = (answers, state, done, relayed, cancellation);
        Raw::new(&parts).ok().map(|text| text.as_str().to_owned())
    }

    /// Notes that this run asks a question; returns whether it is the first one with this key.
    pub(crate) fn ask(&mut self, key: &str) -> bool {
        let is_first = !self.asked.iter().any(|asked| asked == key);
        if is_first {
            self.asked.push(key.to_owned());
        }
        is_first
    }

    /// Notes that this run cannot continue without the answer to a question.
    pub(crate) fn set_pending(&mut self, key: &str) {
        self.pending = Some(key.to_owned());
    }

    /// Returns the key of a question of this run that has no answer yet.
    pub(crate) fn pending(&self) -> Option<&str> {
        self.pending.as_deref()
    }

    /// Returns the result of what an earlier run has done.
    pub(crate) fn done(&self, key: &str) -> Option<&Raw> {
        self.done.iter().find(|(name, _)| name == key).map(|(_, result)| result)
    }

    /// Keeps the result of what must not happen again.
    pub(crate) fn set_done(&mut self, key: &str, result: Raw) {
        self.done.push((key.to_owned(), result));
    }

    pub(crate) fn find(&self, key: &str) -> Option<&Raw> {
        self.answers.iter().find(|(name, _)| name == key).map(|(_, answer)| answer)
    }

    /// Takes the answer to a question of a relayed call, which has no use afterwards.
    pub(crate) fn take_answer(&mut self, key: &str) -> Option<Raw> {
        let at = self.answers.iter().position(|(name, _)| name == key)?;
        Some(self.answers.remove(at).1)
    }

    pub(crate) fn answers(&self) -> &[(String, Raw)] {
        &self.answers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_survives_a_round_trip() {
        let raw = |text| Raw::from_text(text).unwrap();
        let mut rounds = RoundState::default();
        assert_eq!(rounds.to_text(), None);
        rounds.answers.push(("name".into(), raw(r#"{"action":"decline"}"#)));
        rounds.state = Some(raw("[1,2]"));
        rounds.set_done("paid", raw("7"));
        rounds.relayed = Some(Box::new((None, Some("s".into()), vec!["k".into()])));
        let again = RoundState::read(rounds.to_text().as_deref(), None).unwrap();
        assert_eq!(again.find("name"), rounds.find("name"));
        assert_eq!(again.state, rounds.state);
        assert_eq!(again.relayed, rounds.relayed);
        assert_eq!(again.done("paid"), Some(&raw("7")));
        assert_eq!(again.done("name"), None);
        rounds.state = None;
        let again = RoundState::read(rounds.to_text().as_deref(), None).unwrap();
        assert_eq!(again.state, None);
    }

    #[test]
    fn malformed_states_are_refused() {
        for text in [
            "",
            "null",
            "[]",
            "{}",
            "[[],null,[],null,null",
            "[[],null,[],null,null]x",
            "[[[\"a\"]],null,[],null,null]",
            "[[],null,1,null,null]",
            "[[],null,[],[1,null,[]],null]",
        ] {
            assert_eq!(
                RoundState::read(Some(text), None).unwrap_err().code,
                mcp_proto::code::INVALID_PARAMS
            );
        }
    }
}
