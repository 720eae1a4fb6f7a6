//! Parses the input responses and request state in the params of a retried modern request.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use crate::json::{Frame, members, unescape, unescape_key};
use crate::rpc::{ErrorObject, Params};
use crate::vocabulary::InputResponses;

/// Parses the input responses and the request state of a retried request.
///
/// # Errors
/// Fails with the error to respond with if a member has the wrong type, or if there are more than
/// `responses_max` responses.
// STL-25, STL-26: `inputResponses` and `requestState`.
pub(crate) fn read_input(
    responses_max: usize,
    frame: Frame<'_>,
    params: &Params<'_>,
) -> Result<(Option<InputResponses>, Option<Box<str>>), ErrorObject> {
    let bad = |why: &str| Err(ErrorObject::invalid_params(why));
    let state = match params.member("requestState") {
        None | Some(b"null") => None,
        Some(state) => match unescape(state) {
            Some(state) => Some(state.into()),
            None => return bad("`requestState` must be a string"),
        },
    };
    let responses = match params.member("inputResponses") {
        None | Some(b"null") => return Ok((None, state)),
        Some(responses) if responses.starts_with(b"{") => responses,
        Some(_) => return bad("`inputResponses` must be an object"),
    };
    let mut answers = Vec::new();
    for (name, answer) in members(responses) {
        if !answer.starts_with(b"{") {
            return bad("each member of `inputResponses` must be an object");
        }
        if answers.len() == responses_max {
            return bad(&format!("`inputResponses` has more than {responses_max} members"));
        }
        let name = unescape_key(name);
        answers.push((name.into(), frame.keep(answer, params.needs_rewrite())));
    }
    Ok((Some(InputResponses::new(answers)), state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::code;
    use crate::vocabulary::for_test::{message, params_in};

    // STL-26
    #[test]
    fn input_responses_are_an_object_of_objects_stl_25_stl_26() {
        let read = |params: &str| {
            let text = message(params);
            let input = read_input(2, Frame::Borrowed(text.as_bytes()), &params_in(&text));
            input.map(|(answers, state)| (answers.map(|answers| answers.iter().count()), state))
        };
        let rows: &[(&str, Option<usize>, Option<&str>)] = &[
            ("{}", None, None),
            (r#"{"requestState":null,"inputResponses":null}"#, None, None),
            (r#"{"requestState":"s\n"}"#, None, Some("s\n")),
            (r#"{"inputResponses":{}}"#, Some(0), None),
            (r#"{"inputResponses":{"a":{},"b":{}},"requestState":""}"#, Some(2), Some("")),
        ];
        for (params, answers, state) in rows {
            assert_eq!(read(params), Ok((*answers, state.map(Into::into))), "{params}");
        }
        for params in [
            r#"{"requestState":5}"#,
            r#"{"inputResponses":[]}"#,
            r#"{"inputResponses":{"a":1}}"#,
            r#"{"inputResponses":{"a":{},"b":{},"c":{}}}"#,
        ] {
            assert_eq!(read(params).unwrap_err().code, code::INVALID_PARAMS, "{params}");
        }
    }
}
