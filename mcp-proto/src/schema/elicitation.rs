//! Elicitation: asks the client's user through a form or a URL.

use alloc::string::String;
use alloc::vec::Vec;

use super::containers::{AnyObject, OrUnknown};
use super::decode::{Decode, DecodeError, Encode};
use super::form::Form;
use super::macros::{message, object, string_enum};
use super::meta::Meta;
use super::tasks::TaskRequest;
use crate::error::Unencodable;
use crate::json::{JsonReader, Raw, unescape};
use crate::revision::{R4, R5, Revision, UrlElicitation};

object! {
    /// Asks the client's user to fill in a form. (since 2025-06-18)
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation>.
    pub struct Elicit {
        /// Message shown to the user.
        required message: String = "message",
        /// `form`, the default. (since 2025-11-25)
        // SEC-08: an elicitation without a mode is a form.
        optional mode: String = "mode" in R4..=R5,
        /// The form; a schema that is not a valid form is kept verbatim.
        required requested_schema: OrUnknown<Form> = "requestedSchema",
        /// Requests execution as a task. (2025-11-25)
        optional task: TaskRequest = "task" in R4..=R4,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

impl Elicit {
    /// Creates a form elicitation.
    pub fn form(message: impl Into<String>, requested_schema: impl Into<OrUnknown<Form>>) -> Self {
        Self::new(message, requested_schema)
    }
}

impl From<Raw> for OrUnknown<Form> {
    fn from(raw: Raw) -> Self {
        match Form::decode(&raw) {
            Ok(form) => Self::Known(form),
            Err(_) => Self::Unknown(raw),
        }
    }
}

message!(ServerRequest "elicitation/create": Elicit => ElicitResult);

object! {
    /// Asks the client to direct its user to a URL. (since 2025-11-25)
    pub struct ElicitUrl tagged "mode" = "url" checked ElicitUrl::check {
        /// Message shown to the user.
        required message: String = "message",
        /// The URL. Show it in full, and open it only with the user's consent.
        // SEC-07: the URL comes from the server.
        required url: String = "url",
        /// Id that the completion notification refers to. (2025-11-25)
        optional elicitation_id: String = "elicitationId" in R4..=R4,
        /// Requests execution as a task. (2025-11-25)
        optional task: TaskRequest = "task" in R4..=R4,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

impl ElicitUrl {
    /// Requires a revision that defines URL elicitation, and an id in the first such revision.
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

/// A form or URL elicitation.
// SEC-08: without a mode it is a form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnyElicit {
    /// A form.
    Form(Elicit),
    /// A URL. (since 2025-11-25)
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
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        let mode = reader.peek_member("mode");
        if mode.as_ref().and_then(|mode| unescape(mode.as_bytes())).as_deref() == Some("url") {
            return ElicitUrl::read(reader).map(Self::Url);
        }
        Elicit::read(reader).map(Self::Form)
    }
}

string_enum! {
    /// The user's action.
    pub enum ElicitAction {
        /// The user submitted the form or agreed to open the URL.
        Accept = "accept",
        /// The user dismissed the request without an answer.
        Cancel = "cancel",
        /// The user declined.
        Decline = "decline",
    }
}

object! {
    /// The outcome of an elicitation.
    pub struct ElicitResult {
        /// The user's action.
        required action: ElicitAction = "action",
        /// The submitted fields, if the form was accepted.
        strict content: AnyObject = "content",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

impl ElicitResult {
    /// Creates an accepted result; `content` is an object of the form's fields.
    pub fn accept(content: impl Into<AnyObject>) -> Self {
        Self::new(ElicitAction::Accept).content(content)
    }

    /// Creates a declined result.
    #[must_use]
    pub fn decline() -> Self {
        Self::new(ElicitAction::Decline)
    }

    /// Creates a cancelled result.
    #[must_use]
    pub fn cancel() -> Self {
        Self::new(ElicitAction::Cancel)
    }
}

object! {
    /// Notifies the client that a URL elicitation is complete. (2025-11-25)
    pub struct ElicitationComplete {
        /// The elicitation's id.
        required elicitation_id: String = "elicitationId",
    }
}

message!(ServerNotification "notifications/elicitation/complete": ElicitationComplete);
