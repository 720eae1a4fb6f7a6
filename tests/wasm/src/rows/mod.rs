//! The rows, by the names that they have in the suite of the other adapters.

mod asking;
mod calls;
mod cancelling;

use std::fmt::Debug;

use mcp_wasm::proto::{CallError, Raw};
use mcp_wasm::{Error, LocalBoxFuture};

use crate::world::{Outcome, World};

/// A row: its name, whether it needs the server in its process, and its body.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name.
    pub name: &'static str,
    /// The body.
    pub run: fn(World) -> LocalBoxFuture<'static, Outcome>,
}

macro_rules! rows {
    ($($room:ident::$name:ident,)*) => {
        /// All rows.
        pub const ROWS: &[Row] = &[$(Row {
            name: stringify!($name),
            run: |world| Box::pin($room::$name(world)),
        },)*];
    };
}

rows! {
    calls::tools_are_listed,
    calls::every_list_is_fetched_over_all_pages,
    calls::every_list_is_bounded,
    calls::calls_succeed_fail_and_are_refused,
    calls::progress_comes_in_order_and_before_the_result,
    calls::progress_is_a_stream_that_ends_with_the_call,
    calls::responses_may_arrive_in_any_order,
    calls::a_clone_shares_its_connection,
    calls::a_pending_call_outlives_the_task_that_made_it,
    calls::a_handler_that_is_a_future_sleeps,
    calls::resources_are_read,
    calls::the_metadata_of_a_request_is_available,
    calls::log_messages_have_a_callback_of_their_own,
    calls::calls_fail_once_the_connection_is_closed,
    cancelling::a_dropped_call_is_cancelled,
    cancelling::an_unsent_call_is_not_cancelled,
    cancelling::a_call_that_takes_too_long_times_out_and_is_cancelled,
    cancelling::a_cancelled_async_handler_is_dropped,
    asking::a_question_is_answered,
    asking::answers_of_all_rounds_are_kept,
    asking::a_key_names_one_question,
    asking::state_comes_back,
    asking::a_client_that_cannot_answer_is_refused,
}

/// Fails unless two values are equal.
fn equal<T: Debug + PartialEq>(found: T, expected: T) -> Outcome {
    if found == expected { Ok(()) } else { Err(format!("found {found:?}, expected {expected:?}")) }
}

/// Returns the text of a tool's result, and whether it reports an error.
fn content(result: &Raw) -> (String, bool) {
    let block = result.member("content").and_then(|blocks| blocks.elements().next());
    let text = block.and_then(|block| crate::shop::text(&block, "text")).unwrap_or_default();
    let is_error = result.member("isError").is_some_and(|it| it.as_str() == "true");
    (text, is_error)
}

/// Returns the text of a successful result.
fn success(result: Result<Raw, Error>) -> Result<String, String> {
    match content(&result.map_err(|error| error.to_string())?) {
        (text, false) => Ok(text),
        (text, true) => Err(format!("the tool failed: {text}")),
    }
}

/// Returns the code of the error that the server returned.
fn refusal(result: Result<Raw, Error>) -> Result<i64, String> {
    match result {
        Err(Error::Call(CallError::Refused(error))) => Ok(error.code),
        other => Err(format!("was not refused: {other:?}")),
    }
}
