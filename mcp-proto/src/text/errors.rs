//! The names and numbers of errors, close reasons and violations.
//!
//! A number is never used again, even if its kind is removed.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::document::{Numbered, Tagged, TextForm};
use super::macros::{numbered, object, variants};
use super::value::{Value, read_members, read_tag, take, write_member};
use crate::error::Misuse;
use crate::json::{JsonReader, Object};
use crate::rpc::ErrorObject;
use crate::schema::DecodeError;
use crate::vocabulary::{CallError, CloseReason, Fault, Violation, ViolationKind};

numbered! { Misuse {
    "blocked" 1 Blocked {}
    "closed" 2 Closed {}
    "not_ready" 3 NotReady {}
    "stale" 4 Stale {}
    "undeclared" 5 Undeclared {}
    "unencodable" 6 Unencodable {}
    "unsupported" 7 Unsupported {}
}}

numbered! { CallError {
    "cancelled" 101 Cancelled {}
    "http" 102 Http { status, reason }
    "invalid" 103 Invalid { reason @ 0 }
    "lost" 104 Lost {}
    "lost_read" 105 LostRead {}
    "redirected" 106 Redirected { status, target }
    "refused" 107 Refused { error @ 0 }
    "too_many_rounds" 108 TooManyRounds {}
    "session_ended" 109 SessionEnded {}
    "unauthorized" 110 Unauthorized { reason @ 0 }
    "unsent" 111 Unsent {}
    "input_refused" 112 InputRefused { error @ 0 }
    "timed_out" 113 TimedOut {}
    "subscription_ended" 114 SubscriptionEnded {}
}}

numbered! { Fault {
    "bad_handshake" 201 BadHandshake { reason @ 0 }
    "first_violation" 202 FirstViolation {}
    "handshake_timed_out" 203 HandshakeTimedOut {}
    "no_common_revision" 204 NoCommonRevision { revisions @ 0 }
    "no_revision_configured" 205 NoRevisionConfigured {}
    "handshake_refused" 206 Refused { error @ 0 }
    "session_lost" 207 SessionLost {}
    "stalled" 208 Stalled {}
    "too_many_violations" 209 TooManyViolations {}
    "unreachable" 210 Unreachable { cause @ 0 }
    "unresponsive" 211 Unresponsive {}
}}

numbered! { CloseReason {
    "fault" 301 Fault { fault @ 0 }
    "local" 302 Local {}
    "peer" 303 Peer {}
}}

numbered! { ViolationKind {
    "bad_notification" 401 BadNotification {}
    "invalid_batch" 402 InvalidBatch {}
    "duplicate_id" 403 DuplicateId {}
    "before_initialize" 404 BeforeInitialize {}
    "http_exchange" 405 HttpExchange {}
    "invalid_message" 406 Invalid {}
    "not_json" 407 NotJson {}
    "too_long" 408 TooLong {}
    "truncated" 409 Truncated {}
    "unknown_response" 410 UnknownResponse {}
    "stale_progress" 411 StaleProgress {}
    "unexpected_request" 412 UnexpectedRequest {}
    "unknown_subscription" 413 UnknownSubscription {}
}}

object!(ErrorObject { code, message, data });
object!(Violation { kind, detail });

impl TextForm for Misuse {}
impl TextForm for CallError {}
impl TextForm for Fault {}
impl TextForm for CloseReason {}
impl TextForm for Violation {}
