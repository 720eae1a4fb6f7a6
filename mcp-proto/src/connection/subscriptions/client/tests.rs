//! Several subscriptions to one resource, in a session.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};

use proptest::prelude::*;

use crate::client::{Client, Config, Event};
use crate::connection::{CallId, CallOptions, Filter};
use crate::{Instant, Limits, Misuse, Revision, Session, StreamId};

const NOW: Instant = Instant::ZERO;

fn receive(client: &mut Client, message: &str) {
    client.handle_message(NOW, StreamId::ONLY, message.as_bytes());
}

/// What is sent, by method.
fn sent(client: &mut Client) -> Vec<String> {
    let mut methods = Vec::new();
    while let Some(outgoing) = client.poll_outgoing() {
        let method = crate::json::find(outgoing.body, "method").and_then(crate::json::unescape);
        methods.push(method.unwrap_or_default().into());
    }
    methods
}

/// Who was told of which resources.
fn listening_events(client: &mut Client) -> Vec<(CallId, usize)> {
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
    client_with(Limits::default())
}

fn client_with(limits: Limits) -> Client {
    let config = Config::new("test", "1").revisions(&[Revision::V2025_11_25]).limits(limits);
    let mut client = Client::new(NOW, config);
    receive(
        &mut client,
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",
        "capabilities":{"resources":{"subscribe":true}},"serverInfo":{"name":"s","version":"1"}}}"#,
    );
    sent(&mut client);
    listening_events(&mut client);
    client
}

fn listen(client: &mut Client) -> CallId {
    client.listen(NOW, &Filter::new().resource("a:b"), CallOptions::default()).unwrap()
}

/// The server answers. Each `listen` takes an id, and the request that it sends another.
fn answer(client: &mut Client, wire: u64, is_ok: bool) {
    let outcome = if is_ok { r#""result":{}"# } else { r#""error":{"code":1,"message":"no"}"# };
    receive(client, &format!(r#"{{"jsonrpc":"2.0","id":{wire},{outcome}}}"#));
}

#[test]
fn all_who_wait_for_the_same_answer_are_told_of_it() {
    for is_ok in [true, false] {
        let mut client = client();
        let first = listen(&mut client);
        let second = listen(&mut client);
        assert_eq!(sent(&mut client), ["resources/subscribe"]);
        assert_eq!(listening_events(&mut client), vec![], "nothing is known yet");
        answer(&mut client, 3, is_ok);
        let count = usize::from(is_ok);
        assert_eq!(listening_events(&mut client), [(first, count), (second, count)]);
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
    assert_eq!(listening_events(&mut client), [(refused, 0)]);
    let later = listen(&mut client);
    answer(&mut client, 5, true);
    assert_eq!(listening_events(&mut client), [(later, 1)]);
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
    assert_eq!(listening_events(&mut client), [(second, 1)]);
    client.cancel(NOW, second, "").unwrap();
    assert_eq!(sent(&mut client), ["resources/unsubscribe"]);
}

/// A client without sessions that listens, with progress, to `a:b` and the tools; the call's id is
/// 2.
fn modern() -> (Client, CallId) {
    let mut client = Client::new(NOW, Config::new("test", "1").revisions(&[Revision::V2026_07_28]));
    receive(
        &mut client,
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],
        "capabilities":{"resources":{"subscribe":true},"tools":{"listChanged":true}}}}"#,
    );
    let options = CallOptions { progress: true, ..CallOptions::default() };
    let call = client.listen(NOW, &Filter::new().resource("a:b").tools(), options).unwrap();
    sent(&mut client);
    listening_events(&mut client);
    (client, call)
}

fn acknowledged(client: &mut Client, filter: &str) {
    let tag = r#""_meta":{"io.modelcontextprotocol/subscriptionId":2}"#;
    receive(
        client,
        &format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{{tag},"notifications":{filter}}}}}"#
        ),
    );
}

#[test]
fn what_it_takes_to_listen_in_a_session_has_the_time_that_was_asked_for() {
    use core::time::Duration;
    let mut client = client();
    let (timeout, timeout_max) = (Some(Duration::from_secs(5)), Some(Duration::from_secs(7)));
    let options = CallOptions { timeout, timeout_max, ..CallOptions::default() };
    client.listen(NOW, &Filter::new().resource("a:b"), options).unwrap();
    assert_eq!(client.poll_timeout(), Some(NOW + Duration::from_secs(5)));
    let capped = CallOptions {
        timeout: None,
        timeout_max: Some(Duration::from_secs(7)),
        ..CallOptions::default()
    };
    let mut client = self::client();
    client.listen(NOW, &Filter::new().resource("a:b"), capped).unwrap();
    assert_eq!(client.poll_timeout(), Some(NOW + Duration::from_secs(7)), "no longer than it may");
}

