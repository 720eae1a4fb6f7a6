//! Tests of a client's subscriptions over a whole connection.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};

use proptest::prelude::*;

use crate::client::{Client, Config, Event};
use crate::vocabulary::{CallId, CallOptions, Filter};
use crate::{Instant, Limits, MessageEndpoint, Misuse, Revision, StreamId};

const NOW: Instant = Instant::ZERO;

fn receive(client: &mut Client, message: &str) {
    client.handle_message(NOW, StreamId::ONLY, message.as_bytes());
}

/// Takes the methods of the queued messages.
fn sent(client: &mut Client) -> Vec<String> {
    let mut methods = Vec::new();
    while let Some(outgoing) = client.poll_outgoing() {
        let method = crate::json::find(outgoing.body, "method").and_then(crate::json::unescape);
        methods.push(method.unwrap_or_default().into());
    }
    methods
}

/// Takes the reported subscriptions with their number of resources.
fn listening_events(client: &mut Client) -> Vec<(CallId, usize)> {
    let mut reported = Vec::new();
    while let Some(event) = client.poll_event() {
        if let Event::Subscribed { call, filter } = event {
            reported.push((call, filter.uris.len()));
        }
    }
    reported
}

/// Returns a client with an open session; its next request id is 2.
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
    client.subscribe(NOW, &Filter::new().resource("a:b"), CallOptions::default()).unwrap()
}

/// Delivers a response. Each `listen` uses one id, and the request it sends another.
fn answer(client: &mut Client, wire: u64, is_ok: bool) {
    let outcome = if is_ok { r#""result":{}"# } else { r#""error":{"code":1,"message":"no"}"# };
    receive(client, &format!(r#"{{"jsonrpc":"2.0","id":{wire},{outcome}}}"#));
}

#[test]
fn subscriptions_that_share_a_resource_share_its_response() {
    for is_ok in [true, false] {
        let mut client = client();
        let first = listen(&mut client);
        let second = listen(&mut client);
        assert_eq!(sent(&mut client), ["resources/subscribe"]);
        assert_eq!(listening_events(&mut client), vec![], "no response has arrived");
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
fn a_refused_subscription_does_not_release_a_later_one() {
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
fn the_first_subscriber_may_cancel_while_another_waits() {
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

/// Returns a modern client that subscribes, with progress, to `a:b` and the tools; the call's wire
/// id is 2.
fn modern() -> (Client, CallId) {
    let mut client = Client::new(NOW, Config::new("test", "1").revisions(&[Revision::V2026_07_28]));
    receive(
        &mut client,
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",
        "supportedVersions":["2026-07-28"],
        "capabilities":{"resources":{"subscribe":true},"tools":{"listChanged":true}}}}"#,
    );
    let options = CallOptions { progress: true, ..CallOptions::default() };
    let call = client.subscribe(NOW, &Filter::new().resource("a:b").tools(), options).unwrap();
    sent(&mut client);
    listening_events(&mut client);
    (client, call)
}

fn acknowledged(client: &mut Client, filter: &str) {
    let tag = r#""_meta":{"io.modelcontextprotocol/subscriptionId":2}"#;
    receive(
        client,
        &format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{
            {tag},"notifications":{filter}}}}}"#
        ),
    );
}

#[test]
fn subscribe_requests_use_the_timeouts_of_the_options() {
    use core::time::Duration;
    let mut client = client();
    let (timeout, timeout_max) = (Some(Duration::from_secs(5)), Some(Duration::from_secs(7)));
    let options = CallOptions { timeout, timeout_max, ..CallOptions::default() };
    client.subscribe(NOW, &Filter::new().resource("a:b"), options).unwrap();
    assert_eq!(client.poll_timeout(), Some(NOW + Duration::from_secs(5)));
    let capped = CallOptions {
        timeout: None,
        timeout_max: Some(Duration::from_secs(7)),
        ..CallOptions::default()
    };
    let mut client = self::client();
    client.subscribe(NOW, &Filter::new().resource("a:b"), capped).unwrap();
    assert_eq!(
        client.poll_timeout(),
        Some(NOW + Duration::from_secs(7)),
        "limited by `timeout_max`"
    );
}

// TMO-11
#[test]
fn progress_sets_no_deadline_on_an_open_subscription_tmo_11() {
    let (mut client, call) = modern();
    acknowledged(&mut client, r#"{"toolsListChanged":true}"#);
    assert_eq!(client.poll_timeout(), None);
    receive(
        &mut client,
        r#"{"jsonrpc":"2.0","method":"notifications/progress",
        "params":{"progressToken":2,"progress":1}}"#,
    );
    assert_eq!(client.poll_timeout(), None, "an open subscription has no deadline");
    client.handle_timeout(Instant::MAX);
    assert_eq!(client.subscriptions().map(|(call, _)| call).collect::<Vec<_>>(), [call]);
}

#[test]
fn an_acknowledgement_is_limited_to_the_requested_filter_stl_35() {
    let (mut client, call) = modern();
    let more = r#"{"toolsListChanged":true,"promptsListChanged":true,
        "resourceSubscriptions":["a:b","c:d","","",""]}"#;
    acknowledged(&mut client, more);
    let expected = Filter::new().resource("a:b").tools();
    assert_eq!(client.subscriptions().collect::<Vec<_>>(), [(call, &expected)]);
    let events = core::iter::from_fn(|| client.poll_event());
    let reported: Vec<Filter> = events
        .filter_map(|event| match event {
            Event::Subscribed { filter, .. } => Some(filter),
            _ => None,
        })
        .collect();
    assert_eq!(reported, [expected]);
}

