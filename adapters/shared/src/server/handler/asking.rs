//! Handlers that ask the client for input.

use std::fmt;

use mcp_proto::schema::{
    Decode, Elicit, ElicitAction, ElicitResult, ElicitUrl, Form, Map, OrUnknown,
};
use mcp_proto::{ErrorObject, NeededInput, Raw};
use serde::de::DeserializeOwned;

use crate::exec::random::random_id;
use crate::server::handler::context::Cx;
use crate::server::handler::handler_error::{Cause, HandlerError};
#[cfg(feature = "schemars")]
use crate::server::handler::typed_form::form_of;

/// The user's answer to a form.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum FormAnswer<T> {
    /// The user filled in the form.
    Accepted(T),
    /// The user refused to fill in the form.
    Declined,
    /// The user closed the form without an answer.
    Cancelled,
}

impl<T> FormAnswer<T> {
    /// Returns the contents of the form; `None` if the user declined or cancelled.
    #[must_use]
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(contents) => Some(contents),
            Self::Declined | Self::Cancelled => None,
        }
    }
}

impl<T: DeserializeOwned> FormAnswer<T> {
    /// Reads the client's response to the form with this key.
    fn new(key: &str, result: ElicitResult) -> Result<Self, HandlerError> {
        match result.action {
            ElicitAction::Accept => {
                let content = result.content.map_or_else(Raw::empty_object, |content| content.0);
                let parsed = content.parse().map_err(|error| invalid_answer(key, &error));
                parsed.map(Self::Accepted)
            }
            ElicitAction::Decline => Ok(Self::Declined),
            ElicitAction::Cancel => Ok(Self::Cancelled),
            other => Err(HandlerError::failed(format!("the user did not answer `{key}`: {other}"))),
        }
    }

    /// Returns the contents of the form, or an error for the model.
    fn accepted_or_failed(self, key: &str) -> Result<T, HandlerError> {
        match self {
            Self::Accepted(contents) => Ok(contents),
            Self::Declined => Err(HandlerError::failed(format!("the user declined `{key}`"))),
            Self::Cancelled => Err(HandlerError::failed(format!("the user cancelled `{key}`"))),
        }
    }
}

fn invalid_answer(key: &str, error: &dyn fmt::Display) -> HandlerError {
    HandlerError::failed(format!("invalid answer to `{key}`: {error}"))
}

impl Cx {
    /// Asks the client's user to fill in a form, and deserializes the answer as `T`.
    ///
    /// On the handler's first run, there is no answer yet: `ask` returns an error, which the
    /// handler must return with `?`. The client then receives the form as an input request. Once
    /// the client has answered, the handler runs again from the start, and `ask` returns the
    /// answer. A handler must therefore have no side effects before its last `ask`.
    ///
    /// `key` identifies the form. Each question of a run needs its own key, or the request
    /// fails. This method works in handlers of tools, resources and prompts.
    ///
    /// If the handler ignores the error of a question without an answer and returns something else,
    /// the request fails with `-32603` and a message that says so.
    ///
    /// If the client does not support forms, or its revision (before 2025-06-18) has none, the
    /// request fails. The error code is `-32021` in the
    /// modern era (from revision 2026-07-28) and `-32603` in legacy sessions.
    ///
    /// # Errors
    /// Fails if the form has not been answered yet; propagate this error with `?`. Fails with
    /// [`HandlerError::failed`] if the user declined or cancelled, or if the answer cannot be
    /// deserialized as `T`.
    pub fn ask<T: DeserializeOwned>(&self, key: &str, form: Elicit) -> Result<T, HandlerError> {
        let result = self.ask_any(key, NeededInput::from(form))?;
        FormAnswer::new(key, result)?.accepted_or_failed(key)
    }