#[test]
fn progress_does_not_make_an_open_subscription_run_out_of_time_tmo_11() {
    let (mut client, call) = modern();
    acknowledged(&mut client, r#"{"toolsListChanged":true}"#);
    assert_eq!(client.poll_timeout(), None);
    receive(
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

/// `count` resources: a, b, c and so on.
fn many(count: u8) -> Filter {
    (0..count).fold(Filter::new(), |filter, n| filter.resource(format!("r:{n:03}")))
}

/// What is sent: wire id, method, and the URI.
fn sent_requests(client: &mut Client) -> Vec<(u64, String, String)> {
    let mut asked = Vec::new();
    while let Some(outgoing) = client.poll_outgoing() {
        let message: serde_json::Value = serde_json::from_slice(outgoing.body).unwrap();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().into();
        let wire = message["id"].as_u64().unwrap_or_default();
        asked.push((wire, text(&message["method"]), text(&message["params"]["uri"])));
    }
    asked
}

/// The server answers all that it is asked, as long as it is asked anything: what it was asked,
/// with at most `at_once` requests open.
fn serve(client: &mut Client, at_once: usize) -> Vec<(String, String)> {
    let mut served = Vec::new();
    loop {
        let open = sent_requests(client);
        assert!(open.len() <= at_once, "{open:?}");
        if open.is_empty() {
            return served;
        }
        for (wire, method, uri) in open {
            answer(client, wire, true);
            served.push((method, uri));
        }
    }
}

fn methods(served: &[(String, String)]) -> (usize, usize) {
    let count = |name| served.iter().filter(|(method, _)| method == name).count();
    (count("resources/subscribe"), count("resources/unsubscribe"))
}

#[test]
fn one_can_listen_to_more_resources_than_calls_can_be_open() {
    for calls_max in 1..12 {
        let mut client = client_with(Limits { calls_max, ..Limits::default() });
        let call = client.listen(NOW, &many(10), CallOptions::default()).unwrap();
        let served = serve(&mut client, (calls_max - 1).max(1));
        assert_eq!(methods(&served), (10, 0), "{calls_max}");
        assert_eq!(listening_events(&mut client), [(call, 10)]);
        client.cancel(NOW, call, "").unwrap();
        let served = serve(&mut client, calls_max);
        assert_eq!(methods(&served), (0, 10), "{calls_max}: each of them is given up");
    }
}

#[test]
fn calls_of_the_application_do_not_keep_it_from_listening_for_ever() {
    let mut client = client_with(Limits { calls_max: 2, ping_every: None, ..Limits::default() });
    let call = client.call_raw(NOW, "ping", None, CallOptions::default()).unwrap();
    let heard = client.listen(NOW, &many(5), CallOptions::default()).unwrap();
    assert_eq!(client.listen(NOW, &many(5), CallOptions::default()), Err(Misuse::Blocked));
    let (ping, subscribes): (Vec<_>, Vec<_>) =
        sent_requests(&mut client).into_iter().partition(|(_, method, _)| method == "ping");
    assert_eq!((ping.len(), subscribes.len()), (1, 1));
    answer(&mut client, subscribes[0].0, true);
    let served = serve(&mut client, 1);
    assert_eq!(methods(&served), (4, 0));
    assert_eq!(listening_events(&mut client), [(heard, 5)]);
    client.cancel(NOW, call, "").unwrap();
}

#[test]
fn what_was_not_asked_for_yet_need_not_be_given_up() {
    let mut client = client_with(Limits { calls_max: 3, ..Limits::default() });
    let call = client.listen(NOW, &many(10), CallOptions::default()).unwrap();
    let open = sent_requests(&mut client);
    assert_eq!(open.len(), 2);
    client.cancel(NOW, call, "").unwrap();
    open.iter().for_each(|(wire, ..)| answer(&mut client, *wire, true));
    assert_eq!(methods(&serve(&mut client, 3)), (0, 2));
}

/// What an application and a server do in turn.
#[derive(Clone, Debug)]
enum Action {
    /// Listens to the resources whose bits are set.
    Listen(u8),
    /// Cancels one of the calls that listen.
    Cancel(usize),
    /// The server answers one of the requests that it has; it refuses to subscribe where that is
    /// false.
    Answer(usize, bool),
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action = prop_oneof![
        (1..32_u8).prop_map(Action::Listen),
        any::<usize>().prop_map(Action::Cancel),
        (any::<usize>(), prop::bool::weighted(0.8))
            .prop_map(|(which, is_ok)| Action::Answer(which, is_ok)),
    ];
    prop::collection::vec(action, 1..40)
}

/// A server that acts on its requests in order and answers them in any.
#[derive(Default)]
struct Model {
    subscribed: BTreeSet<String>,
    /// Requests to answer, and how.
    open: Vec<(u64, bool)>,
}

impl Model {
    /// Reads what it is asked, refusing to subscribe unless `is_ok`, and answers one of all that
    /// are open.
    fn answer(&mut self, client: &mut Client, which: usize, is_ok: bool) {
        for (wire, method, uri) in sent_requests(client) {
            let subscribes = method == "resources/subscribe";
            if subscribes && is_ok {
                self.subscribed.insert(uri);
            } else {
                self.subscribed.remove(&uri);
            }
            self.open.push((wire, is_ok || !subscribes));
        }
        if !self.open.is_empty() {
            let (wire, is_ok) = self.open.remove(which % self.open.len());
            answer(client, wire, is_ok);
        }
    }
}

proptest! {
    #[test]
    fn the_server_holds_at_last_what_is_listened_to_and_all_are_told(actions in actions(), calls_max in 1..8_usize) {
        let mut client = client_with(Limits { calls_max, ..Limits::default() });
        let (mut server, mut open, mut heard) = (Model::default(), Vec::new(), BTreeSet::new());
        for action in actions {
            match action {
                Action::Listen(bits) => {
                    let uris = (0..8).filter(|bit| bits & (1 << bit) != 0);
                    let filter = uris.fold(Filter::new(), |filter, bit| filter.resource(format!("r:{bit}")));
                    open.extend(client.listen(NOW, &filter, CallOptions::default()));
                }
                Action::Cancel(which) if !open.is_empty() => {
                    client.cancel(NOW, open.remove(which % open.len()), "").unwrap();
                }
                Action::Cancel(_) => {}
                Action::Answer(which, is_ok) => server.answer(&mut client, which, is_ok),
            }
            for (call, _) in listening_events(&mut client) {
                prop_assert!(heard.insert(call), "told twice");
            }
        }
        let mut left = 1000;
        while !server.open.is_empty() || client.has_outgoing() {
            server.answer(&mut client, 0, true);
            left -= 1;
            prop_assert!(left > 0);
        }
        heard.extend(listening_events(&mut client).into_iter().map(|(call, _)| call));
        prop_assert!(open.iter().all(|call| heard.contains(call)), "{open:?} {heard:?}");
        let wanted: BTreeSet<String> =
            client.listening().flat_map(|(_, filter)| filter.uris.iter().map(|uri| String::from(&**uri))).collect();
        prop_assert_eq!(&server.subscribed, &wanted);
        open.into_iter().for_each(|call| client.cancel(NOW, call, "").unwrap());
        while !server.open.is_empty() || client.has_outgoing() {
            server.answer(&mut client, 0, true);
        }
        prop_assert!(server.subscribed.is_empty());
        prop_assert_eq!(client.poll_timeout(), None);
    }
}

#[test]
fn a_server_that_never_answers_ends_the_waiting_all_the_same() {
    let mut client = client_with(Limits { calls_max: 3, ..Limits::default() });
    let call = client.listen(NOW, &many(10), CallOptions::default()).unwrap();
    let mut rounds = 0;
    while let Some(at) = client.poll_timeout() {
        client.handle_timeout(at);
        rounds += 1;
        assert!(rounds <= 10);
    }
    assert_eq!(listening_events(&mut client), [(call, 0)]);
    client.cancel(NOW, call, "").unwrap();
    assert_eq!(client.poll_timeout(), None);
}

#[test]
fn all_is_given_up_though_the_application_has_as_many_calls_open_as_it_may() {
    let mut client = client_with(Limits { calls_max: 6, ..Limits::default() });
    let call = client.listen(NOW, &many(5), CallOptions::default()).unwrap();
    serve(&mut client, 5);
    while client.call_raw(NOW, "ping", None, CallOptions::default()).is_ok() {}
    assert_eq!(sent_requests(&mut client).len(), 5);
    client.cancel(NOW, call, "").unwrap();
    assert_eq!(methods(&serve(&mut client, 1)), (0, 5));
}

#[test]
fn once_the_connection_is_lost_it_still_says_what_to_listen_to_anew_stl_38() {
    let (mut client, call) = modern();
    let ended = client.listen(NOW, &Filter::new().tools(), CallOptions::default()).unwrap();
    acknowledged(&mut client, r#"{"toolsListChanged":true}"#);
    client.cancel(NOW, ended, "").unwrap();
    client.handle_eof(NOW);
    assert!(client.is_closed());
    assert_eq!(client.listening().collect::<Vec<_>>(), [(call, &Filter::new().tools())]);

    let mut client = self::client();
    let call = listen(&mut client);
    answer(&mut client, 3, true);
    client.handle_eof(NOW);
    assert_eq!(client.listening().collect::<Vec<_>>(), [(call, &Filter::new().resource("a:b"))]);
}

#[test]
fn whatever_answer_ends_a_subscription_what_crosses_it_is_no_violation_t_101() {
    for kind in ["complete", "input_required", "other"] {
        let (mut client, call) = modern();
        acknowledged(&mut client, r#"{"toolsListChanged":true}"#);
        receive(
            &mut client,
            &format!(
                r#"{{"jsonrpc":"2.0","id":2,"result":{{"resultType":"{kind}","requestState":""}}}}"#
            ),
        );
        receive(
            &mut client,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#,
        );
        let mut ends = 0;
        while let Some(event) = client.poll_event() {
            match event {
                Event::Completed { call: ended, .. } if ended == call => ends += 1,
                Event::Listening { .. } => {}
                other => panic!("{kind}: {other:?}"),
            }
        }
        assert_eq!(ends, 1, "{kind}");
    }
}
