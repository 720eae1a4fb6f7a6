//! Tests of the cache alone, and of a client with a cache.

use alloc::format;
use alloc::string::{String, ToString};

use super::*;
use crate::client::{Client, Config, Event};
use crate::json::Raw;
use crate::limits::Limits;
use crate::message_endpoint::MessageEndpoint;
use crate::revision::Revision;
use crate::vocabulary::{CallId, CallOptions, StreamId};

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn key(method: &str, params: &str) -> Option<CacheKey> {
    Cache::key(MethodRule::find(method, true, Revision::V2026_07_28), Some(params.as_bytes()))
}

fn raw(text: &str) -> Raw {
    Raw::from_text(text).unwrap()
}

/// Returns a result with this `ttlMs`.
fn fresh_for(ttl: &str) -> Raw {
    raw(&format!(r#"{{"tools":[],"ttlMs":{ttl},"cacheScope":"private"}}"#))
}

const PLENTY: usize = 1 << 20;

/// The methods whose results are cached.
const CACHED: [&str; 6] = [
    "server/discover",
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
];

// STL-41
#[test]
fn a_key_is_the_method_and_the_params_but_for_meta_stl_41() {
    for method in CACHED {
        assert!(key(method, "{}").is_some(), "{method}");
    }
    for method in
        ["tools/call", "prompts/get", "completion/complete", "subscriptions/listen", "x/y"]
    {
        assert_eq!(key(method, "{}"), None, "{method}");
    }
    for revision in Revision::LEGACY {
        assert_eq!(
            Cache::key(MethodRule::find("tools/list", true, revision), None),
            None,
            "{revision}"
        );
    }
    let equal = ["{}", r#"{"_meta":{"a":1}}"#, r#"{"\u005fmeta":{"a":2}}"#];
    for params in equal {
        assert_eq!(key("tools/list", params), key("tools/list", "{}"), "{params}");
    }
    let others = [
        ("tools/list", r#"{"cursor":"1"}"#),
        ("tools/list", r#"{"cursor":"2"}"#),
        ("tools/list", r#"{"cursor":1}"#),
        ("prompts/list", r#"{"cursor":"1"}"#),
        ("resources/read", r#"{"uri":"a"}"#),
        ("resources/read", r#"{"uri":"a","x":1}"#),
        ("resources/read", r#"{"uri":"a\nx:1"}"#),
    ];
    for (index, (method, params)) in others.iter().enumerate() {
        for (other, others) in others.iter().take(index) {
            assert_ne!(key(method, params), key(other, others), "{params} {others}");
        }
    }
}

#[test]
fn calls_with_input_have_no_key_stl_41() {
    for params in [
        r#"{"uri":"a","inputResponses":{}}"#,
        r#"{"uri":"a","requestState":"s"}"#,
        r#"{"uri":"a","request\u0053tate":"s"}"#,
    ] {
        assert_eq!(key("resources/read", params), None, "{params}");
    }
}

#[test]
fn a_result_expires_exactly_after_its_ttl_stl_42() {
    let mut cache = Cache::default();
    let key = key("tools/list", "{}").unwrap();
    cache.insert(key.clone(), &fresh_for("1000"), at(500), PLENTY);
    assert_eq!(cache.find(&key, at(500)), Some(fresh_for("1000")));
    let last = Instant::from_nanos(at(1500).as_nanos() - 1);
    assert_eq!(cache.find(&key, last), Some(fresh_for("1000")));
    assert_eq!(cache.find(&key, at(1500)), None);
    // A number without a fraction is an integer.
    cache.insert(key.clone(), &fresh_for("1000.0"), at(500), PLENTY);
    assert_eq!((cache.find(&key, at(1500)), cache.find(&key, last).is_some()), (None, true));
    // The largest TTL does not overflow the time.
    cache.insert(key.clone(), &fresh_for("18446744073709551615"), at(500), PLENTY);
    assert!(cache.find(&key, at(10_000_000)).is_some());
}

#[test]
fn a_result_without_a_ttl_is_not_cached_and_replaces_the_previous_one_stl_42() {
    let key = key("tools/list", "{}").unwrap();
    let bad = ["0", "-1", "null", r#""1000""#, "[]", "1.5", "18446744073709551616"].map(fresh_for);
    for result in bad.into_iter().chain([raw(r#"{"tools":[]}"#), raw("{}")]) {
        let mut cache = Cache::default();
        cache.insert(key.clone(), &fresh_for("1000"), at(0), PLENTY);
        cache.insert(key.clone(), &result, at(0), PLENTY);
        assert_eq!(cache.find(&key, at(0)), None, "{result}");
        assert_eq!((cache.entries.len(), cache.by_age.len(), cache.bytes), (0, 0, 0), "{result}");
    }
}

/// A connection serves one principal, so private results may stay in its cache.
#[test]
fn private_and_public_results_are_cached_alike_t_110() {
    for scope in ["private", "public"] {
        let mut cache = Cache::default();
        let key = key("prompts/list", "{}").unwrap();
        let result = raw(&format!(r#"{{"prompts":[],"ttlMs":5,"cacheScope":"{scope}"}}"#));
        cache.insert(key.clone(), &result, at(0), PLENTY);
        assert_eq!(cache.find(&key, at(4)), Some(result), "{scope}");
    }
}

#[test]
fn a_change_invalidates_the_results_of_its_methods_only_stl_42() {
    for (change, ended) in [
        (MethodId::ToolsChanged, &["tools/list"][..]),
        (MethodId::PromptsChanged, &["prompts/list"]),
        (
            MethodId::ResourcesChanged,
            &["resources/list", "resources/templates/list", "resources/read"],
        ),
        (MethodId::ResourceUpdated, &["resources/read"]),
        (MethodId::LogMessage, &[]),
    ] {
        let mut cache = Cache::default();
        for (method, params) in
            CACHED.iter().flat_map(|method| [(*method, "{}"), (*method, r#"{"a":1}"#)])
        {
            cache.insert(key(method, params).unwrap(), &fresh_for("1000"), at(0), PLENTY);
        }
        cache.invalidate_for(change);
        for method in CACHED {
            for params in ["{}", r#"{"a":1}"#] {
                let is_kept = cache.find(&key(method, params).unwrap(), at(0)).is_some();
                assert_eq!(is_kept, !ended.contains(&method), "{change} and {method} {params}");
            }
        }
    }
}

#[test]
fn bytes_are_bounded_by_evicting_the_oldest() {
    let page =
        |number: usize| key("tools/list", &format!(r#"{{"cursor":"{number:03}"}}"#)).unwrap();
    let mut one = Cache::default();
    one.insert(page(0), &fresh_for("1000"), at(0), PLENTY);
    let cost = one.bytes;
    assert!(cost > page(0).len() + fresh_for("1000").as_bytes().len());

    let mut cache = Cache::default();
    let bytes_max = 3 * cost + cost / 2;
    for number in 0..100 {
        cache.insert(page(number), &fresh_for("1000"), at(0), bytes_max);
        assert!(cache.bytes <= bytes_max);
        let kept: Vec<usize> =
            (0..100).filter(|number| cache.find(&page(*number), at(0)).is_some()).collect();
        let wanted: Vec<usize> = (number.saturating_sub(2)..=number).collect();
        assert_eq!(kept, wanted);
    }
    // Replacing a result makes it the youngest.
    cache.insert(page(97), &fresh_for("2000"), at(0), bytes_max);
    cache.insert(page(100), &fresh_for("1000"), at(0), bytes_max);
    assert_eq!(cache.find(&page(98), at(0)), None);
    assert_eq!(cache.find(&page(97), at(0)), Some(fresh_for("2000")));
    // A result larger than the cache evicts nothing.
    let large = raw(&format!(r#"{{"tools":[],"ttlMs":1,"x":"{}"}}"#, "x".repeat(bytes_max)));
    cache.insert(page(101), &large, at(0), bytes_max);
    assert_eq!((cache.find(&page(101), at(0)), cache.entries.len()), (None, 3));
    cache.invalidate_method("tools/list");
    assert_eq!((cache.entries.len(), cache.by_age.len(), cache.bytes), (0, 0, 0));
}

/// A modern client of a server with all capabilities.
struct Caching {
    client: Client,
    now: Instant,
}

impl Caching {
    fn new(cache_bytes_max: usize) -> Self {
        let limits = Limits { cache_bytes_max, ..Limits::default() };
        let client = Client::new(Instant::ZERO, Config::new("c", "1").limits(limits));
        let mut caching = Self { client, now: Instant::ZERO };
        let capabilities = r#"{"tools":{"listChanged":true},"resources":{},"prompts":{}}"#;
        let versions = r#""supportedVersions":["2026-07-28"]"#;
        caching.answer(&format!(
            r#""result":{{"resultType":"complete",{versions},"capabilities":{capabilities}}}"#
        ));
        assert!(matches!(caching.client.poll_event(), Some(Event::Ready(_))));
        caching
    }

    fn sent(&mut self) -> Option<serde_json::Value> {
        self.client.poll_outgoing().map(|outgoing| serde_json::from_slice(outgoing.body).unwrap())
    }

    /// Responds to the request that was just sent.
    fn answer(&mut self, outcome: &str) {
        let id = self.sent().expect("a request")["id"].to_string();
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#);
        self.client.handle_message(self.now, StreamId::ONLY, line.as_bytes());
    }

    fn call_with(&mut self, method: &str, params: &str, options: CallOptions) -> CallId {
        self.client.call_raw(self.now, method, Some(&raw(params)), options).unwrap()
    }

    fn call(&mut self, method: &str, params: &str) -> CallId {
        self.call_with(method, params, CallOptions::default())
    }

    /// Returns the outcome of a call, which must be the only event.
    fn outcome(&mut self, call: CallId) -> Result<String, CallError> {
        let Some(Event::Completed { call: ended, outcome }) = self.client.poll_event() else {
            panic!("{call} did not end")
        };
        assert_eq!(ended, call);
        assert!(self.client.poll_event().is_none());
        outcome.map(|result| result.to_string())
    }

    /// Makes a call, responds if it was sent, and returns whether it was sent.
    fn is_sent(&mut self, method: &str, params: &str, options: CallOptions) -> bool {
        let call = self.call_with(method, params, options);
        let is_sent = self.client.has_outgoing();
        if is_sent {
            self.answer(&format!(r#""result":{}"#, fresh_for("1000")));
        }
        assert_eq!(self.outcome(call), Ok(fresh_for("1000").to_string()));
        is_sent
    }
}

#[test]
fn the_cache_is_off_by_default() {
    assert_eq!(Limits::default().cache_bytes_max, 0);
    for (bytes_max, second_is_sent) in [(0, true), (PLENTY, false)] {
        let mut caching = Caching::new(bytes_max);
        assert!(caching.is_sent("tools/list", "{}", CallOptions::default()));
        let is_sent = caching.is_sent("tools/list", "{}", CallOptions::default());
        assert_eq!(is_sent, second_is_sent, "{bytes_max}");
    }
}

#[test]
fn a_fresh_call_bypasses_the_cache_and_its_result_is_cached_stl_42() {
    let mut caching = Caching::new(PLENTY);
    let fresh = || CallOptions { bypass_cache: true, ..CallOptions::default() };
    assert!(caching.is_sent("tools/list", "{}", fresh()));
    caching.now = at(999);
    assert!(!caching.is_sent("tools/list", "{}", CallOptions::default()));
    assert!(caching.is_sent("tools/list", "{}", fresh()));
    caching.now = at(1998);
    assert!(!caching.is_sent("tools/list", "{}", CallOptions::default()));
    caching.now = at(1999);
    assert!(caching.is_sent("tools/list", "{}", CallOptions::default()));
}

// STL-41
#[test]
fn results_that_required_input_are_not_cached_stl_41() {
    let mut caching = Caching::new(PLENTY);
    for _ in 0..2 {
        let call = caching.call("resources/read", r#"{"uri":"a"}"#);
        caching
            .answer(r#""result":{"resultType":"input_required","requestState":"s","ttlMs":9999}"#);
        caching.answer(&format!(r#""result":{}"#, fresh_for("1000")));
        assert!(caching.outcome(call).is_ok());
    }
    // Without a round of input they are.
    assert!(caching.is_sent("resources/read", r#"{"uri":"a"}"#, CallOptions::default()));
    assert!(!caching.is_sent("resources/read", r#"{"uri":"a"}"#, CallOptions::default()));
}

#[test]
fn errors_are_not_cached() {
    let mut caching = Caching::new(PLENTY);
    for _ in 0..2 {
        let call = caching.call("tools/list", "{}");
        caching.answer(r#""error":{"code":-32603,"message":"broken","data":{"ttlMs":1000}}"#);
        assert!(matches!(caching.outcome(call), Err(CallError::Refused(_))));
    }
}

// STL-45
#[test]
fn only_an_invalid_cursor_invalidates_the_pages_of_its_list_stl_45() {
    let next = r#"{"cursor":"2"}"#;
    for (params, code, invalidates) in
        [(next, -32602, true), ("{\"x\":1}", -32602, false), (next, -32603, false)]
    {
        let mut caching = Caching::new(PLENTY);
        assert!(caching.is_sent("tools/list", "{}", CallOptions::default()));
        assert!(caching.is_sent("prompts/list", "{}", CallOptions::default()));
        let call = caching.call("tools/list", params);
        caching.answer(&format!(r#""error":{{"code":{code},"message":"no"}}"#));
        assert!(caching.outcome(call).is_err());
        let is_sent = caching.is_sent("tools/list", "{}", CallOptions::default());
        assert_eq!(is_sent, invalidates, "{params} {code}");
        assert!(!caching.is_sent("prompts/list", "{}", CallOptions::default()));
    }
}

#[test]
fn a_result_that_crossed_a_change_is_not_cached_stl_42() {
    for (change, is_kept) in [(MethodId::ToolsChanged, false), (MethodId::PromptsChanged, true)] {
        let mut caching = Caching::new(PLENTY);
        let filter = crate::vocabulary::Filter::new().tools();
        let listening =
            caching.client.subscribe(caching.now, &filter, CallOptions::default()).unwrap();
        let tag =
            format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}"#, listening.0);
        caching.sent();
        let ack = "notifications/subscriptions/acknowledged";
        let notify = |client: &mut Client, method: &str, more: &str| {
            let line =
                format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{{tag}{more}}}}}"#);
            client.handle_message(Instant::ZERO, StreamId::ONLY, line.as_bytes());
            while client.poll_event().is_some() {}
        };
        notify(&mut caching.client, ack, r#","notifications":{"toolsListChanged":true}"#);
        let call = caching.call("tools/list", "{}");
        notify(&mut caching.client, change.name(), "");
        caching.answer(&format!(r#""result":{}"#, fresh_for("1000")));
        assert!(caching.outcome(call).is_ok());
        assert_eq!(
            !caching.is_sent("tools/list", "{}", CallOptions::default()),
            is_kept,
            "{change}"
        );
        assert!(
            !caching.is_sent("tools/list", "{}", CallOptions::default()),
            "called after the change"
        );
    }
}

#[test]
fn the_bound_is_exact() {
    let mut cache = Cache::default();
    let key = |cursor: &str| key("tools/list", &format!(r#"{{"cursor":"{cursor}"}}"#)).unwrap();
    let insert = |cache: &mut Cache, cursor: &str, bytes_max| {
        cache.insert(key(cursor), &fresh_for("1000"), at(0), bytes_max);
        cache.bytes
    };
    let one = insert(&mut cache, "a", PLENTY);
    assert_eq!(insert(&mut cache, "b", 2 * one), 2 * one, "both fit");
    assert_eq!(insert(&mut cache, "c", 2 * one), 2 * one, "the oldest is evicted");
    assert!(cache.find(&key("a"), at(0)).is_none());
    assert!(cache.find(&key("b"), at(0)).is_some());
    assert_eq!(insert(&mut cache, "d", 2 * one - 1), one, "two do not fit");
}