    /// Asks the client's user to fill in a form derived from `T` (feature `schemars`); see
    /// [`ask`](Self::ask).
    ///
    /// `T` must be a struct whose fields are strings, numbers, booleans, enums of unit variants,
    /// lists of such enums (since 2025-11-25), or `Option`s of these; [forms] cannot be nested. Doc
    /// comments become the descriptions of fields and the titles of choices. The form shows
    /// required fields first. The answer is checked against the form's schema before it is
    /// deserialized. JSON Schema keywords that forms do not support, such as `pattern`, are neither
    /// sent nor checked.
    ///
    /// [forms]: https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
    ///
    /// # Errors
    /// Fails under the conditions listed for [`ask`](Self::ask). If `T` cannot be expressed as a
    /// form, fails with `-32603` and a message that names the field.
    #[cfg(feature = "schemars")]
    pub fn ask_form<T: DeserializeOwned + schemars::JsonSchema>(
        &self,
        key: &str,
        message: &str,
    ) -> Result<T, HandlerError> {
        self.ask_form_answer(key, message)?.accepted_or_failed(key)
    }

    /// Like [`ask_form`](Self::ask_form), but a form that the user declines or cancels is no error
    /// (feature `schemars`).
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::{Cx, FormAnswer, Server};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Rating {
    ///     stars: u8,
    /// }
    ///
    /// let server = Server::new("shop", "1.0.0").tool("rate", "Asks for a rating", |cx: Cx| {
    ///     match cx.ask_form_answer::<Rating>("rating", "How was it?")? {
    ///         FormAnswer::Accepted(rating) => Ok(format!("{} stars", rating.stars)),
    ///         FormAnswer::Declined => Ok("no rating".into()),
    ///         _ => Ok("no answer".into()),
    ///     }
    /// });
    /// # drop(server);
    /// ```
    ///
    /// # Errors
    /// Fails under the conditions listed for [`ask_form`](Self::ask_form), except if the user
    /// declined or cancelled.
    #[cfg(feature = "schemars")]
    pub fn ask_form_answer<T: DeserializeOwned + schemars::JsonSchema>(
        &self,
        key: &str,
        message: &str,
    ) -> Result<FormAnswer<T>, HandlerError> {
        let form = form_of::<T>()?;
        let question = Elicit::form(message, OrUnknown::Known(form.clone()));
        let result: ElicitResult = self.ask_any(key, NeededInput::from(question))?;
        if result.action == ElicitAction::Accept {
            // A client may omit the contents of an empty form.
            let empty = Raw::empty_object();
            let content = result.content.as_deref().unwrap_or(&empty);
            form.check(content).map_err(|error| invalid_answer(key, &error))?;
        }
        FormAnswer::new(key, result)
    }

    /// Asks the client's user to confirm; see [`ask`](Self::ask).
    ///
    /// Returns whether the user accepted a form without fields. Declining and cancelling count as
    /// no.
    ///
    /// If the client does not support forms, the request fails, as for [`ask`](Self::ask).
    ///
    /// # Errors
    /// Fails if the form has not been answered yet; propagate this error with `?`. Fails with
    /// `-32602` if the answer cannot be decoded.
    pub fn confirm(&self, key: &str, message: &str) -> Result<bool, HandlerError> {
        let question = Elicit::form(message, OrUnknown::Known(Form::new(Map::new())));
        let result: ElicitResult = self.ask_any(key, NeededInput::from(question))?;
        Ok(result.action == ElicitAction::Accept)
    }

    /// Asks the client's user to open a web page, for example to sign in to another service or to
    /// pay; see [`ask`](Self::ask).
    ///
    /// Returns whether the user agreed to open the page. The user may not have finished there: the
    /// handler learns that from the service behind the page. Declining and cancelling count as no.
    ///
    /// `url` must have the scheme `https` or `http`. It must not contain secrets, and the page must
    /// verify that its visitor is the user of this client; see [the specification][url].
    ///
    /// If the client does not support URLs, which exist since revision 2025-11-25, the request
    /// fails, as for [`ask`](Self::ask).
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::{Cx, HandlerError};
    ///
    /// fn connect(cx: &Cx) -> Result<&'static str, HandlerError> {
    ///     if !cx.open_url("login", "Sign in to Example", "https://example.com/connect")? {
    ///         return Err("the user does not want to sign in".into());
    ///     }
    ///     Ok("continue once the user has signed in")
    /// }
    /// ```
    ///
    /// # Errors
    /// Fails if the request has not been answered yet; propagate this error with `?`. Fails with
    /// `-32602` if the answer cannot be decoded.
    ///
    /// [url]: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
    pub fn open_url(&self, key: &str, message: &str, url: &str) -> Result<bool, HandlerError> {
        let mut page = ElicitUrl::new(message, url);
        // Revision 2025-11-25 requires an id, which is unique among those of the server.
        let id = random_id().map_err(|error| ErrorObject::internal(error.to_string()))?;
        page.elicitation_id = Some((&*id).into());
        let result: ElicitResult = self.ask_any(key, page.into())?;
        Ok(result.action == ElicitAction::Accept)
    }

    /// Returns the client's answer to an input request of any kind, such as sampling.
    ///
    /// Like [`ask`](Self::ask), this method fails until the client has answered: the error that the
    /// handler returns sends the request, and the handler runs again with the answer.
    ///
    /// # Errors
    /// Fails if the request has not been answered yet; propagate this error with `?`. Fails with
    /// `-32602` if the answer cannot be decoded as `T`.
    pub fn ask_any<T: Decode>(&self, key: &str, question: NeededInput) -> Result<T, HandlerError> {
        self.ask_all([(key, question)])?;
        self.answer(key)
    }

    /// Sends several input requests in one round; see [`ask`](Self::ask).
    ///
    /// Each request has a key. Once this method has returned `Ok`, [`answer`](Self::answer) returns
    /// the answer for each key. Requests that were answered in an earlier round are not sent again.
    ///
    /// # Errors
    /// Fails if any of the requests has not been answered yet; propagate this error with `?`. Fails
    /// with `-32603` if this run of the handler has already asked with one of the keys.
    pub fn ask_all<'a>(
        &self,
        questions: impl IntoIterator<Item = (&'a str, NeededInput)>,
    ) -> Result<(), HandlerError> {
        // Collected before locking: the iterator may call methods that lock.
        let questions = questions.into_iter().map(|(key, question)| (key.to_owned(), question));
        let mut open: Vec<(String, NeededInput)> = questions.collect();
        let mut rounds = self.rounds();
        if let Some((key, _)) = open.iter().find(|(key, _)| !rounds.ask(key)) {
            let why = format!(
                "the handler asks twice with the key `{key}`: give each question its own key"
            );
            return Err(HandlerError::refused(ErrorObject::internal(why)));
        }
        open.retain(|(key, _)| rounds.find(key).is_none());
        let Some((key, _)) = open.first() else { return Ok(()) };
        rounds.set_pending(key);
        Err(HandlerError(Cause::InputRequired(open)))
    }

    /// Returns an error that requests another run of the handler, without asking for input.
    ///
    /// Before returning this error, store the data for the next run with
    /// [`set_state`](Self::set_state). In the modern era (from revision 2026-07-28), the client
    /// sends the request again. In a legacy session, this server runs the handler again by itself.
    #[must_use]
    pub fn repeat(&self) -> HandlerError {
        HandlerError(Cause::InputRequired(Vec::new()))
    }

    /// Returns the client's answer to the input request with this key.
    ///
    /// # Errors
    /// Fails with `-32602` if there is no answer, or if it cannot be decoded as `T`.
    pub fn answer<T: Decode>(&self, key: &str) -> Result<T, HandlerError> {
        let invalid = |error: &dyn fmt::Display| {
            let message = format!("invalid answer to `{key}`: {error}");
            HandlerError::refused(ErrorObject::invalid_params(message))
        };
        let answer = self.rounds().find(key).cloned();
        let answer = answer.ok_or_else(|| invalid(&"missing"))?;
        T::decode(&answer).map_err(|error| invalid(&error))
    }

    /// Returns the user's answer to a form that was sent with [`ask_all`](Self::ask_all).
    ///
    /// # Errors
    /// Fails with `-32602` if there is no answer. Fails with [`HandlerError::failed`] if the user
    /// declined or cancelled, or if the contents cannot be deserialized as `T`.
    pub fn form_answer<T: DeserializeOwned>(&self, key: &str) -> Result<T, HandlerError> {
        FormAnswer::new(key, self.answer(key)?)?.accepted_or_failed(key)
    }

    /// Returns all answers received so far for this request, with their keys.
    #[must_use]
    pub fn answers(&self) -> Vec<(String, Raw)> {
        self.rounds().answers().to_vec()
    }
}
