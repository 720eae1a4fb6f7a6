//! Asking a client's user: through a form, or by sending them somewhere.

use alloc::string::String;

use super::macros::{message, object, words};
use super::meta::Meta;
use super::open::AnyObject;

object! {
    /// Asks the client's user to fill in a form. (since 2025-06-18)
    pub struct Elicit {
        /// What the user is told.
        required message: String = "message",
        /// The form, as a flat JSON Schema object.
        required requested_schema: AnyObject = "requestedSchema",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

impl Elicit {
    /// A form.
    pub fn form(message: impl Into<String>, requested_schema: impl Into<AnyObject>) -> Self {
        Self::new(message, requested_schema)
    }
}

message!(ServerRequest "elicitation/create": Elicit => ElicitResult);

words! {
    /// What the user did.
    pub enum ElicitAction {
        /// Filled it in.
        Accept = "accept",
        /// Went away without an answer.
        Cancel = "cancel",
        /// Said no.
        Decline = "decline",
    }
}

object! {
    /// What came of asking.
    pub struct ElicitResult {
        /// What the user did.
        required action: ElicitAction = "action",
        /// The fields of the form, when it was accepted.
        optional content: AnyObject = "content",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

impl ElicitResult {
    /// The user filled in the form; `content` is an object of its fields.
    pub fn accept(content: impl Into<AnyObject>) -> Self {
        Self::new(ElicitAction::Accept).content(content)
    }

    /// The user said no.
    #[must_use]
    pub fn decline() -> Self {
        Self::new(ElicitAction::Decline)
    }

    /// The user went away.
    #[must_use]
    pub fn cancel() -> Self {
        Self::new(ElicitAction::Cancel)
    }
}
