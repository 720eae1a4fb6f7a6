//! Tests of a server's subscribers without a connection.

use alloc::string::String;
use alloc::{format, vec};

use super::*;
use crate::revision::{Revision, Side};
use crate::vocabulary::for_test::{message, params_in};

const MODERN: Revision = Revision::V2026_07_28;
const LEGACY: Revision = Revision::V2025_11_25;

fn modern(limits: Limits) -> (Env, Subscribers) {
    (Env::for_test(Side::Server, limits, MODERN), Subscribers::default())
}

/// Subscribes `id` to `uris` and the list of tools, on `stream`.
fn subscribe(
    env: &mut Env,
    subscribers: &mut Subscribers,
    (stream, id): (u64, &str),
    uris: &str,
) -> Result<(), ErrorObject> {
    let text = message(&format!(
        r#"{{"notifications":{{"toolsListChanged":true,"resourceSubscriptions":{uris}}}}}"#
    ));
    let peer = Peer::for_test(Side::Client, env.revision());
    let notifications = params_in(&text).member("notifications");
    let filter = subscribers.requested(env, &peer, notifications)?;
    subscribers.open(env, StreamId(stream), &id.into(), filter, None)
}

/// Takes the reported resources: `+` for watched, `-` for unwatched.
fn watched(env: &mut Env) -> Vec<String> {
    let shown = |event| match event {
        Event::Watched { uri, .. } => format!("+{uri}"),
        Event::Unwatched { uri, .. } => format!("-{uri}"),
        other => panic!("{other:?}"),
    };
    env.take_events().into_iter().map(shown).collect()
}

/// Takes the queued messages: the last segment of the method, and the subscription tag.
fn tagged(env: &mut Env) -> Vec<(String, String)> {
    let tag = |text: &str| {
        let start = text.find(r#"subscriptionId":""#).map(|at| at + 17);
        start.map_or_else(String::new, |at| {
            text[at..].chars().take_while(|char| *char != '"').collect()
        })
    };
    let method =
        |text: &str| text.split('"').nth(7).unwrap_or_default().rsplit('/').next().map(Into::into);
    env.sent().iter().map(|text| (method(text).unwrap_or_default(), tag(text))).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(method, tag)| ((*method).into(), (*tag).into())).collect()
}

