//! What differs between the eras and needs no part of a connection: the direction of requests, and
//! what messages carry.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::super::context::Env;
use crate::error::Unencodable;
use crate::json::{with_meta, write_u64};
use crate::meta::{MetaWriter, asks_for_logs};
use crate::queues::Draft;
use crate::revision::{Era, Revision, Side};
use crate::rpc;
use crate::schema::key;
use crate::vocabulary::{OutgoingKind, Peer, Route};

/// What a result is, by its `resultType`. (STL-48)
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in super::super) enum ResultKind {
    Complete,
    InputRequired,
    Unknown,
}

/// Returns whether this side receives requests: a modern client does not. (FRM-16, STL-13)
pub(in super::super) fn receives_requests(env: &Env) -> bool {
    match env.era() {
        Era::Legacy => true,
        Era::Modern => env.side == Side::Server,
    }
}

/// Returns whether requests can be sent to `peer`, which made one: not to a modern client. (FRM-17)
pub(in super::super) fn takes_requests(peer: &Peer) -> bool {
    match peer.revision.era() {
        Era::Legacy => true,
        Era::Modern => false,
    }
}

/// Returns whether a request is delivered again with the answers to its questions. A modern client
/// repeats it itself.
pub(in super::super) fn delivers_again(peer: &Peer) -> bool {
    takes_requests(peer)
}

/// Returns the revision in which this side declared its capabilities: a legacy client declares them
/// before a revision is agreed on.
pub(in super::super) fn declared_in(env: &Env) -> Revision {
    match (env.side, env.era()) {
        (Side::Client, Era::Legacy) => {
            env.identity.newest(Era::Legacy).unwrap_or_else(|| env.revision())
        }
        _ => env.revision(),
    }
}

/// Returns whether this side repeats calls with input.
pub(in super::super) fn repeats_calls(env: &Env) -> bool {
    match env.era() {
        Era::Legacy => false,
        Era::Modern => env.side == Side::Client,
    }
}

/// Returns what the `resultType` of a result means.
pub(in super::super) fn result_kind(env: &Env, kind: Option<&str>) -> ResultKind {
    match env.era() {
        Era::Legacy => ResultKind::Complete,
        Era::Modern => modern_result_kind(env, kind),
    }
}

/// Returns the writer of what results for a peer of `revision` carry, if they carry anything.
pub(in super::super) fn result_meta(env: &Env, revision: Revision) -> Option<Arc<MetaWriter>> {
    match revision.era() {
        Era::Legacy => None,
        Era::Modern => Some(Arc::clone(&env.terms.meta)),
    }
}

/// Queues a request. Returns whether it asks for log messages.
pub(in super::super) fn send_request(
    env: &mut Env,
    route: Route,
    kind: OutgoingKind,
    id: u64,
    method: &str,
    params: Option<&[u8]>,
    token: Option<u64>,
) -> bool {
    let draft = Draft::new(route, kind);
    let is_modern = match env.era() {
        Era::Legacy => false,
        Era::Modern => env.side == Side::Client,
    };
    if is_modern {
        send_modern(env, draft, id, method, params, token)
    } else {
        send_legacy(env, draft, id, method, params, token);
        false
    }
}

/// Returns what the `resultType` of a result means. Without one it is complete. (STL-48)
fn modern_result_kind(env: &Env, kind: Option<&str>) -> ResultKind {
    let shares_extension =
        |peer: &Peer| peer.capabilities.shares_extension(&env.identity.capabilities);
    match kind {
        None | Some("complete") => ResultKind::Complete,
        Some("input_required") => ResultKind::InputRequired,
        Some(_) if env.terms.peer.as_deref().is_some_and(shares_extension) => ResultKind::Complete,
        Some(_) => ResultKind::Unknown,
    }
}

/// Queues a request with its context in `_meta`. Returns whether it asks for log messages.
fn send_modern(
    env: &mut Env,
    draft: Draft,
    id: u64,
    method: &str,
    params: Option<&[u8]>,
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

/// Queues a request; with a token, its `_meta` carries that.
fn send_legacy(
    env: &mut Env,
    draft: Draft,
    id: u64,
    method: &str,
    params: Option<&[u8]>,
    token: Option<u64>,
) {
    let _infallible = env.send(draft, |out| {
        rpc::request(out, id, method, |out| {
            match (token, params) {
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

/// Where a log message of a server goes.
#[derive(Debug)]
pub(in super::super) enum LogTo {
    /// To nobody: the client does not want it.
    Nobody,
    /// To the client, with the response to the request that it belongs to.
    Request(Route),
    /// To the session's client.
    Session(Route),
}

/// How a request's questions reach its client.
#[derive(Debug)]
pub(in super::super) enum Asked {
    /// They were in the result: the request is over.
    InResult,
    /// As requests, to be sent now: their params, in the order of the questions.
    ByRequests(Vec<Vec<u8>>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    /// For each side in each era: receives requests, repeats calls.
    #[test]
    fn requests_go_both_ways_in_the_legacy_era_and_from_clients_in_the_modern_one_frm_16_stl_13() {
        for revision in Revision::ALL {
            let is_modern = revision == Revision::V2026_07_28;
            for side in [Side::Client, Side::Server] {
                let env = Env::for_test(side, Limits::default(), revision);
                let is_modern_client = is_modern && side == Side::Client;
                assert_eq!(receives_requests(&env), !is_modern_client, "{revision} {side:?}");
                assert_eq!(repeats_calls(&env), is_modern_client, "{revision} {side:?}");
                let peer = Peer::for_test(Side::Client, revision);
                assert_eq!(
                    (takes_requests(&peer), delivers_again(&peer)),
                    (!is_modern, !is_modern)
                );
                assert_eq!(result_meta(&env, revision).is_some(), is_modern);
            }
        }
    }

    #[test]
    fn a_result_type_means_something_in_the_modern_era_only_stl_48() {
        let kinds = [None, Some("complete"), Some("input_required"), Some("riddle")];
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
    fn a_request_carries_its_context_where_there_is_no_session() {
        for (side, revision, has_context) in [
            (Side::Client, Revision::V2025_11_25, false),
            (Side::Server, Revision::V2025_11_25, false),
            (Side::Client, Revision::V2026_07_28, true),
        ] {
            let mut env = Env::for_test(side, Limits::default(), revision);
            let kind = OutgoingKind::Cancel { id: 1 };
            send_request(&mut env, Route::Any, kind, 1, "x/y", Some(br#"{"a":1}"#), Some(1));
            let sent = env.sent();
            assert!(
                sent[0].contains(r#""a":1"#) && sent[0].contains(r#""progressToken":1"#),
                "{sent:?}"
            );
            assert_eq!(sent[0].contains("clientCapabilities"), has_context, "{sent:?}");
        }
    }
}
