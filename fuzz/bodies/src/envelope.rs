//! The JSON-RPC envelope, compared with an independent strict reading.

use mcp_proto::client::{self, Client};
use mcp_proto::server::{self, Server};
use mcp_proto::{
    CallError, CallId, CallOptions, Instant, Limits, MessageEndpoint, Raw, Revision, StreamId,
    ViolationKind,
};

use crate::reference::{Reading, Tree, read};

/// A message has the meaning that a strict reading with `serde_json` finds, in both roles: what it
/// completes, raises and answers.
pub fn envelope(data: &[u8]) {
    let text = data.trim_ascii();
    if text.is_empty() {
        return;
    }
    keeps_its_id(text);
    let tree = match read(data) {
        Reading::Json(tree) => tree,
        Reading::NotJson => return expect(data, &Class::NotJson),
        Reading::Unsure => return,
    };
    let code = tree.member("error").and_then(|error| error.member("code"));
    let is_exact = |number: Option<&Tree>| number.is_none_or(|it| it.with_integer().is_some());
    if tree.has_minus_zero() || !is_exact(tree.member("id")) || !is_exact(code) {
        return;
    }
    let is_deep = tree.depth() > usize::from(Limits::default().depth_max);
    expect(data, &if is_deep { Class::NotJson } else { Class::of(&tree) });
}

/// Whatever follows an id, a request is answered under it, and a response ends its call.
fn keeps_its_id(text: &[u8]) {
    // The text might repeat a member, which an escape can spell.
    let mentions = |word: &[u8]| text.windows(word.len()).any(|part| part == word);
    if mentions(b"\"id\"") || text.contains(&b'\\') {
        return;
    }
    let now = Instant::ZERO;
    let mut server = server();
    let request = &br#"{"jsonrpc":"2.0","id":"here","method":"x/y","params":"#[..];
    server.handle_message(now, StreamId::ONLY, &[request, text, b"}"].concat()[..]);
    match server.poll_event() {
        Some(server::Event::Request { .. }) => {}
        event => {
            let reply = server.poll_outgoing().map(|outgoing| tree_of(outgoing.body));
            let id = reply.as_ref().and_then(|reply| reply.member("id")?.as_text());
            assert_eq!(id, Some("here"), "{event:?}");
        }
    }
    if !mentions(b"\"method\"") && !mentions(b"\"params\"") {
        let (mut client, call) = client();
        let response = &br#"{"jsonrpc":"2.0","id":2,"result":"#[..];
        client.handle_message(now, StreamId::ONLY, &[response, text, b"}"].concat()[..]);
        let event = client.poll_event();
        let is_over =
            matches!(&event, Some(client::Event::Completed { call: ended, .. }) if *ended == call);
        assert!(is_over, "{event:?}");
    }
}

/// The class of a text as a message.
#[derive(Debug)]
enum Class {
    NotJson,
    Array,
    /// Not a message; with the id for an error reply, and whether a reply is possible.
    Invalid {
        id: Option<Tree>,
        answerable: bool,
    },
    Notification {
        method: String,
        params: Params,
    },
    Request {
        id: Tree,
        method: String,
        params: Params,
    },
    Response {
        id: Tree,
        outcome: Outcome,
    },
    OrphanError,
}

#[derive(Debug)]
enum Params {
    None,
    Object(Tree),
    Malformed,
}

#[derive(Debug)]
enum Outcome {
    Result(Tree),
    Error { code: i64, message: String, data: Option<Tree> },
    Broken,
}

impl Class {
    fn of(tree: &Tree) -> Self {
        let members = match tree {
            Tree::Array(_) => return Self::Array,
            Tree::Object(members) => members,
            _ => return Self::Invalid { id: None, answerable: true },
        };
        let count = |name: &str| members.iter().filter(|(key, _)| key == name).count();
        let is_repeated = ["jsonrpc", "id", "method", "params", "result", "error"]
            .iter()
            .any(|name| count(name) > 1);
        let given = tree.member("id");
        let id = given.filter(|id| is_id(id) && count("id") == 1).cloned();
        let (result, error) = (tree.member("result"), tree.member("error"));
        let has_outcome = result.is_some() || error.is_some();
        let method = tree.member("method");
        let answerable = if id.is_some() { method.is_some() } else { !has_outcome };
        if is_repeated || tree.member("jsonrpc").and_then(Tree::as_text) != Some("2.0") {
            return match id {
                Some(id) if has_outcome && method.is_none() => {
                    Self::Response { id, outcome: Outcome::Broken }
                }
                id => Self::Invalid { id, answerable },
            };
        }
        let Some(method) = method else {
            return match (id, result, error.and_then(error_of)) {
                (Some(id), None, _) if error.is_none() => {
                    Self::Invalid { id: Some(id), answerable: false }
                }
                (Some(id), Some(result), _) if error.is_none() && result.is_object() => {
                    Self::Response { id, outcome: Outcome::Result(result.clone()) }
                }
                (Some(id), None, Some(outcome)) => Self::Response { id, outcome },
                (Some(id), _, _) => Self::Response { id, outcome: Outcome::Broken },
                (None, None, Some(_)) => Self::OrphanError,
                (None, _, _) => Self::Invalid { id: None, answerable: !has_outcome },
            };
        };
        let Some(method) = method.as_text().filter(|_| !has_outcome) else {
            return Self::Invalid { id, answerable };
        };
        let method = method.to_owned();
        let params = match tree.member("params") {
            None | Some(Tree::Null) => Params::None,
            Some(object @ Tree::Object(_)) => Params::Object(object.clone()),
            Some(_) => Params::Malformed,
        };
        match (given, id) {
            (None, _) => Self::Notification { method, params },
            (Some(_), Some(id)) => Self::Request { id, method, params },
            (Some(_), None) => Self::Invalid { id: None, answerable: true },
        }
    }
}

