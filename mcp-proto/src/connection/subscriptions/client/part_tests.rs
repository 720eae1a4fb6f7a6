//! Tests of a client's subscriptions without a connection.

use alloc::{format, vec};

use super::*;
use crate::revision::{Revision, Side};
use crate::vocabulary::for_test::{message, params_in};

const FIRST: CallId = CallId(1);
const SECOND: CallId = CallId(2);
const CALLS_MAX: usize = 1000;

fn env() -> Env {
    Env::for_test(Side::Client, Limits::default(), Revision::V2025_11_25)
}

fn filter(uris: &[&str]) -> Filter {
    uris.iter().fold(Filter::new(), |filter, uri| filter.resource(*uri))
}

/// Sends the next request as the call `id`. Returns its URI after `+` (subscribe) or `-`.
fn ask(subscriptions: &mut Subscriptions, id: u64) -> Option<alloc::string::String> {
    let request = subscriptions.next_request(0, CALLS_MAX)?;
    let shown = format!("{}{}", if request.subscribe.is_some() { '+' } else { '-' }, request.uri);
    subscriptions.on_sent(request, id);
    Some(shown)
}

/// Takes the reported subscriptions with their number of resources.
fn reported(env: &mut Env) -> Vec<(CallId, usize)> {
    let counted = |event| match event {
        Event::Subscribed { call, filter } => (call, filter.uris.len()),
        other => panic!("{other:?}"),
    };
    env.take_events().into_iter().map(counted).collect()
}

#[test]
fn a_subscription_is_open_once_each_of_its_resources_is_settled_stl_35() {
    let (mut env, mut subscriptions) = (env(), Subscriptions::default());
    subscriptions.begin(FIRST, filter(&["a:a", "a:b"]), &CallOptions::default());
    assert_eq!(ask(&mut subscriptions, 10).as_deref(), Some("+a:a"));
    assert_eq!(ask(&mut subscriptions, 11).as_deref(), Some("+a:b"));
    assert_eq!(ask(&mut subscriptions, 12), None);
    subscriptions.report_if_settled(&mut env, FIRST);
    subscriptions.on_subscribed(&mut env, 11, true);
    assert_eq!((subscriptions.is_acknowledged(FIRST), reported(&mut env)), (Some(false), vec![]));
    subscriptions.on_subscribed(&mut env, 10, false);
    assert_eq!(
        (subscriptions.is_acknowledged(FIRST), reported(&mut env)),
        (Some(true), vec![(FIRST, 1)])
    );
    subscriptions.report_if_settled(&mut env, FIRST);
    assert_eq!(reported(&mut env), vec![], "once");
}

#[test]
fn a_resource_is_subscribed_once_and_released_with_its_last_subscription() {
    let (mut env, mut subscriptions) = (env(), Subscriptions::default());
    for call in [FIRST, SECOND] {
        subscriptions.begin(call, filter(&["a:b"]), &CallOptions::default());
    }
    assert_eq!(ask(&mut subscriptions, 10).as_deref(), Some("+a:b"));
    assert_eq!(ask(&mut subscriptions, 11), None);
    subscriptions.on_subscribed(&mut env, 10, true);
    assert_eq!(reported(&mut env), [(FIRST, 1), (SECOND, 1)]);
    for (call, wanted) in [(FIRST, None), (SECOND, Some("-a:b"))] {
        let ended = subscriptions.remove(&env, call);
        subscriptions.release(&ended.unwrap());
        assert_eq!(ask(&mut subscriptions, 12).as_deref(), wanted);
    }
    assert_eq!(subscriptions.len(), 0);
}

#[test]
fn queued_requests_are_dropped_and_released_resources_can_be_requested_again() {
    let (mut env, mut subscriptions) = (env(), Subscriptions::default());
    let begin = |subscriptions: &mut Subscriptions, call| {
        subscriptions.begin(call, filter(&["a:b"]), &CallOptions::default());
    };
    begin(&mut subscriptions, FIRST);
    subscriptions.release(&filter(&["a:b"]));
    assert_eq!((subscriptions.queued(), ask(&mut subscriptions, 9)), (0, None));
    begin(&mut subscriptions, FIRST);
    ask(&mut subscriptions, 10);
    subscriptions.on_subscribed(&mut env, 10, true);
    subscriptions.release(&filter(&["a:b"]));
    // The server still holds the subscription, so releasing it again takes a message.
    begin(&mut subscriptions, SECOND);
    subscriptions.release(&filter(&["a:b"]));
    assert_eq!(ask(&mut subscriptions, 11).as_deref(), Some("-a:b"));
}

