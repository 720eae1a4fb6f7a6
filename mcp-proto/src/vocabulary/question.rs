//! What a server can ask in the middle of a request, and what a client answers; knows nothing of
//! how either travels.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::error::Unencodable;
use crate::json::Raw;
use crate::revision::Revision;
#[cfg(feature = "schema")]
use crate::schema::{CreateMessage, Elicit};
use crate::schema::{Decode, DecodeError, Encode};

/// What a server can ask a client for in the middle of a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Question {
    /// To have its user fill in a form.
    #[cfg(feature = "schema")]
    Elicit(Box<Elicit>),
    /// A request of the protocol by its name: params are an object, or none.
    Raw(Box<str>, Option<Raw>),
    /// For its roots.
    Roots,
    /// To sample a model.
    #[cfg(feature = "schema")]
    Sample(Box<CreateMessage>),
}

#[cfg(feature = "schema")]
impl From<Elicit> for Question {
    fn from(form: Elicit) -> Self {
        Self::Elicit(Box::new(form))
    }
}

#[cfg(feature = "schema")]
impl From<CreateMessage> for Question {
    fn from(sampling: CreateMessage) -> Self {
        Self::Sample(Box::new(sampling))
    }
}

impl Question {
    /// A request of the protocol by its name; `params` is an object.
    pub fn raw(method: impl Into<Box<str>>, params: Raw) -> Self {
        Self::Raw(method.into(), Some(params))
    }

    pub(crate) fn method(&self) -> &str {
        match self {
            #[cfg(feature = "schema")]
            Self::Elicit(_) => "elicitation/create",
            Self::Raw(method, _) => method,
            Self::Roots => "roots/list",
            #[cfg(feature = "schema")]
            Self::Sample(_) => "sampling/createMessage",
        }
    }

    pub(crate) fn write(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        match self {
            #[cfg(feature = "schema")]
            Self::Elicit(form) => form.encode(revision, out),
            Self::Raw(_, params) => {
                params.as_ref().map_or(Ok(()), |params| params.encode(revision, out))
            }
            Self::Roots => Ok(()),
            #[cfg(feature = "schema")]
            Self::Sample(sampling) => sampling.encode(revision, out),
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
