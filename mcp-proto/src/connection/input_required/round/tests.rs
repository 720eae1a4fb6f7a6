//! Tests of reading `input_required` results and writing retries.

use alloc::string::ToString;

use super::*;
use crate::revision::{Capability, Side};
use crate::vocabulary::Identity;

fn read(result: &str, rounds: u32, limits: &Limits) -> Result<Round, CallError> {
    let identity = Identity::for_test(Side::Client, Limits::default(), &[Revision::V2026_07_28]);
    let capabilities = &identity.capabilities;
    let reader =
        Reader { limits, capabilities, revision: Revision::V2026_07_28, retained_bytes: 0 };
    reader.read(&Raw::from_text(result).unwrap(), rounds)
}

const TWO: &str = r#"{"requestState":"s","inputRequests":{
    "q":{"method":"roots/list"},"r":{"method":"roots/list"}}}"#;

#[test]
fn rounds_and_questions_are_accepted_up_to_the_limits_stl_22() {
    let limits = |rounds, questions| Limits {
        input_rounds_max: rounds,
        input_requests_max: questions,
        ..Limits::default()
    };
    assert!(read(TWO, 2, &limits(3, 2)).is_ok());
    assert!(matches!(read(TWO, 3, &limits(3, 2)), Err(CallError::TooManyRounds)));
    assert!(matches!(read(TWO, 0, &limits(3, 1)), Err(CallError::Invalid(_))));
    for (bytes_max, is_read) in [(5, true), (4, false)] {
        let limits = Limits { calls_bytes_max: bytes_max, ..Limits::default() };
        assert_eq!(read(TWO, 0, &limits).is_ok(), is_read, "two keys and a state with its quotes");
    }
}

#[test]
fn a_round_needs_supported_questions_or_a_state_t_96() {
    for (result, is_read) in [
        (r#"{"requestState":"s"}"#, true),
        (r#"{"inputRequests":{}}"#, true),
        ("{}", false),
        (r#"{"requestState":null,"inputRequests":null}"#, false),
        (r#"{"requestState":5}"#, false),
        (r#"{"inputRequests":[]}"#, false),
        (r#"{"inputRequests":{"q":{"method":"tools/list"}}}"#, false),
        (
            r#"{"inputRequests":{"q":{"method":"roots/list"},"\u0071":{"method":"roots/list"}}}"#,
            false,
        ),
    ] {
        assert_eq!(read(result, 0, &Limits::default()).is_ok(), is_read, "{result}");
    }
    let capabilities = Capabilities::none().with(Capability::Sampling);
    let limits = Limits::default();
    let reader = Reader {
        limits: &limits,
        capabilities: &capabilities,
        revision: Revision::V2026_07_28,
        retained_bytes: 0,
    };
    assert!(
        reader.read(&Raw::from_text(TWO).unwrap(), 0).is_err(),
        "the client did not declare roots"
    );
}

#[test]
fn a_retry_carries_the_original_params_and_the_input_stl_20_stl_21() {
    let asked = [IncomingId(1), IncomingId(2)];
    let mut input = Input::new(read(TWO, 0, &Limits::default()).unwrap(), &asked);
    assert_eq!((input.retained_bytes(), input.waits_for()), (5, InputWait::Answers));
    assert!(!input.answer(1, Raw::from_text(r#"{"b":2}"#).unwrap()));
    assert!(input.answer(0, Raw::from_text(r#"{"a":1}"#).unwrap()));
    assert_eq!(input.waits_for(), InputWait::Pause);
    let mut out = Vec::new();
    input.write_params(&mut out, br#"{"name":"t","requestState":"old","inputResponses":{}}"#);
    let wanted = r#"{"name":"t","inputResponses":{"q":{"a":1},"r":{"b":2}},"requestState":"s"}"#;
    assert_eq!(Raw::from_written(out).to_string(), wanted);
    assert_eq!(input.into_questions(), asked);
}

/// A missing `inputRequests` differs from an empty object.
#[test]
fn a_round_without_questions_is_answered_with_none_or_with_an_empty_object() {
    for (result, wanted) in [
        (r#"{"requestState":"s"}"#, r#"{"requestState":"s"}"#),
        (r#"{"inputRequests":{}}"#, r#"{"inputResponses":{}}"#),
    ] {
        let input = Input::new(read(result, 0, &Limits::default()).unwrap(), &[]);
        assert_eq!(input.waits_for(), InputWait::Pause);
        let mut out = Vec::new();
        input.write_params(&mut out, b"");
        assert_eq!(Raw::from_written(out).to_string(), wanted);
    }
}