fn is_id(id: &Tree) -> bool {
    matches!(id.with_integer(), Some(Tree::Text(_) | Tree::Unsigned(_) | Tree::Negative(_)))
}

fn error_of(error: &Tree) -> Option<Outcome> {
    let code = match error.member("code")?.with_integer()? {
        Tree::Unsigned(code) => i64::try_from(code).ok()?,
        Tree::Negative(code) => code,
        _ => return None,
    };
    let message = error.member("message")?.as_text()?.to_owned();
    Some(Outcome::Error { code, message, data: error.member("data").cloned() })
}

fn tree(raw: &Raw) -> Tree {
    match read(raw.as_bytes()) {
        Reading::Json(tree) => tree,
        reading => panic!("{reading:?} of {raw}"),
    }
}

const REVISION: Revision = Revision::V2025_11_25;

/// A method of no revision.
const SERVED: &str = "x/y";

fn limits() -> Limits {
    Limits { id_bytes_max: usize::MAX, ..Limits::default() }
}

fn expect(text: &[u8], class: &Class) {
    at_the_server(text, class);
    at_the_client(text, class);
}

/// Returns a server with a session.
fn server() -> Server {
    let now = Instant::ZERO;
    let config =
        server::Config::new("s", "1").revisions(&[REVISION]).serve_method(SERVED).limits(limits());
    let mut server = Server::new(now, config);
    for greeting in [
        &br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#[..],
        br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    ] {
        server.handle_message(now, StreamId::ONLY, greeting);
    }
    assert!(matches!(server.poll_event(), Some(server::Event::Ready(_))));
    while server.poll_outgoing().is_some() {}
    server
}

fn at_the_server(text: &[u8], class: &Class) {
    let now = Instant::ZERO;
    let mut server = server();
    server.handle_message(now, StreamId::ONLY, text);
    let event = server.poll_event();
    let reply = server.poll_outgoing().map(|outgoing| tree_of(outgoing.body));
    assert!(
        server.poll_event().is_none() && !server.has_outgoing(),
        "one message, one event, one reply"
    );
    let told = match &event {
        Some(server::Event::Violation(violation)) => Some(violation.kind),
        _ => None,
    };
    let refused = reply.as_ref().and_then(|reply| match reply.member("error")?.member("code")? {
        Tree::Negative(code) => Some((*code, reply.member("id").filter(|id| is_id(id)).cloned())),
        _ => None,
    });
    let expected = match class {
        // A response that cannot be read may name a call.
        Class::NotJson if refused.is_none() => {
            let told = told.filter(|told| *told != ViolationKind::UnknownResponse);
            return assert!(told.is_none_or(|told| told == ViolationKind::NotJson), "{told:?}");
        }
        Class::NotJson => {
            let id = refused.as_ref().and_then(|(_, id)| id.clone());
            (Some(ViolationKind::NotJson), Some((-32700, id)))
        }
        Class::Array => (Some(ViolationKind::InvalidBatch), Some((-32600, None))),
        Class::Invalid { id: None, answerable: false } => (Some(ViolationKind::Invalid), None),
        Class::Invalid { id, .. } => (Some(ViolationKind::Invalid), Some((-32600, id.clone()))),
        Class::Response { .. } | Class::OrphanError => (Some(ViolationKind::UnknownResponse), None),
        Class::Notification { params: Params::Malformed, .. } => {
            (Some(ViolationKind::BadNotification), None)
        }
        // The behavior of MCP's own methods does not matter here.
        Class::Notification { method, .. } if method.starts_with("notifications/") => return,
        Class::Notification { method, params } => {
            let Some(server::Event::Notification { method: told, params: given }) = event else {
                panic!("{event:?} for {class:?}")
            };
            assert_eq!(*told, **method);
            assert_params(given.as_ref(), params);
            return assert!(reply.is_none(), "a notification was answered");
        }
        Class::Request { id, method, params }
            if method == SERVED && !matches!(params, Params::Malformed) =>
        {
            let Some(server::Event::Request { incoming, request, .. }) = event else {
                panic!("{event:?} for {class:?}")
            };
            assert_params(request.params.as_ref(), params);
            assert_eq!(server.respond(now, incoming, &Raw::empty_object()), Ok(()));
            let answer = server.poll_outgoing().map(|outgoing| tree_of(outgoing.body));
            return assert_eq!(answer.as_ref().and_then(|answer| answer.member("id")), Some(id));
        }
        Class::Request { id, method, .. } if method == SERVED => {
            (None, Some((-32602, Some(id.clone()))))
        }
        Class::Request { id, .. } => {
            return assert_eq!(reply.as_ref().and_then(|reply| reply.member("id")), Some(id));
        }
    };
    assert_eq!((told, refused), expected, "{class:?}, told {event:?}, answered {reply:?}");
}

