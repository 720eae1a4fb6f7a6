//! Elicitation: requests for input from the client's user, through a form or a URL.

use alloc::string::String;
use alloc::vec::Vec;

use super::containers::{AnyObject, OrUnknown};
use super::decode::{Decode, DecodeError, Encode};
use super::form::Form;
use super::macros::{message, object, string_enum};
use super::meta::Meta;
use super::serde_impls::serde_impls;
use super::tasks::TaskRequest;
use super::uri::has_scheme;
use crate::error::Unencodable;
use crate::json::{JsonReader, Raw, unescape};
use crate::revision::{R4, R5, Revision, UrlElicitation};

object! {
    /// The params of an `elicitation/create` request with a form. (since 2025-06-18)
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation>.
    pub struct Elicit {
        /// Message shown to the user.
        required message: String = "message",
        /// The mode; `None` means `form`. (since 2025-11-25)
        // SEC-08: an elicitation without a mode is a form.
        optional mode: String = "mode" in R4..=R5,
        /// The form; a schema that is not a valid form is kept verbatim.
        required requested_schema: OrUnknown<Form> = "requestedSchema",
        /// If set, asks the client to run the elicitation as a task. (2025-11-25 only)
        optional task: TaskRequest = "task" in R4..=R4,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

impl Elicit {
    /// Creates a form elicitation from a [`Form`] or from a JSON Schema as [`Raw`].
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
    /// The params of an `elicitation/create` request with a URL. (since 2025-11-25)
    ///
    /// The client directs its user to the URL. Encoding and decoding fail unless
    /// [`ElicitUrl::is_safe`] returns `true`.
    pub struct ElicitUrl tagged "mode" = "url" checked Self::check, accepted Self::accept {
        /// Message shown to the user.
        required message: String = "message",
        /// The URL. Show it in full, and open it only with the user's consent.
        // SEC-07: the URL comes from the server.
        required url: String = "url",
        /// Id that the [`ElicitationComplete`] notification refers to. (2025-11-25 only)
        ///
        /// Required in that revision.
        optional elicitation_id: String = "elicitationId" in R4..=R4,
        /// If set, asks the client to run the elicitation as a task. (2025-11-25 only)
        optional task: TaskRequest = "task" in R4..=R4,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

impl ElicitUrl {
    /// Returns whether the scheme of the URL is `https` or `http`.
    ///
    /// Other schemes, such as `javascript` and `file`, can run code or open local files.
    #[must_use]
    pub fn is_safe(&self) -> bool {
        has_scheme(&self.url, &["https", "http"])
    }

    // SEC-07: clients open URLs in a secure manner.
    fn accept(&self) -> Result<(), DecodeError> {
        if self.is_safe() {
            return Ok(());
        }
        Err(DecodeError::unacceptable("an https or http URL", "url", &self.url))
    }

    /// Requires a revision that defines URL elicitation, an id in the first such revision, and a
    /// page on the web.
    fn check(&self, revision: Revision) -> Result<(), Unencodable> {
        let fits = match revision.rules().elicitation_urls {
            UrlElicitation::None => false,
            UrlElicitation::WithId => self.elicitation_id.is_some(),
            UrlElicitation::Plain => true,
        };
        if fits && self.is_safe() { Ok(()) } else { Err(Unencodable) }
    }
}

message!(ServerRequest "elicitation/create": ElicitUrl => ElicitResult);

/// The params of an `elicitation/create` request, with a form or a URL. (since 2025-06-18)
// SEC-08: without a mode it is a form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnyElicit {
    /// An elicitation with a form.
    Form(Elicit),
    /// An elicitation with a URL. (since 2025-11-25)
    Url(ElicitUrl),
}

serde_impls!(AnyElicit);

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
    /// How the user responded to an elicitation. (since 2025-06-18)
    pub enum ElicitAction {
        /// The user submitted the form or agreed to open the URL.
        Accept = "accept",
        /// The user dismissed the request without a choice.
        Cancel = "cancel",
        /// The user explicitly declined the request.
        Decline = "decline",
    }
}

object! {
    /// The result of an `elicitation/create` request. (since 2025-06-18)
    pub struct ElicitResult {
        /// How the user responded to the elicitation.
        required action: ElicitAction = "action",
        /// The submitted field values by name, if the user accepted a form.
        strict content: AnyObject = "content",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

impl ElicitResult {
    /// Creates the result for a form that the user submitted.
    ///
    /// `content` is an object that maps field names to values.
    pub fn accept(content: impl Into<AnyObject>) -> Self {
        Self::new(ElicitAction::Accept).content(content)
    }

    /// Creates the result for an elicitation that the user declined.
    #[must_use]
    pub fn decline() -> Self {
        Self::new(ElicitAction::Decline)
    }

    /// Creates the result for an elicitation that the user dismissed.
    #[must_use]
    pub fn cancel() -> Self {
        Self::new(ElicitAction::Cancel)
    }
}

object! {
    /// The params of a `notifications/elicitation/complete` notification. (2025-11-25 only)
    ///
    /// A server sends this notification when the user has completed a URL elicitation. The client's
    /// connection delivers every such notification, because the connection does not know which
    /// elicitations are open. The client application must ignore ids that it does not know.
    // SEC-08: ids come from requests and from the data of errors, over several sessions.
    pub struct ElicitationComplete {
        /// The `elicitation_id` of the completed [`ElicitUrl`].
        required elicitation_id: String = "elicitationId",
    }
}

message!(ServerNotification "notifications/elicitation/complete": ElicitationComplete);
