//! What a request carries from one round of questions to the next, as one text, plain or sealed;
//! knows nothing of how it travels.

use mcp_proto::{Answers, ErrorObject, Raw, Request};

/// The answers of all rounds so far, and what the handler itself wants to keep.
///
/// The protocol brings the answers of the last round only; the rest travel as state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried {
    answers: Vec<(String, Raw)>,
    pub(crate) state: Option<Raw>,
}

impl Carried {
    /// Reads what [`to_text`](Self::to_text) wrote, and adds the latest answers.
    pub(crate) fn read(text: Option<&str>, latest: Option<&Answers>) -> Result<Self, ErrorObject> {
        let mut carried = Self::default();
        if let Some(text) = text {
            let broken =
                || ErrorObject::invalid_params("the request state is not valid for this request");
            let text = Raw::from_text(text).map_err(|_| broken())?;
            (carried.answers, carried.state) = text.parse().map_err(|_| broken())?;
        }
        for (key, answer) in latest.into_iter().flat_map(Answers::iter) {
            carried.answers.retain(|(earlier, _)| earlier != key);
            carried.answers.push((key.to_owned(), answer.clone()));
        }
        Ok(carried)
    }

    /// `None` when there is nothing to carry.
    pub(crate) fn to_text(&self) -> Option<String> {
        if self.answers.is_empty() && self.state.is_none() {
            return None;
        }
        Raw::new(&(&self.answers, &self.state)).ok().map(|text| text.as_str().to_owned())
    }

    pub(crate) fn find(&self, key: &str) -> Option<&Raw> {
        self.answers.iter().find(|(name, _)| name == key).map(|(_, answer)| answer)
    }

    pub(crate) fn answers(&self) -> &[(String, Raw)] {
        &self.answers
    }
}

/// Whether and how the text is sealed before a client gets to see it. (STL-23, STL-24)
#[derive(Clone, Debug, Default)]
pub(crate) struct Sealing {
    #[cfg(feature = "seal")]
    pub(crate) seal: Option<mcp_proto::seal::Seal>,
}

#[cfg(feature = "seal")]
impl Sealing {
    /// The text to send: it opens for the same request only, and for [`STATE_SECONDS`].
    pub(crate) fn close(
        &self,
        text: String,
        request: &Request,
        now: u64,
    ) -> Result<String, ErrorObject> {
        let Some(seal) = &self.seal else { return Ok(text) };
        let bound = mcp_proto::seal::Bound { principal: "", request };
        let sealed = seal.seal(&text, &bound, now.saturating_add(STATE_SECONDS));
        sealed.map_err(|error| ErrorObject::internal(error.to_string()))
    }

    /// The text that was sent.
    pub(crate) fn open(
        &self,
        sealed: &str,
        request: &Request,
        now: u64,
    ) -> Result<String, ErrorObject> {
        let Some(seal) = &self.seal else { return Ok(sealed.to_owned()) };
        let bound = mcp_proto::seal::Bound { principal: "", request };
        Ok(seal.open(sealed, &bound, now)?)
    }
}

#[cfg(not(feature = "seal"))]
#[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with the feature")]
impl Sealing {
    pub(crate) fn close(&self, text: String, _: &Request, _: u64) -> Result<String, ErrorObject> {
        Ok(text)
    }

    pub(crate) fn open(&self, text: &str, _: &Request, _: u64) -> Result<String, ErrorObject> {
        Ok(text.to_owned())
    }
}

/// How long a user may think about one round of questions, in seconds.
#[cfg(feature = "seal")]
const STATE_SECONDS: u64 = 60 * 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carried_survives_the_journey() {
        let raw = |text| Raw::from_text(text).unwrap();
        let mut carried = Carried::default();
        assert_eq!(carried.to_text(), None);
        carried.answers.push(("name".into(), raw(r#"{"action":"decline"}"#)));
        carried.state = Some(raw("[1,2]"));
        let again = Carried::read(carried.to_text().as_deref(), None).unwrap();
        assert_eq!(again.find("name"), carried.find("name"));
        assert_eq!(again.state, carried.state);
        carried.state = None;
        let again = Carried::read(carried.to_text().as_deref(), None).unwrap();
        assert_eq!(again.state, None);
    }

    #[test]
    fn a_text_of_another_form_is_refused() {
        for text in
            ["", "null", "[]", "{}", "[[],null", "[[],null]x", "[[[\"a\"]],null]", "[[],null,1]"]
        {
            assert_eq!(
                Carried::read(Some(text), None).unwrap_err().code,
                mcp_proto::code::INVALID_PARAMS
            );
        }
    }
}
