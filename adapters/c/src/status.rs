//! The status that each function returns, and the message of the last failure.

use std::any::Any;
use std::borrow::Cow;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What became of a call; `mcp_status` in C.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(C)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// There is nothing to return: no event, no deadline, no such member.
    None = 1,
    /// The buffer is too small. The length that it needs is returned, and nothing is consumed.
    TooSmall = 2,
    /// A pointer is null.
    Null = 3,
    /// There is no such connection: it was freed, or never existed.
    UnknownConnection = 4,
    /// The text is no JSON, or says what cannot be understood.
    InvalidJson = 5,
    /// The command, or an argument, cannot be applied. Nothing was changed.
    Misuse = 6,
    /// A fault of this library. The connection cannot be used any more; free it.
    Fault = 7,
}

/// A status other than [`Status::Ok`], with its message.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) message: Cow<'static, str>,
}

/// A failure without a message, which is no error.
pub(crate) const NONE: Failure = Failure { status: Status::None, message: Cow::Borrowed("") };

thread_local! {
    static LAST_ERROR: RefCell<Cow<'static, str>> = const { RefCell::new(Cow::Borrowed("")) };
}

impl Failure {
    pub(crate) fn new(status: Status, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, message: message.into() }
    }

    fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Self::new(Status::Fault, format!("panicked: {}", text.unwrap_or("without a message")))
    }
}

/// Runs the body of a function: no panic crosses the border, and a failure leaves its message.
pub(crate) fn run(body: impl FnOnce() -> Result<(), Failure>) -> Status {
    let outcome = catch_unwind(AssertUnwindSafe(body));
    match outcome.unwrap_or_else(|panic| Err(Failure::of_panic(&*panic))) {
        Ok(()) => Status::Ok,
        Err(Failure { status, message }) => {
            if !message.is_empty() {
                // Fails in a thread that ends, where nothing can ask for the message either.
                let _ended = LAST_ERROR.try_with(|last| last.replace(message));
            }
            status
        }
    }
}

/// Returns the message of the last failure on this thread; empty if there was none.
pub(crate) fn last_error() -> String {
    LAST_ERROR.with_borrow(|message| message.clone().into_owned())
}