#[test]
fn a_subscription_is_acknowledged_with_its_filter_stl_29_stl_30() {
    let (mut env, mut subscribers) = modern(Limits::default());
    subscribe(&mut env, &mut subscribers, (1, "a"), r#"["x:2","x:1","x:2"]"#).unwrap();
    let sent = env.sent();
    assert_eq!(sent.len(), 1);
    assert!(sent[0].contains(r#""resourceSubscriptions":["x:1","x:2"]"#), "{}", sent[0]);
    assert!(
        sent[0].contains(r#""toolsListChanged":true"#) && !sent[0].contains("prompts"),
        "{}",
        sent[0]
    );
    assert!(subscribers.has(&"a".into()) && !subscribers.has(&"b".into()));
    assert!(subscribe(&mut env, &mut subscribers, (1, "b"), "5").is_err());
}

#[test]
fn a_resource_is_watched_while_any_subscription_covers_it() {
    let (mut env, mut subscribers) = modern(Limits::default());
    subscribe(&mut env, &mut subscribers, (1, "a"), r#"["x:1","x:2"]"#).unwrap();
    subscribe(&mut env, &mut subscribers, (2, "b"), r#"["x:2","x:3"]"#).unwrap();
    assert_eq!(watched(&mut env), ["+x:1", "+x:2", "+x:3"]);
    assert!(subscribers.unsubscribe(&mut env, &"a".into()));
    assert!(!subscribers.unsubscribe(&mut env, &"a".into()));
    assert_eq!(watched(&mut env), ["-x:1"]);
    subscribers.on_stream_closed(&mut env, StreamId(1));
    assert_eq!(watched(&mut env), [""; 0]);
    subscribers.on_stream_closed(&mut env, StreamId(2));
    assert_eq!(watched(&mut env), ["-x:2", "-x:3"]);
    assert!(!subscribers.has(&"b".into()));
}

#[test]
fn a_change_reaches_each_subscription_that_covers_it_and_no_other_stl_31() {
    let (mut env, mut subscribers) = modern(Limits::default());
    subscribe(&mut env, &mut subscribers, (1, "a"), r#"["x:1"]"#).unwrap();
    subscribe(&mut env, &mut subscribers, (2, "b"), r#"["x:2"]"#).unwrap();
    env.sent();
    for (change, wanted) in [
        (Change::Tools, &[("list_changed", "a"), ("list_changed", "b")][..]),
        (Change::Prompts, &[]),
        (Change::Resource("x:2/part"), &[("updated", "b")]),
        (Change::Resource("x:3"), &[]),
    ] {
        subscribers.changed(&mut env, change).unwrap();
        assert_eq!(tagged(&mut env), pairs(wanted), "{change:?}");
    }
}

#[test]
fn a_change_is_sent_to_all_subscribers_or_to_none() {
    let (mut env, mut subscribers) = modern(Limits { outbox_bytes_max: 1000, ..Limits::default() });
    env.out.use_streams();
    subscribe(&mut env, &mut subscribers, (1, "a"), "[]").unwrap();
    subscribe(&mut env, &mut subscribers, (2, "b"), "[]").unwrap();
    env.sent();
    env.out.hold(Route::Stream(StreamId(2)), 900);
    assert_eq!(subscribers.changed(&mut env, Change::Tools), Err(Misuse::Blocked));
    assert_eq!(env.sent().len(), 0);
    env.out.release(Route::Stream(StreamId(2)), 900);
    subscribers.changed(&mut env, Change::Tools).unwrap();
    assert_eq!(env.sent().len(), 2);
}

#[test]
fn a_session_receives_list_changes_and_its_subscribed_resources_cap_12() {
    let (mut env, mut subscribers) =
        (Env::for_test(Side::Server, Limits::default(), LEGACY), Subscribers::default());
    for _ in 0..2 {
        subscribers.subscribe_in_session(&mut env, "x:1", None).unwrap();
    }
    assert_eq!(watched(&mut env), ["+x:1"]);
    let updated = &[("updated", "")][..];
    for (phase, change, wanted) in [
        (Phase::Ready, Change::Tools, &[("list_changed", "")][..]),
        (Phase::Ready, Change::Resource("x:1"), updated),
        (Phase::Ready, Change::Resource("x:2"), &[]),
        (Phase::Greeted, Change::Resource("x:1"), updated),
        (Phase::Opening, Change::Tools, &[]),
        (Phase::Draining, Change::Tools, &[]),
    ] {
        env.terms.phase = phase;
        subscribers.changed(&mut env, change).unwrap();
        assert_eq!(tagged(&mut env), pairs(wanted), "{phase:?} {change:?}");
    }
    for wanted in [vec!["-x:1"], vec![]] {
        subscribers.unsubscribe_in_session(&mut env, "x:1");
        assert_eq!(watched(&mut env), wanted);
    }
}

#[test]
fn subscriptions_are_bounded_in_number_resources_and_bytes_sec_19() {
    let limits = Limits {
        subscriptions_max: 2,
        subscription_uris_max: 2,
        subscriptions_bytes_max: 6,
        ..Limits::default()
    };
    let (mut env, mut subscribers) = modern(limits);
    let mut is_taken = |env: &mut Env, id: &str, uris: &str| {
        subscribe(env, &mut subscribers, (1, id), uris).is_ok()
    };
    assert!(!is_taken(&mut env, "a", r#"["x","y","z"]"#));
    assert!(!is_taken(&mut env, "a", r#"["x:12345"]"#));
    assert!(is_taken(&mut env, "a", r#"["x:1","x:2"]"#));
    assert!(!is_taken(&mut env, "b", r#"["x:"]"#), "the byte limit is reached");
    assert!(is_taken(&mut env, "b", "[]"));
    assert!(!is_taken(&mut env, "c", "[]"), "the maximum is two");
    assert!(subscribers.unsubscribe(&mut env, &"a".into()));
    assert!(subscribe(&mut env, &mut subscribers, (1, "c"), r#"["x:1","x:2"]"#).is_ok());
}

#[test]
fn every_subscription_is_answered_when_the_server_closes_stl_36_t_102() {
    for has_streams in [false, true] {
        let (mut env, mut subscribers) = modern(Limits::default());
        if has_streams {
            env.out.use_streams();
        }
        subscribe(&mut env, &mut subscribers, (1, "a"), r#"["x:1"]"#).unwrap();
        env.sent();
        env.take_events();
        subscribers.end(&mut env);
        assert_eq!(watched(&mut env), ["-x:1"]);
        let response = env.out.poll().unwrap();
        assert_eq!((response.route, response.last), (Route::Stream(StreamId(1)), has_streams));
        let text = core::str::from_utf8(response.body).unwrap();
        assert!(
            text.contains(r#""id":"a","result""#) && text.contains(r#"subscriptionId":"a""#),
            "{text}"
        );
        // On stdio a cancellation follows.
        let cancelled = tagged(&mut env);
        assert_eq!(cancelled, pairs(if has_streams { &[] } else { &[("cancelled", "")] }));
    }
}

#[test]
fn each_principal_is_reported_separately() {
    let (mut env, mut subscribers) = modern(Limits::default());
    let [ada, eve] = ["ada", "eve"].map(|id| Principal::new(id).unwrap());
    let mut listen = |env: &mut Env, id: &str, principal: Option<&Principal>| {
        let filter = Filter::new().resource("x:1");
        subscribers.open(env, StreamId(1), &id.into(), filter, principal).unwrap();
        principals(env)
    };
    assert_eq!(listen(&mut env, "a", Some(&ada)), ["+ada"]);
    assert_eq!(listen(&mut env, "b", Some(&ada)), [""; 0], "it was watched before");
    assert_eq!(listen(&mut env, "e", Some(&eve)), ["+eve"]);
    assert_eq!(listen(&mut env, "n", None), ["+"]);
    let mut ends = |env: &mut Env, id: &str| {
        assert!(subscribers.unsubscribe(env, &id.into()));
        principals(env)
    };
    assert_eq!(ends(&mut env, "a"), [""; 0]);
    assert_eq!(ends(&mut env, "n"), ["-"]);
    assert_eq!(ends(&mut env, "b"), ["-ada"]);
    subscribers.forget_watched(&mut env);
    assert_eq!(principals(&mut env), ["-eve"]);
}

#[test]
fn a_session_is_subscribed_as_the_principal_that_subscribed_it() {
    let mut env = Env::for_test(Side::Server, Limits::default(), LEGACY);
    let mut subscribers = Subscribers::default();
    let [ada, eve] = ["ada", "eve"].map(|id| Principal::new(id).unwrap());
    subscribers.subscribe_in_session(&mut env, "x:1", Some(&ada)).unwrap();
    assert!(subscribers.has_in_session("x:1", Some(&ada)));
    assert!(!subscribers.has_in_session("x:1", Some(&eve)));
    assert!(!subscribers.has_in_session("x:1", None) && !subscribers.has_in_session("x:2", None));
    assert_eq!(principals(&mut env), ["+ada"]);
    subscribers.unsubscribe_in_session(&mut env, "x:1");
    assert_eq!(principals(&mut env), ["-ada"]);
}

/// Takes the principals of reported resources: `+` for watched, `-` for unwatched.
fn principals(env: &mut Env) -> Vec<String> {
    let shown = |event| match event {
        Event::Watched { principal, .. } => ("+", principal),
        Event::Unwatched { principal, .. } => ("-", principal),
        other => panic!("{other:?}"),
    };
    let events = env.take_events().into_iter().map(shown);
    let id = |principal: Option<Principal>| principal.map(|it| String::from(it.id()));
    events.map(|(sign, it)| format!("{sign}{}", id(it).unwrap_or_default())).collect()
}