/// Over HTTP, requests that are sent one after the other may arrive in another order.
#[test]
fn a_resource_has_one_request_in_flight() {
    let (mut env, mut subscriptions) = (env(), Subscriptions::default());
    let begin = |subscriptions: &mut Subscriptions, uris| {
        subscriptions.begin(FIRST, filter(uris), &CallOptions::default());
    };
    begin(&mut subscriptions, &["a:b"]);
    assert_eq!(ask(&mut subscriptions, 10).as_deref(), Some("+a:b"));
    // The resource is released and requested again before the first response.
    subscriptions.release(&filter(&["a:b"]));
    assert_eq!((ask(&mut subscriptions, 11), subscriptions.queued()), (None, 1));
    subscriptions.on_subscribed(&mut env, 10, true);
    assert_eq!(ask(&mut subscriptions, 11).as_deref(), Some("-a:b"));
    begin(&mut subscriptions, &["a:b", "a:c"]);
    assert_eq!(ask(&mut subscriptions, 12).as_deref(), Some("+a:c"), "other resources go first");
    assert_eq!((ask(&mut subscriptions, 13), subscriptions.queued()), (None, 1));
    subscriptions.on_unsubscribed(11);
    assert_eq!(ask(&mut subscriptions, 13).as_deref(), Some("+a:b"));
}

#[test]
fn one_request_is_always_allowed() {
    let mut subscriptions = Subscriptions::default();
    subscriptions.begin(FIRST, filter(&["a:a", "a:b", "a:c"]), &CallOptions::default());
    let request = subscriptions.next_request(5, 5).unwrap();
    subscriptions.on_sent(request, 10);
    assert!(subscriptions.next_request(5, 5).is_none(), "one is in flight, and no call is free");
    let request = subscriptions.next_request(4, 5).unwrap();
    subscriptions.on_sent(request, 11);
    subscriptions.on_unsubscribed(10);
    subscriptions.on_unsubscribed(11);
    assert!(subscriptions.next_request(5, 5).is_some());
}

#[test]
fn an_unsendable_request_counts_as_refused() {
    let (mut env, mut subscriptions) = (env(), Subscriptions::default());
    subscriptions.begin(FIRST, filter(&["a:b"]), &CallOptions::default());
    let request = subscriptions.next_request(0, CALLS_MAX).unwrap();
    subscriptions.on_unsendable(&mut env, &request);
    assert_eq!(reported(&mut env), [(FIRST, 0)]);
}

#[test]
fn an_acknowledgement_is_accepted_once_within_the_filter_and_limits_stl_30() {
    let mut subscriptions = Subscriptions::default();
    let limits =
        Limits { subscription_uris_max: 2, subscriptions_bytes_max: 5, ..Limits::default() };
    subscriptions.open(FIRST, filter(&["a:a", "a:b"]).tools());
    assert!(subscriptions.acknowledge(SECOND, Some(filter(&[])), &limits).is_err());
    assert!(subscriptions.acknowledge(FIRST, None, &limits).is_err());
    assert!(subscriptions.acknowledge(FIRST, Some(filter(&["a", "b", "c"])), &limits).is_err());
    assert!(subscriptions.acknowledge(FIRST, Some(filter(&["a:bcde"])), &limits).is_err());
    assert_eq!(subscriptions.is_acknowledged(FIRST), Some(false));
    let counts = subscriptions.acknowledge(FIRST, Some(filter(&["a:b", "x"]).prompts()), &limits);
    assert_eq!(counts, Ok(filter(&["a:b"])));
    assert!(subscriptions.acknowledge(FIRST, Some(filter(&[])), &limits).is_err(), "once");
    subscriptions.open(SECOND, filter(&["a:a"]));
    assert!(
        subscriptions.acknowledge(SECOND, Some(filter(&["a:a"])), &limits).is_err(),
        "3 + 3 bytes"
    );
}

#[test]
fn a_change_reaches_covering_subscriptions_or_else_all_with_resources_t_122() {
    let mut subscriptions = Subscriptions::default();
    subscriptions.open(FIRST, filter(&["a:x"]).tools());
    subscriptions.open(SECOND, filter(&["a:y"]));
    subscriptions.open(CallId(3), Filter::new().prompts());
    let receivers =
        |method, params: &str| subscriptions.receivers(method, &params_in(&message(params)));
    assert_eq!(receivers(MethodId::ToolsChanged, "{}"), [FIRST]);
    assert_eq!(receivers(MethodId::ResourcesChanged, "{}"), []);
    assert_eq!(receivers(MethodId::ResourceUpdated, r#"{"uri":"a:y/z"}"#), [SECOND]);
    assert_eq!(receivers(MethodId::ResourceUpdated, r#"{"uri":"a:z"}"#), [FIRST, SECOND]);
}

#[test]
fn subscriptions_open_at_the_end_of_the_connection_are_kept_stl_38() {
    let (mut env, mut subscriptions) = (env(), Subscriptions::default());
    subscriptions.open(FIRST, filter(&["a:b"]));
    env.terms.phase = Phase::Closed;
    assert_eq!(subscriptions.remove(&env, FIRST), None);
    assert_eq!(subscriptions.iter().map(|(call, _)| call).collect::<Vec<_>>(), [FIRST]);
    env.terms.phase = Phase::Ready;
    assert_eq!(subscriptions.remove(&env, FIRST), Some(filter(&["a:b"])));
    assert_eq!((subscriptions.len(), subscriptions.is_acknowledged(FIRST)), (0, None));
}
