//! Asking a client's user through a form.

use alloc::string::String;
use alloc::vec::Vec;

use super::ServerRequest;
use super::decode::{AnyObject, Decode, DecodeError, Encode, object_text, optional, required};
use crate::error::Unencodable;
use crate::json::{Object, Raw};
use crate::revision::Revision;

/// Asks the client's user to fill in a form.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Elicit {
    /// What the user is told.
    pub message: String,
    /// The form, as a flat JSON Schema object.
    pub requested_schema: Raw,
}

impl Elicit {
    /// A form.
    pub fn form(message: impl Into<String>, requested_schema: Raw) -> Self {
        Self { message: message.into(), requested_schema }
    }
}

impl Encode for Elicit {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let mut object = Object::begin(out);
        if revision.has_elicitation_modes() {
            object.str("mode", "form");
        }
        object.str("message", &self.message);
        object.raw("requestedSchema", object_text(&self.requested_schema)?);
        object.end();
        Ok(())
    }
}

impl Decode for Elicit {
    fn decode(raw: &Raw) -> Result<Self, DecodeError> {
        Ok(Self {
            message: required(raw, "message")?,
            requested_schema: required::<AnyObject>(raw, "requestedSchema")?.0,
        })
    }
}

impl ServerRequest for Elicit {
    const METHOD: &'static str = "elicitation/create";
    type Result = ElicitResult;
}

/// What the user did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ElicitAction {
    /// Filled it in.
    Accept,
    /// Went away without an answer.
    Cancel,
    /// Said no.
    Decline,
}

/// What came of asking.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ElicitResult {
    /// What the user did.
    pub action: ElicitAction,
    /// The fields of the form, an object, when it was accepted.
    pub content: Option<Raw>,
}

impl ElicitResult {
    /// The user filled in the form; `content` is an object of its fields.
    #[must_use]
    pub const fn accept(content: Raw) -> Self {
        Self { action: ElicitAction::Accept, content: Some(content) }
    }

    /// The user said no.
    #[must_use]
    pub const fn decline() -> Self {
        Self { action: ElicitAction::Decline, content: None }
    }

    /// The user went away.
    #[must_use]
    pub const fn cancel() -> Self {
        Self { action: ElicitAction::Cancel, content: None }
    }
}

impl Encode for ElicitResult {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let mut object = Object::begin(out);
        object.str(
            "action",
            match self.action {
                ElicitAction::Accept => "accept",
                ElicitAction::Cancel => "cancel",
                ElicitAction::Decline => "decline",
            },
        );
        if let Some(content) = &self.content {
            object.raw("content", object_text(content)?);
        }
        object.end();
        Ok(())
    }
}

impl Decode for ElicitResult {
    fn decode(raw: &Raw) -> Result<Self, DecodeError> {
        let action: Raw = required(raw, "action")?;
        Ok(Self {
            action: match action.to_text().as_deref() {
                Some("accept") => ElicitAction::Accept,
                Some("cancel") => ElicitAction::Cancel,
                Some("decline") => ElicitAction::Decline,
                _ => {
                    let expected = "accept, decline or cancel";
                    return Err(DecodeError::new(expected, &action).within("action"));
                }
            },
            content: optional(raw, "content")?.map(|content: AnyObject| content.0),
        })
    }
}
