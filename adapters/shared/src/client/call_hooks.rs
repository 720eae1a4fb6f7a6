//! Hooks around the calls of a client.

use std::error::Error as StdError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::schema::{Decode, Encode, Map, Str};
use mcp_proto::{CallError, Instant, Raw, Revision, Unencodable};
use serde::Serialize;

use crate::exec::clock::Clock;
use crate::outcome::Outcome;

pub(crate) type HookError = Box<dyn StdError + Send + Sync>;
pub(crate) type AfterCall = Box<dyn FnOnce(&CallEnd<'_>) + Send>;
pub(crate) type CallHook =
    Arc<dyn Fn(&mut OutgoingCall<'_>) -> Result<AfterCall, HookError> + Send + Sync>;

/// Entries for the `_meta` of a call.
type MetaEntries = Vec<(Box<str>, Raw)>;

/// A call that is about to be sent, for [`Client::on_call`](crate::Client::on_call).
pub struct OutgoingCall<'a> {
    method: &'a str,
    params: &'a Raw,
    meta: MetaEntries,
}

impl OutgoingCall<'_> {
    /// Returns the method, such as `tools/call`.
    #[must_use]
    pub const fn method(&self) -> &str {
        self.method
    }

    /// Returns the params.
    #[must_use]
    pub const fn params(&self) -> &Raw {
        self.params
    }

    /// Returns the name of the tool or prompt, or the URI of the resource, in the params.
    #[must_use]
    pub fn name(&self) -> Option<Str> {
        let name = self.params.member("name").or_else(|| self.params.member("uri"))?;
        Str::decode(&name).ok()
    }

    /// Sets an entry of the call's `_meta`, such as `traceparent`. Replaces an existing entry.
    ///
    /// Entries that the protocol itself defines, such as `progressToken`, are overwritten when the
    /// call is sent.
    ///
    /// # Errors
    /// Fails if `value` cannot be serialized as JSON.
    pub fn set_meta<T: Serialize + ?Sized>(
        &mut self,
        key: &str,
        value: &T,
    ) -> Result<(), Unencodable> {
        let value = Raw::new(value)?;
        self.meta.retain(|(other, _)| **other != *key);
        self.meta.push((key.into(), value));
        Ok(())
    }
}

/// The end of a call, for [`Client::on_call`](crate::Client::on_call).
pub struct CallEnd<'a> {
    /// The result, or the error if it is known.
    result: Result<&'a Raw, Option<&'a (dyn StdError + 'static)>>,
    outcome: Outcome,
    duration: Duration,
}

impl CallEnd<'_> {
    /// Returns how the call ended.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Returns the result, also of a tool that reports an error to the model.
    #[must_use]
    pub fn result(&self) -> Option<&Raw> {
        self.result.ok()
    }

    /// Returns the error: a [`CallError`], or a [`Misuse`](mcp_proto::Misuse) if the call could not
    /// be sent.
    #[must_use]
    pub fn error(&self) -> Option<&(dyn StdError + 'static)> {
        self.result.err()?
    }

    /// Returns the time since the call was started, including waits for room in the output queue.
    #[must_use]
    pub const fn duration(&self) -> Duration {
        self.duration
    }
}

/// What the hooks of a client have added to a call.
#[derive(Default)]
pub(crate) struct Hooked {
    pub(crate) meta: MetaEntries,
    /// Boxed because most calls have no hooks.
    pub(crate) after: Option<Box<AfterHooks>>,
}

