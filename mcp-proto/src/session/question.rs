//! What a server can ask in the middle of a request, and what a client answers; knows nothing of how either travels.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::error::Unencodable;
use crate::json::Raw;
use crate::revision::Revision;
use crate::schema::{Decode, DecodeError, Elicit, Encode};

/// What a server can ask a client for in the middle of a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Question {
    /// To have its user fill in a form.
    Elicit(Box<Elicit>),
    /// For its roots.
    Roots,
    /// To sample a model: the params of `sampling/createMessage`, an object.
    Sample(Raw),
}

impl From<Elicit> for Question {
    fn from(form: Elicit) -> Self {
        Self::Elicit(Box::new(form))
    }
}

impl Question {
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::Elicit(_) => "elicitation/create",
            Self::Roots => "roots/list",
            Self::Sample(_) => "sampling/createMessage",
        }
    }

    pub(crate) fn write(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        match self {
            Self::Elicit(form) => form.encode(revision, out),
            Self::Roots => Ok(()),
            Self::Sample(params) => params.encode(revision, out),
        }
    }
}

/// What a client answered, by the keys that the questions had.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Answers(Vec<(Box<str>, Raw)>);

impl Answers {
    pub(crate) fn new(answers: Vec<(Box<str>, Raw)>) -> Self {
        Self(answers)
    }

    /// The answer to the question `key`, as it came.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<&Raw> {
        self.0.iter().find(|(name, _)| **name == *key).map(|(_, answer)| answer)
    }

    /// The answer to the question `key`, read as a type of [`schema`](crate::schema).
    ///
    /// # Errors
    /// When it is of another form.
    pub fn decode<T: Decode>(&self, key: &str) -> Option<Result<T, DecodeError>> {
        self.find(key).map(T::decode)
    }

    /// All answers with their keys, in the order of the questions.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Raw)> {
        self.0.iter().map(|(key, answer)| (&**key, answer))
    }
}
