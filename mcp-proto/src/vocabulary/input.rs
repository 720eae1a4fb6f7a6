//! Input requests from a server, and the responses of a client.

use alloc::boxed::Box;
use alloc::vec::Vec;

#[cfg(feature = "schema")]
use crate::error::Misuse;
use crate::error::Unencodable;
use crate::json::Raw;
use crate::revision::Revision;
#[cfg(feature = "schema")]
use crate::schema::{
    AnyObject, CreateMessage, Elicit, ElicitUrl, InputRequest, ServerRequest as _,
};
use crate::schema::{Decode, DecodeError, Encode};

/// An input request: something the server needs from the client to complete a request.
///
/// [`Server::request_input`](crate::server::Server::request_input) sends one or more input
/// requests, each under a key that the server chooses. The client's responses arrive under those
/// keys in [`Context::input_responses`](crate::Context::input_responses). A legacy client receives
/// requests; a modern client receives an `input_required` result. The server need not distinguish
/// the two. See the specification on [multi round-trip requests][spec].
///
/// ```
/// use mcp_proto::{NeededInput, Raw};
///
/// let params = Raw::from_text(r#"{"message":"Which city?"}"#).unwrap();
/// let city = NeededInput::raw("elicitation/create", params);
/// let questions = [("city", city), ("roots", NeededInput::Roots)];
/// ```
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NeededInput {
    /// Asks the user to fill in a form: [`elicitation/create`][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
    #[cfg(feature = "schema")]
    Elicit(Box<Elicit>),
    /// Asks the user to open a web page: [`elicitation/create`][spec]. (since 2025-11-25)
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
    #[cfg(feature = "schema")]
    ElicitUrl(Box<ElicitUrl>),
    /// A request with this method name and these params, which are a JSON object or `None`.
    Raw(Box<str>, Option<Raw>),
    /// Asks for the client's roots: [`roots/list`].
    ///
    /// [`roots/list`]: https://modelcontextprotocol.io/specification/2026-07-28/client/roots
    Roots,
    /// Asks for a completion by the client's model: [`sampling/createMessage`][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
    #[cfg(feature = "schema")]
    Sample(Box<CreateMessage>),
}

#[cfg(feature = "schema")]
impl From<Elicit> for NeededInput {
    fn from(form: Elicit) -> Self {
        Self::Elicit(Box::new(form))
    }
}

#[cfg(feature = "schema")]
impl From<ElicitUrl> for NeededInput {
    fn from(page: ElicitUrl) -> Self {
        Self::ElicitUrl(Box::new(page))
    }
}

#[cfg(feature = "schema")]
impl From<CreateMessage> for NeededInput {
    fn from(sampling: CreateMessage) -> Self {
        Self::Sample(Box::new(sampling.readable()))
    }
}

impl NeededInput {
    /// Creates an input request from a method name and `params`, which must be an object.
    pub fn raw(method: impl Into<Box<str>>, params: impl Into<Raw>) -> Self {
        Self::Raw(method.into(), Some(params.into()))
    }

    /// Returns the request as `revision` encodes it, for example to ask for it in a
    /// [task](crate::tasks).
    ///
    /// # Errors
    /// Fails with [`Misuse::Unencodable`] if the params are no object, or cannot be encoded.
    #[cfg(feature = "schema")]
    pub fn to_request(&self, revision: Revision) -> Result<InputRequest, Misuse> {
        let mut params = Vec::new();
        self.write(revision, &mut params).map_err(|Unencodable| Misuse::Unencodable)?;
        let mut request = InputRequest::new(self.method());
        if !params.is_empty() {
            let params = Raw::from_written(params);
            if !params.is_object() {
                return Err(Misuse::Unencodable);
            }
            request.params = Some(AnyObject(params));
        }
        Ok(request)
    }

    pub(crate) fn method(&self) -> &str {
        match self {
            #[cfg(feature = "schema")]
            Self::Elicit(_) | Self::ElicitUrl(_) => "elicitation/create",
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
            #[cfg(feature = "schema")]
            Self::ElicitUrl(page) => page.encode(revision, out),
            Self::Raw(_, params) => {
                params.as_ref().map_or(Ok(()), |params| params.encode(revision, out))
            }
            Self::Roots => Ok(()),
            #[cfg(feature = "schema")]
            Self::Sample(sampling) => sampling.encode(revision, out),
        }
    }
}

/// A client's responses to input requests, each under the key of its request.
///
/// The content comes from the client and is not verified. See
/// [`Context::input_responses`](crate::Context::input_responses).
///
/// ```
/// use mcp_proto::schema::ElicitResult;
/// use mcp_proto::{InputResponses, ErrorObject};
///
/// fn city(answers: &InputResponses) -> Result<ElicitResult, ErrorObject> {
///     match answers.decode("city") {
///         Some(Ok(result)) => Ok(result),
///         Some(Err(error)) => Err(ErrorObject::invalid_params(error.to_string())),
///         None => Err(ErrorObject::invalid_params("no response for `city`")),
///     }
/// }
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct InputResponses(Vec<(Box<str>, Raw)>);

impl InputResponses {
    pub(crate) fn new(answers: Vec<(Box<str>, Raw)>) -> Self {
        Self(answers)
    }

    /// Returns the response to the input request `key` as received; `None` if there is none.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Raw> {
        self.0.iter().find(|(name, _)| **name == *key).map(|(_, answer)| answer)
    }

    /// Decodes the response to the input request `key` as a type of [`schema`](crate::schema).
    ///
    /// Returns `None` if there is no such response.
    ///
    /// # Errors
    /// Fails if a member is missing or has the wrong type.
    pub fn decode<T: Decode>(&self, key: &str) -> Option<Result<T, DecodeError>> {
        self.get(key).map(T::decode)
    }

    /// Iterates over the responses and their keys.
    ///
    /// A modern client chooses the order. The responses of a legacy client are in the order of the
    /// input requests.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Raw)> {
        self.0.iter().map(|(key, answer)| (&**key, answer))
    }
}