fn tree_of(line: &[u8]) -> Tree {
    // ID-05: an id is echoed exactly, also with an unpaired surrogate, which `Raw` replaces.
    let text = std::str::from_utf8(line).ok().and_then(|line| Raw::from_text(line).ok());
    match text.map(|text| read(text.as_bytes())) {
        Some(Reading::Json(tree)) => tree,
        reading => panic!("{reading:?} was sent"),
    }
}

fn assert_params(given: Option<&Raw>, params: &Params) {
    match params {
        Params::Object(object) => assert_eq!(given.map(tree).as_ref(), Some(object)),
        Params::None => assert_eq!(given, None),
        Params::Malformed => panic!("malformed params were handed over"),
    }
}

/// Returns a client with a session and its call, whose id is 2.
fn client() -> (Client, CallId) {
    let now = Instant::ZERO;
    let config = client::Config::new("c", "1").revisions(&[REVISION]).limits(limits());
    let mut client = Client::new(now, config);
    client.handle_message(
        now,
        StreamId::ONLY,
        &br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#[..],
    );
    assert!(matches!(client.poll_event(), Some(client::Event::Ready(_))));
    match client.call_raw(now, SERVED, None, CallOptions::default()) {
        Ok(call) => (client, call),
        Err(error) => panic!("the session is open: {error}"),
    }
}

fn at_the_client(text: &[u8], class: &Class) {
    let now = Instant::ZERO;
    let (mut client, call) = client();
    client.handle_message(now, StreamId::ONLY, text);
    let event = client.poll_event();
    let is_ours = |id: &Tree| id.with_integer() == Some(Tree::Unsigned(2));
    match class {
        Class::Response { id, outcome } if is_ours(id) => {
            let Some(client::Event::Completed { call: ended, outcome: found }) = event else {
                panic!("{event:?} for {class:?}")
            };
            assert_eq!(ended, call);
            match (outcome, found) {
                (Outcome::Result(expected), Ok(result)) => assert_eq!(tree(&result), *expected),
                (Outcome::Error { code, message, data }, Err(CallError::Refused(error))) => {
                    assert_eq!((error.code, &*error.message), (*code, &**message));
                    assert_eq!(error.data.as_ref().map(tree), *data);
                }
                (Outcome::Broken, Err(CallError::Invalid(_))) => {}
                (expected, found) => panic!("{found:?} for {expected:?}"),
            }
        }
        Class::Invalid { id: Some(id), answerable: false } if is_ours(id) => {
            assert!(
                matches!(event, Some(client::Event::Completed { outcome: Err(_), .. })),
                "{event:?}"
            );
        }
        Class::Response { .. } | Class::OrphanError => {
            assert_told(event.as_ref(), ViolationKind::UnknownResponse);
        }
        Class::NotJson => {
            let is_response = match &event {
                Some(client::Event::Completed { outcome, .. }) => {
                    matches!(outcome, Err(CallError::Invalid(_)))
                }
                Some(client::Event::Violation(violation)) => {
                    violation.kind == ViolationKind::UnknownResponse
                }
                _ => false,
            };
            if !is_response {
                assert_told(event.as_ref(), ViolationKind::NotJson);
            }
        }
        Class::Array => assert_told(event.as_ref(), ViolationKind::InvalidBatch),
        Class::Invalid { .. } => assert_told(event.as_ref(), ViolationKind::Invalid),
        Class::Notification { .. } | Class::Request { .. } => {}
    }
}

fn assert_told(event: Option<&client::Event>, kind: ViolationKind) {
    let told = matches!(event, Some(client::Event::Violation(violation)) if violation.kind == kind);
    assert!(told, "{event:?} instead of {kind:?}");
}
