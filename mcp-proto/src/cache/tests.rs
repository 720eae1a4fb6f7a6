//! The cache by itself, and a client that has one.

use alloc::format;
use alloc::string::{String, ToString};

use super::*;
use crate::client::{Client, Config, Event};
use crate::connection::{CallId, CallOptions, Session, StreamId};
use crate::json::Raw;
use crate::limits::Limits;
use crate::revision::Revision;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn key(method: &str, params: &str) -> Option<CacheKey> {
    Cache::key(MethodRule::find(method, true, Revision::V2026_07_28), Some(params.as_bytes()))
}

fn raw(text: &str) -> Raw {
    Raw::from_text(text).unwrap()
}

/// A result that is good for so long.
fn good_for(ttl: &str) -> Raw {
    raw(&format!(r#"{{"tools":[],"ttlMs":{ttl},"cacheScope":"private"}}"#))
}

const PLENTY: usize = 1 << 20;

/// What can be used again.
const CACHED: [&str; 6] = [
    "server/discover",
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
];

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
    let same = ["{}", r#"{"_meta":{"a":1}}"#, r#"{"\u005fmeta":{"a":2}}"#];
    for params in same {
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
fn what_answers_gathered_input_has_no_key_stl_41() {
    for params in [
        r#"{"uri":"a","inputResponses":{}}"#,
        r#"{"uri":"a","requestState":"s"}"#,
        r#"{"uri":"a","request\u0053tate":"s"}"#,
    ] {
        assert_eq!(key("resources/read", params), None, "{params}");
    }
}

#[test]
fn an_answer_is_good_until_its_time_is_up_and_not_a_moment_longer_stl_42() {
    let mut cache = Cache::default();
    let key = key("tools/list", "{}").unwrap();
    cache.keep(key.clone(), &good_for("1000"), at(500), PLENTY);
    assert_eq!(cache.find(&key, at(500)), Some(good_for("1000")));
    let last = Instant::from_nanos(at(1500).as_nanos() - 1);
    assert_eq!(cache.find(&key, last), Some(good_for("1000")));
    assert_eq!(cache.find(&key, at(1500)), None);
    // For ever is not beyond the end of time.
    cache.keep(key.clone(), &good_for("18446744073709551615"), at(500), PLENTY);
    assert!(cache.find(&key, at(10_000_000)).is_some());
}

#[test]
fn an_answer_that_is_good_for_no_time_is_not_kept_and_ends_the_one_before_stl_42() {
    let key = key("tools/list", "{}").unwrap();
    let bad = ["0", "-1", "null", r#""1000""#, "[]", "1.5", "18446744073709551616"].map(good_for);
    for result in bad.into_iter().chain([raw(r#"{"tools":[]}"#), raw("{}")]) {
        let mut cache = Cache::default();
        cache.keep(key.clone(), &good_for("1000"), at(0), PLENTY);
        cache.keep(key.clone(), &result, at(0), PLENTY);
        assert_eq!(cache.find(&key, at(0)), None, "{result}");
        assert_eq!((cache.entries.len(), cache.by_age.len(), cache.bytes), (0, 0, 0), "{result}");
    }
}

/// One connection is one principal's, so what is private stays with it.
#[test]
fn private_and_public_answers_are_kept_alike_by_one_connection_t_110() {
    for scope in ["private", "public"] {
        let mut cache = Cache::default();
        let key = key("prompts/list", "{}").unwrap();
        let result = raw(&format!(r#"{{"prompts":[],"ttlMs":5,"cacheScope":"{scope}"}}"#));
        cache.keep(key.clone(), &result, at(0), PLENTY);
        assert_eq!(cache.find(&key, at(4)), Some(result), "{scope}");
    }
}

#[test]
fn a_change_ends_the_answers_that_it_is_about_and_no_others_stl_42() {
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
            cache.keep(key(method, params).unwrap(), &good_for("1000"), at(0), PLENTY);
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
fn bytes_are_bounded_and_the_oldest_gives_way() {
    let page =
        |number: usize| key("tools/list", &format!(r#"{{"cursor":"{number:03}"}}"#)).unwrap();
    let mut one = Cache::default();
    one.keep(page(0), &good_for("1000"), at(0), PLENTY);
    let cost = one.bytes;
    assert!(cost > page(0).len() + good_for("1000").as_bytes().len());

    let mut cache = Cache::default();
    let bytes_max = 3 * cost + cost / 2;
    for number in 0..100 {
        cache.keep(page(number), &good_for("1000"), at(0), bytes_max);
        assert!(cache.bytes <= bytes_max);
        let kept: Vec<usize> =
            (0..100).filter(|number| cache.find(&page(*number), at(0)).is_some()).collect();
        let wanted: Vec<usize> = (number.saturating_sub(2)..=number).collect();
        assert_eq!(kept, wanted);
    }
    // What is kept anew is young again, and takes the place of what it was.
    cache.keep(page(97), &good_for("2000"), at(0), bytes_max);
    cache.keep(page(100), &good_for("1000"), at(0), bytes_max);
    assert_eq!(cache.find(&page(98), at(0)), None);
    assert_eq!(cache.find(&page(97), at(0)), Some(good_for("2000")));
    // What is larger than all there is moves nobody out.
    let large = raw(&format!(r#"{{"tools":[],"ttlMs":1,"x":"{}"}}"#, "x".repeat(bytes_max)));
    cache.keep(page(101), &large, at(0), bytes_max);
    assert_eq!((cache.find(&page(101), at(0)), cache.entries.len()), (None, 3));
    cache.invalidate_method("tools/list");
    assert_eq!((cache.entries.len(), cache.by_age.len(), cache.bytes), (0, 0, 0));
}

/// A modern client of a server that has everything.
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
        caching.answer(&format!(
            r#""result":{{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{capabilities}}}"#
        ));
        assert!(matches!(caching.client.poll_event(), Some(Event::Ready(_))));
        caching
    }

    fn sent(&mut self) -> Option<serde_json::Value> {
        self.client.poll_outgoing().map(|outgoing| serde_json::from_slice(outgoing.body).unwrap())
    }

    /// Answers the request that was just sent.
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

    /// The end of a call, which must be the one event there is.
    fn outcome(&mut self, call: CallId) -> Result<String, CallError> {
        let Some(Event::Completed { call: ended, outcome }) = self.client.poll_event() else {
            panic!("{call} did not end")
        };
        assert_eq!(ended, call);
        assert!(self.client.poll_event().is_none());
        outcome.map(|result| result.to_string())
    }

    /// Calls, and answers if it was asked; whether it was.
    fn is_asked(&mut self, method: &str, params: &str, options: CallOptions) -> bool {
        let call = self.call_with(method, params, options);
        let is_asked = self.client.has_outgoing();
        if is_asked {
            self.answer(&format!(r#""result":{}"#, good_for("1000")));
        }
        assert_eq!(self.outcome(call), Ok(good_for("1000").to_string()));
        is_asked
    }
}

#[test]
fn there_is_no_cache_unless_one_is_wanted() {
    assert_eq!(Limits::default().cache_bytes_max, 0);
    for (bytes_max, second_is_asked) in [(0, true), (PLENTY, false)] {
        let mut caching = Caching::new(bytes_max);
        assert!(caching.is_asked("tools/list", "{}", CallOptions::default()));
        let is_asked = caching.is_asked("tools/list", "{}", CallOptions::default());
        assert_eq!(is_asked, second_is_asked, "{bytes_max}");
    }
}

#[test]
fn a_call_that_wants_it_fresh_is_made_and_its_answer_kept_stl_42() {
    let mut caching = Caching::new(PLENTY);
    let fresh = || CallOptions { fresh: true, ..CallOptions::default() };
    assert!(caching.is_asked("tools/list", "{}", fresh()));
    caching.now = at(999);
    assert!(!caching.is_asked("tools/list", "{}", CallOptions::default()));
    assert!(caching.is_asked("tools/list", "{}", fresh()));
    caching.now = at(1998);
    assert!(!caching.is_asked("tools/list", "{}", CallOptions::default()));
    caching.now = at(1999);
    assert!(caching.is_asked("tools/list", "{}", CallOptions::default()));
}

#[test]
fn what_took_input_to_get_is_never_kept_stl_41() {
    let mut caching = Caching::new(PLENTY);
    for _ in 0..2 {
        let call = caching.call("resources/read", r#"{"uri":"a"}"#);
        caching
            .answer(r#""result":{"resultType":"input_required","requestState":"s","ttlMs":9999}"#);
        caching.answer(&format!(r#""result":{}"#, good_for("1000")));
        assert!(caching.outcome(call).is_ok());
    }
    // Without a round it is.
    assert!(caching.is_asked("resources/read", r#"{"uri":"a"}"#, CallOptions::default()));
    assert!(!caching.is_asked("resources/read", r#"{"uri":"a"}"#, CallOptions::default()));
}

#[test]
fn an_error_is_never_kept() {
    let mut caching = Caching::new(PLENTY);
    for _ in 0..2 {
        let call = caching.call("tools/list", "{}");
        caching.answer(r#""error":{"code":-32603,"message":"broken","data":{"ttlMs":1000}}"#);
        assert!(matches!(caching.outcome(call), Err(CallError::Refused(_))));
    }
}

#[test]
fn a_bad_cursor_ends_all_pages_of_its_list_and_no_other_error_does_stl_45() {
    let next = r#"{"cursor":"2"}"#;
    for (params, code, is_end) in
        [(next, -32602, true), ("{\"x\":1}", -32602, false), (next, -32603, false)]
    {
        let mut caching = Caching::new(PLENTY);
        assert!(caching.is_asked("tools/list", "{}", CallOptions::default()));
        assert!(caching.is_asked("prompts/list", "{}", CallOptions::default()));
        let call = caching.call("tools/list", params);
        caching.answer(&format!(r#""error":{{"code":{code},"message":"no"}}"#));
        assert!(caching.outcome(call).is_err());
        let is_asked = caching.is_asked("tools/list", "{}", CallOptions::default());
        assert_eq!(is_asked, is_end, "{params} {code}");
        assert!(!caching.is_asked("prompts/list", "{}", CallOptions::default()));
    }
}

#[test]
fn an_answer_that_crossed_the_news_of_a_change_is_not_kept_stl_42() {
    for (change, is_kept) in [(MethodId::ToolsChanged, false), (MethodId::PromptsChanged, true)] {
        let mut caching = Caching::new(PLENTY);
        let filter = crate::connection::Filter::new().tools();
        let listening =
            caching.client.listen(caching.now, &filter, CallOptions::default()).unwrap();
        let tag =
            format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}"#, listening.0);
        caching.sent();
        let ack = "notifications/subscriptions/acknowledged";
        let tell = |client: &mut Client, method: &str, more: &str| {
            let line =
                format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{{tag}{more}}}}}"#);
            client.handle_message(Instant::ZERO, StreamId::ONLY, line.as_bytes());
            while client.poll_event().is_some() {}
        };
        tell(&mut caching.client, ack, r#","notifications":{"toolsListChanged":true}"#);
        let call = caching.call("tools/list", "{}");
        tell(&mut caching.client, change.name(), "");
        caching.answer(&format!(r#""result":{}"#, good_for("1000")));
        assert!(caching.outcome(call).is_ok());
        assert_eq!(
            !caching.is_asked("tools/list", "{}", CallOptions::default()),
            is_kept,
            "{change}"
        );
        assert!(
            !caching.is_asked("tools/list", "{}", CallOptions::default()),
            "asked for after the change"
        );
    }
}

#[test]
fn as_much_is_kept_as_fits_to_the_byte() {
    let mut cache = Cache::default();
    let key = |cursor: &str| key("tools/list", &format!(r#"{{"cursor":"{cursor}"}}"#)).unwrap();
    let keep = |cache: &mut Cache, cursor: &str, bytes_max| {
        cache.keep(key(cursor), &good_for("1000"), at(0), bytes_max);
        cache.bytes
    };
    let one = keep(&mut cache, "a", PLENTY);
    assert_eq!(keep(&mut cache, "b", 2 * one), 2 * one, "both fit");
    assert_eq!(keep(&mut cache, "c", 2 * one), 2 * one, "the oldest gives way");
    assert!(cache.find(&key("a"), at(0)).is_none());
    assert!(cache.find(&key("b"), at(0)).is_some());
    assert_eq!(keep(&mut cache, "d", 2 * one - 1), one, "and two do not");
}