/// Calls the hooks of a client before a call is sent.
///
/// # Errors
/// Fails if a hook refuses the call. The hooks before it learn that the call was cancelled.
pub(crate) fn before_call(
    hooks: &[CallHook],
    method: &str,
    params: &dyn Encode,
    revision: impl FnOnce() -> Option<Revision>,
) -> Result<Hooked, HookError> {
    if hooks.is_empty() {
        return Ok(Hooked::default());
    }
    // Params that cannot be encoded are reported when the call is sent.
    let params = revision().and_then(|revision| params.to_raw(revision).ok());
    let params = params.unwrap_or_else(Raw::empty_object);
    let mut after = Box::new(AfterHooks { clock: Some(Clock::new()), hooks: Vec::new() });
    let mut call = OutgoingCall { method, params: &params, meta: Vec::new() };
    for hook in hooks {
        after.hooks.push(hook(&mut call)?);
    }
    Ok(Hooked { meta: call.meta, after: Some(after) })
}

/// Hooks that wait for the end of a call. They run once, at the latest when this is dropped.
pub(crate) struct AfterHooks {
    clock: Option<Clock>,
    hooks: Vec<AfterCall>,
}

impl AfterHooks {
    /// Reports the outcome of the call.
    pub(crate) fn completed(&mut self, outcome: &Result<Raw, CallError>) {
        let (result, outcome) = match outcome {
            Ok(result) => (Ok(result), outcome_of(result)),
            Err(error @ CallError::Cancelled) => (Err(Some(error as _)), Outcome::Cancelled),
            Err(error) => (Err(Some(error as _)), Outcome::Error),
        };
        self.run(result, outcome);
    }

    /// Reports that the call could not be sent.
    pub(crate) fn unsent(&mut self, error: &(dyn StdError + 'static)) {
        self.run(Err(Some(error)), Outcome::Error);
    }

    fn run(&mut self, result: Result<&Raw, Option<&(dyn StdError + 'static)>>, outcome: Outcome) {
        let Some(clock) = self.clock.take() else { return };
        let duration = clock.now().duration_since(Instant::ZERO);
        let end = CallEnd { result, outcome, duration };
        // The hook added first is the outermost.
        for hook in self.hooks.drain(..).rev() {
            // A panic must not keep the caller from receiving the result.
            let _panicked = catch_unwind(AssertUnwindSafe(|| hook(&end)));
        }
    }
}

impl Drop for AfterHooks {
    fn drop(&mut self) {
        self.run(Err(None), Outcome::Cancelled);
    }
}

/// Returns whether the `resultType` of a result says that the server asks for input.
pub(crate) fn is_input_required(result: &Raw) -> bool {
    has_type(result, "input_required")
}

/// Returns whether a result has this `resultType`.
pub(super) fn has_type(result: &Raw, name: &str) -> bool {
    result.member("resultType").is_some_and(|kind| kind.to_text().as_deref() == Some(name))
}

fn outcome_of(result: &Raw) -> Outcome {
    let is_error = result.member("isError").is_some_and(|flag| flag.as_str() == "true");
    match is_error {
        true => Outcome::ToolError,
        false if is_input_required(result) => Outcome::InputRequired,
        false => Outcome::Success,
    }
}

/// Params that encode themselves, with further entries of `_meta`.
pub(crate) struct WithMeta<'a> {
    pub(crate) params: &'a (dyn Encode + Send),
    pub(crate) meta: &'a [(Box<str>, Raw)],
}

impl Encode for WithMeta<'_> {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        if self.meta.is_empty() {
            return self.params.encode(revision, out);
        }
        let params = self.params.to_raw(revision)?;
        let mut members: Map<Raw> = Map::decode(&params).map_err(|_| Unencodable)?;
        let meta = members
            .get("_meta")
            .map_or_else(Map::new, |meta| Map::<Raw>::decode(meta).unwrap_or_default());
        let add = |all: Map<Raw>, (key, value): &(Box<str>, Raw)| all.with(key, value.clone());
        let meta = self.meta.iter().fold(meta, add).to_raw(revision)?;
        members = members.with("_meta", meta);
        members.encode(revision, out)
    }
}

opaque_debug!(OutgoingCall<'_>, it => method: it.method);

// Results may contain secrets.
opaque_debug!(CallEnd<'_>, it => outcome: it.outcome, duration: it.duration);

opaque_debug!(AfterHooks, it => hooks: it.hooks.len());
