//! Several subscriptions to one resource, in a session.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::client::{Client, Config, Event};
use crate::session::{CallId, CallOptions, Filter};
use crate::{Instant, Revision, Session, StreamId};

const NOW: Instant = Instant::ZERO;

fn hears(client: &mut Client, message: &str) {
    client.handle_message(NOW, StreamId::ONLY, message.as_bytes());
}

/// What is sent, by method.
fn sent(client: &mut Client) -> Vec<String> {
    let mut methods = Vec::new();
    while let Some(message) = client.outbox().poll_message() {
        let method = crate::json::find(&message, "method").and_then(crate::json::unescape);
        methods.push(method.unwrap_or_default().into());
    }
    methods
}

/// Who was told of which resources.
fn told(client: &mut Client) -> Vec<(CallId, usize)> {
    let mut told = Vec::new();
    while let Some(event) = client.poll_event() {
        if let Event::Listening { call, filter } = event {
            told.push((call, filter.uris.len()));
        }
    }
    told
}

/// A client in a session, whose next request has the id 2.
fn client() -> Client {
    let mut client = Client::new(NOW, Config::new("test", "1").revisions(&[Revision::V2025_11_25]));
    hears(
        &mut client,
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",
        "capabilities":{"resources":{"subscribe":true}},"serverInfo":{"name":"s","version":"1"}}}"#,
    );
    sent(&mut client);
    told(&mut client);
    client
}

fn listen(client: &mut Client) -> CallId {
    client.listen(NOW, &Filter::new().resource("a:b"), CallOptions::default()).unwrap()
}

/// The server answers. Each `listen` takes an id, and the request that it sends another.
fn answer(client: &mut Client, wire: u64, is_ok: bool) {
    let outcome = if is_ok { r#""result":{}"# } else { r#""error":{"code":1,"message":"no"}"# };
    hears(client, &format!(r#"{{"jsonrpc":"2.0","id":{wire},{outcome}}}"#));
}

#[test]
fn all_who_wait_for_the_same_answer_are_told_of_it() {
    for is_ok in [true, false] {
        let mut client = client();
        let first = listen(&mut client);
        let second = listen(&mut client);
        assert_eq!(sent(&mut client), ["resources/subscribe"]);
        assert_eq!(told(&mut client), vec![], "nothing is known yet");
        answer(&mut client, 3, is_ok);
        let count = usize::from(is_ok);
        assert_eq!(told(&mut client), [(first, count), (second, count)]);
        client.cancel(NOW, first, "").unwrap();
        assert_eq!(sent(&mut client), [""; 0]);
        client.cancel(NOW, second, "").unwrap();
        assert_eq!(sent(&mut client), ["resources/unsubscribe"; 1][..count]);
    }
}

#[test]
fn who_was_refused_ends_nothing_for_who_comes_later() {
    let mut client = client();
    let refused = listen(&mut client);
    answer(&mut client, 3, false);
    assert_eq!(told(&mut client), [(refused, 0)]);
    let later = listen(&mut client);
    answer(&mut client, 5, true);
    assert_eq!(told(&mut client), [(later, 1)]);
    sent(&mut client);
    client.cancel(NOW, refused, "").unwrap();
    assert_eq!(sent(&mut client), [""; 0]);
    client.cancel(NOW, later, "").unwrap();
    assert_eq!(sent(&mut client), ["resources/unsubscribe"]);
}

#[test]
fn who_asked_may_leave_while_another_waits_for_the_answer() {
    let mut client = client();
    let first = listen(&mut client);
    let second = listen(&mut client);
    client.cancel(NOW, first, "").unwrap();
    assert_eq!(sent(&mut client), ["resources/subscribe"]);
    answer(&mut client, 3, true);
    assert_eq!(told(&mut client), [(second, 1)]);
    client.cancel(NOW, second, "").unwrap();
    assert_eq!(sent(&mut client), ["resources/unsubscribe"]);
}

/// A client without sessions that listens, with progress, to `a:b` and the tools; the call's id is 2.
fn modern() -> (Client, CallId) {
    let mut client = Client::new(NOW, Config::new("test", "1").revisions(&[Revision::V2026_07_28]));
    hears(
        &mut client,
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],
        "capabilities":{"resources":{"subscribe":true},"tools":{"listChanged":true}}}}"#,
    );
    let options = CallOptions { progress: true, ..CallOptions::default() };
    let call = client.listen(NOW, &Filter::new().resource("a:b").tools(), options).unwrap();
    sent(&mut client);
    told(&mut client);
    (client, call)
}

fn acknowledged(client: &mut Client, filter: &str) {
    let tag = r#""_meta":{"io.modelcontextprotocol/subscriptionId":2}"#;
    hears(
        client,
        &format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{{tag},"notifications":{filter}}}}}"#
        ),
    );
}

#[test]
fn progress_does_not_make_an_open_subscription_run_out_of_time_tmo_11() {
    let (mut client, call) = modern();
    acknowledged(&mut client, r#"{"toolsListChanged":true}"#);
    assert_eq!(client.poll_timeout(), None);
    hears(
        &mut client,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}"#,
    );
    assert_eq!(client.poll_timeout(), None, "it is open for as long as both want it");
    client.handle_timeout(Instant::MAX);
    assert_eq!(client.listening().map(|(call, _)| call).collect::<Vec<_>>(), [call]);
}

#[test]
fn a_server_that_promises_more_than_it_was_asked_for_is_not_believed_stl_35() {
    let (mut client, call) = modern();
    let more = r#"{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a:b","c:d","","",""]}"#;
    acknowledged(&mut client, more);
    let heard = Filter::new().resource("a:b").tools();
    assert_eq!(client.listening().collect::<Vec<_>>(), [(call, &heard)]);
    let events = core::iter::from_fn(|| client.poll_event());
    let told: Vec<Filter> = events
        .filter_map(|event| match event {
            Event::Listening { filter, .. } => Some(filter),
            _ => None,
        })
        .collect();
    assert_eq!(told, [heard]);
}
