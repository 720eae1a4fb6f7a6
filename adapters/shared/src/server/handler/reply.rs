//! The reply to a request, made from the outcome of its handler.

use std::any::Any;

use mcp_proto::schema::{Elicit, Encode, Field, OrUnknown};
use mcp_proto::server::{Command, Server as Machine};
use mcp_proto::{
    ErrorObject, IncomingId, Instant, Misuse, NeededInput, Request, Revision, Unencodable,
};

use crate::server::handler::handler_error::{Cause, HandlerError};
use crate::server::handler::round_state::RoundState;
use crate::transport::link::BoxedTransport;

/// The result of a handler, of any method.
pub(crate) type BoxedResult = Box<dyn HandlerResult>;

/// A result that layers can inspect.
pub(crate) trait HandlerResult: Encode + Send + 'static {
    fn as_any(&self) -> &dyn Any;
}

impl<R: Encode + Send + 'static> HandlerResult for R {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The reply to a request.
pub(crate) enum HandlerReply {
    /// Input requests by their keys, the request state, and the number under which a legacy session
    /// keeps the cancellation of the request.
    InputRequired(Vec<(String, NeededInput)>, Option<String>, Option<u64>),
    /// An error.
    Error(ErrorObject),
    /// A result.
    Result(BoxedResult),
    /// A result that was encoded already.
    Encoded(EncodedResult),
}

impl HandlerReply {
    /// Creates the reply for an outcome. `seal` seals the state that the client keeps.
    pub(crate) fn new(
        outcome: Result<BoxedResult, HandlerError>,
        request: &Request,
        revision: Revision,
        rounds: &RoundState,
        seal: impl FnOnce(String) -> Result<String, ErrorObject>,
    ) -> Self {
        match outcome.map_err(|error| error.resolved(request, revision).0) {
            Ok(result) => Self::Result(result),
            Err(Cause::Failed(result)) => Self::Result(result),
            Err(Cause::Forbidden(error, _) | Cause::Refused(error)) => Self::Error(error),
            Err(Cause::Invalid(why)) => Self::Error(ErrorObject::invalid_params(why)),
            Err(Cause::NotFound) => Self::Error(ErrorObject::internal("not found")),
            Err(Cause::InputRequired(questions)) => match rounds.to_text().map(seal).transpose() {
                Ok(state) => Self::InputRequired(questions, state, rounds.cancellation),
                Err(error) => Self::Error(error),
            },
        }
    }

    /// Encodes a result for `revision`.
    ///
    /// Large results take their time: encoded beforehand, they are merely copied under the lock of
    /// the connection.
    pub(crate) fn encode(&mut self, revision: Revision) {
        let Self::Result(result) = self else { return };
        let mut encoded = EncodedResult(Vec::with_capacity(RESULT_BYTES));
        // A result that cannot be encoded is reported when it is sent.
        if result.encode(revision, &mut encoded.0).is_ok() {
            *self = Self::Encoded(encoded);
        }
    }

    /// Sends the reply. Does nothing for a request that is gone. Returns the number under which the
    /// session keeps the cancellation of the request, if it waits for answers.
    ///
    /// # Errors
    /// Fails with [`Misuse::Blocked`] if there is no room for input requests: the caller must try
    /// again, or send [`rejection`](Self::rejection) instead.
    pub(crate) fn send(
        &mut self,
        connection: &mut BoxedTransport<Machine>,
        now: Instant,
        incoming: IncomingId,
    ) -> Result<Option<u64>, Misuse> {
        const UNENCODABLE: &str = "the result cannot be encoded for this client";
        let mut kept = None;
        let (sent, error_message) = match self {
            Self::Result(result) => {
                (connection.run(now, Command::respond(incoming, &**result)), UNENCODABLE)
            }
            Self::Encoded(result) => {
                (connection.run(now, Command::respond(incoming, result)), UNENCODABLE)
            }
            Self::Error(error) => (
                connection.run(now, Command::RespondError { incoming, error }),
                "the handler failed",
            ),
            Self::InputRequired(questions, state, cancellation) => {
                let questions: Vec<(&str, NeededInput)> =
                    questions.iter().map(|(key, question)| (&**key, question.clone())).collect();
                let questions = &questions[..];
                let (state, refused) = (state.as_deref(), questions.into());
                let ask = Command::RequestInput { incoming, questions: questions.into(), state };
                let sent = match connection.run(now, ask) {
                    Ok(()) => {
                        kept = *cancellation;
                        Ok(())
                    }
                    Err(Misuse::Undeclared) => connection
                        .run(now, Command::RefuseUndeclared { incoming, questions: refused }),
                    sent => sent,
                };
                (sent, "")
            }
        };
        match sent {
            Err(Misuse::Blocked) => Err(Misuse::Blocked),
            // The request may still be open, so it gets an error at least.
            Err(misuse) => {
                let error = &match self {
                    Self::InputRequired(questions, ..) => unsendable(questions, misuse),
                    Self::Error(_) | Self::Result(_) | Self::Encoded(_) => {
                        ErrorObject::internal(error_message)
                    }
                };
                let _gone = connection.run(now, Command::RespondError { incoming, error });
                Ok(None)
            }
            Ok(()) => Ok(kept),
        }
    }

