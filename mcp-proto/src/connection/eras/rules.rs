//! Era-specific rules that need no part of a connection: who sends requests, and their `_meta`.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::super::context::Env;
use crate::error::Unencodable;
use crate::json::{Raw, TextWithMeta, find_rare, with_meta, write_u64};
use crate::meta::{MetaWriter, asks_for_logs};
use crate::method::MethodId;
use crate::queues::Draft;
use crate::revision::{Capability, Era, Revision, Side};
use crate::rpc;
use crate::schema::key;
use crate::vocabulary::{Event, OutgoingKind, Peer, Route};

/// The meaning of a `resultType`.
// JSON-22, STL-48: a missing type means `complete`; an unknown one is invalid.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in super::super) enum ResultKind {
    Complete,
    InputRequired,
    Unknown,
}

/// Returns whether this side receives requests; a modern client does not.
// FRM-16, STL-13: only clients send requests in the modern era.
pub(in super::super) fn receives_requests(env: &Env) -> bool {
    match env.era() {
        Era::Legacy => true,
        Era::Modern => env.side() == Side::Server,
    }
}

/// Returns whether `peer`, the sender of a request, accepts requests itself. We then ask it by
/// requests and deliver its request again with the answers; a modern client retries it itself.
// FRM-17: a modern client does not.
pub(in super::super) fn takes_requests(peer: &Peer) -> bool {
    match peer.revision.era() {
        Era::Legacy => true,
        Era::Modern => false,
    }
}

/// Returns the revision in which this side declared its capabilities; a legacy client does that
/// before the revision is negotiated.
pub(in super::super) fn declared_in(env: &Env) -> Revision {
    match (env.side(), env.era()) {
        (Side::Client, Era::Legacy) => {
            env.identity.newest(Era::Legacy).unwrap_or_else(|| env.revision())
        }
        _ => env.revision(),
    }
}

/// Returns whether this side retries calls with input.
pub(in super::super) fn repeats_calls(env: &Env) -> bool {
    match env.era() {
        Era::Legacy => false,
        Era::Modern => env.side() == Side::Client,
    }
}

/// Returns the meaning of the `resultType` of a result.
pub(in super::super) fn result_kind(env: &Env, kind: Option<&str>) -> ResultKind {
    match (env.side(), env.era()) {
        (Side::Server, _) | (_, Era::Legacy) => ResultKind::Complete,
        (Side::Client, Era::Modern) => match kind {
            None | Some("complete") => ResultKind::Complete,
            Some("input_required") => ResultKind::InputRequired,
            Some(_) => ResultKind::Unknown,
        },
    }
}

/// Returns whether results of `method` can have this `resultType` by an extension of both sides.
// STL-48: other methods cannot.
pub(in super::super) fn is_result_of_extension(env: &Env, method: &str, kind: &str) -> bool {
    let extensions = &env.identity.extensions;
    env.terms.peer.as_deref().is_some_and(|peer| {
        extensions.shares_result_type(method, kind, peer.revision, &peer.capabilities)
    })
}

/// Reports the late result of a call that has ended if the result creates a task, which would
/// continue at the peer. Ignores other results.
// CAN-10, TSK-34: only `tasks/cancel` stops the task.
pub(in super::super) fn on_late_result(env: &mut Env, kind: Option<&str>, result: Raw) {
    let is_extended =
        kind.is_some_and(|kind| kind == "task" && is_result_of_extension(env, TOOL_CALL, kind));
    let is_nested = || {
        TASK_METHODS.iter().any(|(_, needed)| has(env, *needed))
            && result.member("task").is_some_and(|task| task.is_object())
    };
    if (env.side() == Side::Client && is_extended) || is_nested() {
        env.emit(Event::LateTask(result));
    }
}

/// Returns whether a request asks for a task of a peer that offers them for its method, as only
/// 2025-11-25 has it.
pub(in super::super) fn asks_for_task(env: &Env, method: Option<MethodId>, params: &[u8]) -> bool {
    let of_method = |(id, _): &&(MethodId, Capability)| Some(*id) == method;
    let offered = TASK_METHODS.iter().find(of_method);
    offered.is_some_and(|(_, needed)| has(env, *needed)) && find_rare(params, "task").is_some()
}

/// Returns whether progress may belong to a task that an earlier call of this side has created.
// PRG-14: the tasks extension has no progress.
pub(in super::super) fn has_task_progress(env: &Env) -> bool {
    env.side() == Side::Client && has(env, Capability::TasksToolsCall)
}

fn has(env: &Env, capability: Capability) -> bool {
    env.terms.peer.as_deref().is_some_and(|peer| peer.capabilities.has(capability))
}

/// The requests that may ask for a task, with the capability of the receiver. (2025-11-25)
const TASK_METHODS: &[(MethodId, Capability)] = &[
    (MethodId::CallTool, Capability::TasksToolsCall),
    (MethodId::CreateMessage, Capability::TasksSampling),
    (MethodId::Elicit, Capability::TasksElicitation),
];

/// The only method of clients that creates tasks.
const TOOL_CALL: &str = MethodId::CallTool.name();

/// Returns the writer of the `_meta` of results, if results of `revision` carry any.
pub(in super::super) fn result_meta(env: &Env, revision: Revision) -> Option<Arc<MetaWriter>> {
    match revision.era() {
        Era::Legacy => None,
        Era::Modern => Some(Arc::clone(&env.terms.meta)),
    }
}

