//! The state that a handler keeps between rounds of input requests.

use mcp_proto::{ErrorObject, InputResponses, Raw};

/// The answers of all rounds so far, and the handler's own state.
///
/// The protocol transmits only the answers of the latest round; earlier ones are part of the
/// request state, which the client returns.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    pub(crate) answers: Vec<(String, Raw)>,
    pub(crate) state: Option<Raw>,
    /// The keys of the questions of this run.
    pub(crate) asked: Vec<String>,
}

impl Rounds {
    /// Parses the output of [`to_text`](Self::to_text) and adds the latest answers.
    pub(crate) fn read(
        text: Option<&str>,
        latest: Option<&InputResponses>,
    ) -> Result<Self, ErrorObject> {
        let mut rounds = Self::default();
        if let Some(text) = text {
            rounds.read_text(text).ok_or_else(|| {
                ErrorObject::invalid_params("the request state is not valid for this request")
            })?;
        }
        for (key, answer) in latest.into_iter().flat_map(InputResponses::iter) {
            rounds.answers.retain(|(earlier, _)| earlier != key);
            rounds.answers.push((key.to_owned(), answer.clone()));
        }
        Ok(rounds)
    }

    fn read_text(&mut self, text: &str) -> Option<()> {
        let text = Raw::from_text(text).ok()?;
        for answer in text.member("answers")?.elements() {
            let mut parts = answer.elements();
            let (key, answer) = (parts.next()?, parts.next()?);
            self.answers.push((key.to_text()?.into_owned(), answer));
        }
        self.state = text.member("state");
        Some(())
    }

    /// Serializes the state; returns `None` if it is empty.
    pub(crate) fn to_text(&self) -> Option<String> {
        if self.answers.is_empty() && self.state.is_none() {
            return None;
        }
        let mut text = String::from(r#"{"answers":["#);
        for (number, (key, answer)) in self.answers.iter().enumerate() {
            text.push_str(if number == 0 { "[" } else { ",[" });
            text.push_str(Raw::new(&**key).ok()?.as_str());
            text.push(',');
            text.push_str(answer.as_str());
            text.push(']');
        }
        text.push(']');
        if let Some(state) = &self.state {
            text.push_str(r#","state":"#);
            text.push_str(state.as_str());
        }
        text.push('}');
        Some(text)
    }

    pub(crate) fn find(&self, key: &str) -> Option<&Raw> {
        self.answers.iter().find(|(name, _)| name == key).map(|(_, answer)| answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_survive_their_text() {
        let rounds = Rounds {
            answers: vec![("a \"b\"".into(), Raw::from_text(r#"{"x":[1]}"#).unwrap())],
            state: Some(Raw::from_text("3").unwrap()),
            asked: Vec::new(),
        };
        let read = Rounds::read(rounds.to_text().as_deref(), None).unwrap();
        assert_eq!((read.answers, read.state), (rounds.answers, rounds.state));
        assert_eq!(Rounds::default().to_text(), None);
        for forged in ["", "{}", r#"{"answers":[[1,2]]}"#, r#"{"answers":[["k"]]}"#] {
            assert!(Rounds::read(Some(forged), None).is_err(), "{forged:?}");
        }
    }
}
