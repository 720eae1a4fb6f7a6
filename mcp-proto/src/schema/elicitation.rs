//! Asking a client's user: through a form, or by sending them somewhere.

use alloc::string::String;
use alloc::vec::Vec;

use super::containers::{AnyObject, Open};
use super::decode::{Decode, DecodeError, Encode};
use super::form::Form;
use super::macros::{message, object, string_enum};
use super::meta::Meta;
use super::tasks::TaskRequest;
use crate::error::Unencodable;
use crate::json::{Raw, Reader, unescape};
use crate::revision::{R4, R5, Revision, UrlElicitation};

object! {
    /// Asks the client's user to fill in a form. (since 2025-06-18)
    pub struct Elicit {
        /// What the user is told.
        required message: String = "message",
        /// `form`, or nothing, which says the same. (since 2025-11-25, SEC-08)
        optional mode: String = "mode" in R4..=R5,
        /// The form. One that is not of the restricted kind is kept as it came.
        required requested_schema: Open<Form> = "requestedSchema",
        /// Asks for it to be run as a task. (2025-11-25)
        optional task: TaskRequest = "task" in R4..=R4,
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

impl Elicit {
    /// A form.
    pub fn form(message: impl Into<String>, requested_schema: impl Into<Open<Form>>) -> Self {
        Self::new(message, requested_schema)
    }
}

impl From<Raw> for Open<Form> {
    fn from(raw: Raw) -> Self {
        match Form::decode(&raw) {
            Ok(form) => Self::Known(form),
            Err(_) => Self::Other(raw),
        }
    }
}

message!(ServerRequest "elicitation/create": Elicit => ElicitResult);

object! {
    /// Asks the client to send its user to a URL. (since 2025-11-25)
    pub struct ElicitUrl tagged "mode" = "url" checked ElicitUrl::check {
        /// What the user is told.
        required message: String = "message",
        /// Where to go. Shown in full, opened only with consent. (SEC-07)
        required url: String = "url",
        /// What its end is told by. (2025-11-25)
        optional elicitation_id: String = "elicitationId" in R4..=R4,
        /// Asks for it to be run as a task. (2025-11-25)
        optional task: TaskRequest = "task" in R4..=R4,
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

impl ElicitUrl {
    /// Forms were there first, and the first revision with URLs wants an id with each.
    fn check(&self, revision: Revision) -> Result<(), Unencodable> {
        let fits = match revision.rules().elicitation_urls {
            UrlElicitation::None => false,
            UrlElicitation::WithId => self.elicitation_id.is_some(),
            UrlElicitation::Plain => true,
        };
        if fits { Ok(()) } else { Err(Unencodable) }
    }
}

message!(ServerRequest "elicitation/create": ElicitUrl => ElicitResult);

/// Either way of asking a user, by its mode; without one it is a form. (SEC-08)
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnyElicit {
    /// Through a form.
    Form(Elicit),
    /// By sending them somewhere. (since 2025-11-25)
    Url(ElicitUrl),
}

impl Encode for AnyElicit {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        match self {
            Self::Form(form) => form.encode(revision, out),
            Self::Url(url) => url.encode(revision, out),
        }
    }
}

impl Decode for AnyElicit {
    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mode = reader.peek_member("mode");
        if mode.as_ref().and_then(|mode| unescape(mode.as_bytes())).as_deref() == Some("url") {
            return ElicitUrl::read(reader).map(Self::Url);
        }
        Elicit::read(reader).map(Self::Form)
    }
}

string_enum! {
    /// What the user did.
    pub enum ElicitAction {
        /// Filled it in, or went there.
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
        strict content: AnyObject = "content",
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

object! {
    /// Says that the user is done with what they were sent away for. (2025-11-25)
    pub struct ElicitationComplete {
        /// Which elicitation.
        required elicitation_id: String = "elicitationId",
    }
}

message!(ServerNotification "notifications/elicitation/complete": ElicitationComplete);