/// Queues a request. Returns whether it requests log messages.
pub(in super::super) fn send_request(
    env: &mut Env,
    route: Route,
    kind: OutgoingKind,
    id: u64,
    method: &str,
    params: TextWithMeta<'_>,
    token: Option<u64>,
) -> bool {
    let draft = Draft::new(route, kind);
    let is_modern = match env.era() {
        Era::Legacy => false,
        Era::Modern => env.side() == Side::Client,
    };
    if is_modern {
        send_modern(env, draft, id, method, params, token)
    } else {
        send_legacy(env, draft, id, method, params, token);
        false
    }
}

/// Queues a request with its context in `_meta`. Returns whether it requests log messages.
fn send_modern(
    env: &mut Env,
    draft: Draft,
    id: u64,
    method: &str,
    params: TextWithMeta<'_>,
    token: Option<u64>,
) -> bool {
    let (meta, log_level) = (Arc::clone(&env.terms.meta), env.terms.log_level);
    let _infallible = env.send(draft, |out| {
        rpc::request(out, id, method, |out| {
            meta.write_params(out, params, token, log_level);
            Ok::<(), Unencodable>(())
        })
    });
    log_level.is_some() || asks_for_logs(params)
}

/// Queues a request, with the progress token in its `_meta` if there is one.
fn send_legacy(
    env: &mut Env,
    draft: Draft,
    id: u64,
    method: &str,
    params: TextWithMeta<'_>,
    token: Option<u64>,
) {
    let _infallible = env.send(draft, |out| {
        rpc::request(out, id, method, |out| {
            match (token, params.text) {
                (Some(token), _) => with_meta(out, params, &[key::PROGRESS_TOKEN], |meta| {
                    write_u64(meta.key(key::PROGRESS_TOKEN), token);
                }),
                (None, Some(params)) => out.extend_from_slice(params),
                (None, None) => {}
            }
            Ok::<(), Unencodable>(())
        })
    });
}

/// The target of a server's log message.
#[derive(Debug)]
pub(in super::super) enum LogTarget {
    /// Discarded: below the client's threshold, or no client.
    Discard,
    /// The stream of the request that it belongs to.
    Request(Route),
    /// The session.
    Session(Route),
}

/// A question as a request to the client, written but not sent.
#[derive(Debug)]
pub(crate) struct WrittenQuestion {
    pub(crate) method: Box<str>,
    pub(crate) params: Vec<u8>,
}

/// How the questions of a request reach the client.
#[derive(Debug)]
pub(in super::super) enum Delivery {
    /// In the result, which is already queued; the request has ended.
    InResult,
    /// As requests that are yet to be sent, in the order of the questions.
    ByRequests(Vec<WrittenQuestion>),
    /// As requests once the client has completed the handshake.
    Held,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    #[test]
    fn only_legacy_servers_send_requests_frm_16_stl_13() {
        for revision in Revision::ALL {
            let is_modern = revision == Revision::V2026_07_28;
            for side in [Side::Client, Side::Server] {
                let env = Env::for_test(side, Limits::default(), revision);
                let is_modern_client = is_modern && side == Side::Client;
                assert_eq!(receives_requests(&env), !is_modern_client, "{revision} {side:?}");
                assert_eq!(repeats_calls(&env), is_modern_client, "{revision} {side:?}");
                let peer = Peer::for_test(Side::Client, revision);
                assert_eq!(takes_requests(&peer), !is_modern);
                assert_eq!(result_meta(&env, revision).is_some(), is_modern);
            }
        }
    }

    #[test]
    fn the_result_type_counts_in_the_modern_era_only_stl_48() {
        let kinds = [None, Some("complete"), Some("input_required"), Some("other")];
        let legacy = Env::for_test(Side::Client, Limits::default(), Revision::V2025_11_25);
        assert_eq!(kinds.map(|kind| result_kind(&legacy, kind)), [ResultKind::Complete; 4]);
        let modern = Env::for_test(Side::Client, Limits::default(), Revision::V2026_07_28);
        let wanted = [
            ResultKind::Complete,
            ResultKind::Complete,
            ResultKind::InputRequired,
            ResultKind::Unknown,
        ];
        assert_eq!(kinds.map(|kind| result_kind(&modern, kind)), wanted);
    }

    #[test]
    fn a_modern_request_carries_its_context() {
        for (side, revision, has_context) in [
            (Side::Client, Revision::V2025_11_25, false),
            (Side::Server, Revision::V2025_11_25, false),
            (Side::Client, Revision::V2026_07_28, true),
        ] {
            let mut env = Env::for_test(side, Limits::default(), revision);
            let kind = OutgoingKind::Cancel { id: 1 };
            let params = TextWithMeta::of(Some(br#"{"a":1}"#));
            send_request(&mut env, Route::Any, kind, 1, "x/y", params, Some(1));
            let sent = env.sent();
            assert!(
                sent[0].contains(r#""a":1"#) && sent[0].contains(r#""progressToken":1"#),
                "{sent:?}"
            );
            assert_eq!(sent[0].contains("clientCapabilities"), has_context, "{sent:?}");
        }
    }
}