    /// Returns the error to send instead if there is no room for the input requests.
    pub(crate) fn rejection(&self) -> Self {
        Self::Error(match self {
            Self::InputRequired(questions, ..) => unsendable(questions, Misuse::Blocked),
            Self::Error(_) | Self::Result(_) | Self::Encoded(_) => {
                ErrorObject::internal(Misuse::Blocked.to_string())
            }
        })
    }
}

/// Returns the error of a request whose handler asks for input that cannot be sent.
fn unsendable(questions: &[(String, NeededInput)], misuse: Misuse) -> ErrorObject {
    let since = |question: &NeededInput| {
        Revision::ALL.into_iter().find(|revision| question.to_request(*revision).is_ok())
    };
    let newest = questions.iter().max_by_key(|(_, question)| since(question));
    let reason = newest
        .filter(|_| misuse == Misuse::Unsupported)
        .and_then(|(_, question)| Some((question, since(question)?)))
        .map(|(question, since)| match question {
            NeededInput::Elicit(form) => match multiple_choice(form) {
                Some(field) => format!(
                    "its field `{field}` takes several choices, which forms allow since revision \
                     {since}, and the client uses an earlier one"
                ),
                None => format!("needs revision {since}, and the client uses an earlier one"),
            },
            _ => format!("needs revision {since}, and the client uses an earlier one"),
        });
    let keys = match newest.filter(|_| reason.is_some()) {
        Some((key, _)) => key.clone(),
        None => questions.iter().map(|(key, _)| &**key).collect::<Vec<_>>().join(", "),
    };
    let reason = reason.unwrap_or_else(|| misuse.to_string());
    ErrorObject::internal(format!("cannot ask for `{keys}`: {reason}"))
}

/// Returns the name of a field with several choices.
fn multiple_choice(form: &Elicit) -> Option<&str> {
    let OrUnknown::Known(form) = &form.requested_schema else { return None };
    let takes_several =
        |field: &OrUnknown<Field>| matches!(field, OrUnknown::Known(Field::Choices(_)));
    form.properties.iter().find(|(_, field)| takes_several(field)).map(|(name, _)| name)
}

/// Replaces the outcome of a handler that continued without the answer to its question.
///
/// # Errors
/// Fails with the error of the handler, or with an internal error.
pub(crate) fn without_ignored_question<R>(
    outcome: Result<R, HandlerError>,
    rounds: &RoundState,
) -> Result<R, HandlerError> {
    let is_answer = matches!(outcome, Ok(_) | Err(HandlerError(Cause::Failed(_))));
    let Some(key) = rounds.pending().filter(|_| is_answer) else { return outcome };
    Err(HandlerError::refused(ErrorObject::internal(format!(
        "the handler asked `{key}` and ignored that there is no answer yet: return the error of \
         the question with `?`"
    ))))
}

/// A result that was encoded already.
pub(crate) struct EncodedResult(Vec<u8>);

/// The size of most results.
const RESULT_BYTES: usize = 256;

impl Encode for EncodedResult {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        out.extend_from_slice(&self.0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use mcp_proto::server::{Config, Event};
    use mcp_proto::stdio::Stdio;
    use mcp_proto::{Capability, Endpoint, Raw};

    use super::*;

    struct Counting(Arc<AtomicUsize>);

    impl Encode for Counting {
        fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
            self.0.fetch_add(1, Ordering::SeqCst);
            out.extend_from_slice(b"{}");
            Ok(())
        }
    }

    #[test]
    fn a_result_is_encoded_once_before_it_is_sent() {
        let encoded = Arc::new(AtomicUsize::new(0));
        let mut reply = HandlerReply::Result(Box::new(Counting(Arc::clone(&encoded))));
        for _ in 0..2 {
            reply.encode(Revision::V2025_11_25);
            let HandlerReply::Encoded(result) = &reply else { panic!("it is encoded") };
            let mut out = Vec::new();
            result.encode(Revision::V2025_11_25, &mut out).unwrap();
            assert_eq!((&out[..], encoded.load(Ordering::SeqCst)), (&b"{}"[..], 1));
        }
    }

    #[test]
    fn a_question_that_cannot_be_sent_is_answered_with_an_error() {
        for (params, why) in [("{}", "requiredCapabilities"), ("[]", "cannot ask for `q`")] {
            let config = Config::new("s", "1").capability(Capability::Tools);
            let mut stream = Stdio::new(Machine::new(Instant::ZERO, config));
            for message in [
                concat!(
                    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"#,
                    r#""protocolVersion":"2025-11-25","capabilities":{},"#,
                    r#""clientInfo":{"name":"c","version":"1"}}}"#,
                ),
                r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#,
            ] {
                stream.handle_input(Instant::ZERO, message.as_bytes());
                stream.handle_input(Instant::ZERO, b"\n");
            }
            let incoming = loop {
                if let Event::Request { incoming, .. } = stream.poll_event().unwrap() {
                    break incoming;
                }
            };
            let _welcome = stream.outbox().poll_message().unwrap();
            let mut connection: BoxedTransport<Machine> = Box::new(stream);
            let params = Raw::from_text(params).unwrap();
            let question = NeededInput::raw("sampling/createMessage", params);
            let mut reply = HandlerReply::InputRequired(vec![("q".into(), question)], None, None);
            reply.send(&mut connection, Instant::ZERO, incoming).unwrap();
            let sent = connection.outbox().poll_message().unwrap();
            let sent = str::from_utf8(&sent).unwrap();
            assert!(sent.contains(r#""id":1,"error""#) && sent.contains(why), "{sent}");
        }
    }
}