/// Returns a filter with `count` resources.
fn many(count: u8) -> Filter {
    (0..count).fold(Filter::new(), |filter, n| filter.resource(format!("r:{n:03}")))
}

/// Takes the queued messages: wire id, method and URI.
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

/// Answers all requests until none is left, with at most `open_max` open. Returns them.
fn serve(client: &mut Client, open_max: usize) -> Vec<(String, String)> {
    let mut served = Vec::new();
    loop {
        let open = sent_requests(client);
        assert!(open.len() <= open_max, "{open:?}");
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
fn a_filter_may_name_more_resources_than_calls_max() {
    for calls_max in 1..12 {
        let mut client = client_with(Limits { calls_max, ..Limits::default() });
        let call = client.subscribe(NOW, &many(10), CallOptions::default()).unwrap();
        let served = serve(&mut client, (calls_max - 1).max(1));
        assert_eq!(methods(&served), (10, 0), "{calls_max}");
        assert_eq!(listening_events(&mut client), [(call, 10)]);
        client.cancel(NOW, call, "").unwrap();
        let served = serve(&mut client, calls_max);
        assert_eq!(methods(&served), (0, 10), "{calls_max}: each is unsubscribed");
    }
}

#[test]
fn application_calls_do_not_starve_subscriptions() {
    let mut client = client_with(Limits { calls_max: 2, ping_every: None, ..Limits::default() });
    let call = client.call_raw(NOW, "ping", None, CallOptions::default()).unwrap();
    let subscription = client.subscribe(NOW, &many(5), CallOptions::default()).unwrap();
    assert_eq!(client.subscribe(NOW, &many(5), CallOptions::default()), Err(Misuse::Blocked));
    let (ping, subscribes): (Vec<_>, Vec<_>) =
        sent_requests(&mut client).into_iter().partition(|(_, method, _)| method == "ping");
    assert_eq!((ping.len(), subscribes.len()), (1, 1));
    answer(&mut client, subscribes[0].0, true);
    let served = serve(&mut client, 1);
    assert_eq!(methods(&served), (4, 0));
    assert_eq!(listening_events(&mut client), [(subscription, 5)]);
    client.cancel(NOW, call, "").unwrap();
}

#[test]
fn queued_resources_are_not_unsubscribed() {
    let mut client = client_with(Limits { calls_max: 3, ..Limits::default() });
    let call = client.subscribe(NOW, &many(10), CallOptions::default()).unwrap();
    let open = sent_requests(&mut client);
    assert_eq!(open.len(), 2);
    client.cancel(NOW, call, "").unwrap();
    open.iter().for_each(|(wire, ..)| answer(&mut client, *wire, true));
    assert_eq!(methods(&serve(&mut client, 3)), (0, 2));
}

/// One operation of the application or the server.
#[derive(Clone, Debug)]
enum Operation {
    /// Subscribes to the resources whose bits are set.
    Listen(u8),
    /// Cancels one of the subscriptions.
    Cancel(usize),
    /// The server answers one request; it refuses to subscribe if the value is false.
    Answer(usize, bool),
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        (1..32_u8).prop_map(Operation::Listen),
        any::<usize>().prop_map(Operation::Cancel),
        (any::<usize>(), prop::bool::weighted(0.8))
            .prop_map(|(which, is_ok)| Operation::Answer(which, is_ok)),
    ];
    prop::collection::vec(operation, 1..40)
}

/// A server that processes requests in order and responds in any order.
#[derive(Default)]
struct Model {
    subscribed: BTreeSet<String>,
    /// Unanswered requests, and whether they succeed.
    open: Vec<(u64, bool)>,
}

impl Model {
    /// Processes new requests, refusing to subscribe unless `is_ok`, and answers one open request.
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
    fn the_server_state_converges_and_all_are_reported(
        operations in operations(),
        calls_max in 1..8_usize,
    ) {
        let mut client = client_with(Limits { calls_max, ..Limits::default() });
        let (mut server, mut open, mut reported) = (Model::default(), Vec::new(), BTreeSet::new());
        for operation in operations {
            match operation {
                Operation::Listen(bits) => {
                    let uris = (0..8).filter(|bit| bits & (1 << bit) != 0);
                    let filter = uris.fold(Filter::new(), |filter, bit| {
                        filter.resource(format!("r:{bit}"))
                    });
                    open.extend(client.subscribe(NOW, &filter, CallOptions::default()));
                }
                Operation::Cancel(which) if !open.is_empty() => {
                    client.cancel(NOW, open.remove(which % open.len()), "").unwrap();
                }
                Operation::Cancel(_) => {}
                Operation::Answer(which, is_ok) => server.answer(&mut client, which, is_ok),
            }
            for (call, _) in listening_events(&mut client) {
                prop_assert!(reported.insert(call), "reported twice");
            }
        }
        let mut left = 1000;
        while !server.open.is_empty() || client.has_outgoing() {
            server.answer(&mut client, 0, true);
            left -= 1;
            prop_assert!(left > 0);
        }
        reported.extend(listening_events(&mut client).into_iter().map(|(call, _)| call));
        prop_assert!(open.iter().all(|call| reported.contains(call)), "{open:?} {reported:?}");
        let filters = client.subscriptions().map(|(_, filter)| filter);
        let uris = filters.flat_map(|filter| filter.uris.iter());
        let wanted: BTreeSet<String> = uris.map(|uri| String::from(&**uri)).collect();
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
fn a_silent_server_is_handled_by_timeouts() {
    let mut client = client_with(Limits { calls_max: 3, ..Limits::default() });
    let call = client.subscribe(NOW, &many(10), CallOptions::default()).unwrap();
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
fn resources_are_released_even_at_calls_max() {
    let mut client = client_with(Limits { calls_max: 6, ..Limits::default() });
    let call = client.subscribe(NOW, &many(5), CallOptions::default()).unwrap();
    serve(&mut client, 5);
    while client.call_raw(NOW, "ping", None, CallOptions::default()).is_ok() {}
    assert_eq!(sent_requests(&mut client).len(), 5);
    client.cancel(NOW, call, "").unwrap();
    assert_eq!(methods(&serve(&mut client, 1)), (0, 5));
}

#[test]
fn a_closed_connection_lists_the_subscriptions_to_renew_stl_38() {
    let (mut client, call) = modern();
    let ended = client.subscribe(NOW, &Filter::new().tools(), CallOptions::default()).unwrap();
    acknowledged(&mut client, r#"{"toolsListChanged":true}"#);
    client.cancel(NOW, ended, "").unwrap();
    client.handle_eof(NOW);
    assert!(client.is_closed());
    assert_eq!(client.subscriptions().collect::<Vec<_>>(), [(call, &Filter::new().tools())]);

    let mut client = self::client();
    let call = listen(&mut client);
    answer(&mut client, 3, true);
    client.handle_eof(NOW);
    assert_eq!(
        client.subscriptions().collect::<Vec<_>>(),
        [(call, &Filter::new().resource("a:b"))]
    );
}

#[test]
fn late_messages_after_any_final_response_are_no_violation_t_101() {
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
                Event::Subscribed { .. } => {}
                other => panic!("{kind}: {other:?}"),
            }
        }
        assert_eq!(ends, 1, "{kind}");
    }
}

// CAN-18
#[test]
fn a_server_cannot_cancel_a_call() {
    let (mut client, _) = modern();
    let call = client.call_raw(NOW, "tools/list", None, CallOptions::default()).unwrap();
    let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled",
        "params":{"requestId":3}}"#;
    receive(&mut client, cancelled);
    let events: Vec<Event> = core::iter::from_fn(|| client.poll_event()).collect();
    assert!(matches!(events[..], [Event::Violation(_)]), "{events:?}");
    answer(&mut client, 3, true);
    let Some(Event::Completed { call: completed, outcome }) = client.poll_event() else {
        panic!("not completed")
    };
    assert!(completed == call && outcome.is_ok(), "{outcome:?}");
}
