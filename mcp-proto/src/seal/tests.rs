//! What opens and what does not, and the stability of the format.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::*;
use crate::error::code;
use crate::json::{Raw, testing};
use crate::method::Method;

const NOW: u64 = 1_790_000_000;
const LATER: u64 = NOW + 600;
const PARAMS: &str = r#"{"name":"book","arguments":{"seats":2,"note":"a b"}}"#;

/// Compiles only while the hash states that hold a key are wiped.
#[test]
fn keys_are_wiped_from_memory() {
    use sha2::digest::zeroize::ZeroizeOnDrop;

    fn is_wiped<T: ZeroizeOnDrop>() {}
    is_wiped::<Sha256>();
}

fn seal() -> Seal {
    Seal::new(&key(0, 32)).unwrap()
}

/// Returns the bytes from `first` on.
fn key(first: u8, bytes: usize) -> Vec<u8> {
    (first..=u8::MAX).cycle().take(bytes).collect()
}

fn request(method: &str, params: Option<&str>) -> Request {
    let params = params.map(|params| Raw::from_text(params).unwrap());
    Request { method: Method::from(method), params }
}

fn call(params: &str) -> Request {
    request("tools/call", Some(params))
}

fn ada(request: &Request) -> Binding<'_> {
    // Leaked, because the binding borrows it.
    let ada = Box::leak(Box::new(Principal::new("ada").unwrap()));
    Binding { principal: Some(ada), request }
}

/// Returns whether state sealed for one call of Ada's opens for another.
fn opens_for(sealed_for: &Request, opened_for: &Request) -> bool {
    let sealed = seal().seal("state", &ada(sealed_for), LATER).unwrap();
    match seal().open(&sealed, &ada(opened_for), NOW) {
        Ok(state) => state == "state",
        Err(error) => {
            assert_eq!(error, OpenError::Invalid);
            false
        }
    }
}

#[test]
fn sealed_state_opens_unchanged_stl_23() {
    let request = call(PARAMS);
    for state in
        ["", "a", "ab", "abc", "{\"step\":2}\n", "é\0\u{1f600}", &"x".repeat(STATE_BYTES_MAX)]
    {
        let sealed = seal().seal(state, &ada(&request), LATER).unwrap();
        assert_eq!(seal().open(&sealed, &ada(&request), NOW).as_deref(), Ok(state));
        assert!(sealed.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte)));
        assert!(sealed.len() <= SEALED_CHARS_MAX);
    }
}

/// The expected text was computed independently, with Python's `hmac`. If this fails, the format
/// has changed: texts held by clients no longer open, and `VERSION` and `DOMAIN` must change, too.
#[test]
fn the_format_is_stable_stl_23() {
    let request = call(PARAMS);
    let sealed = seal().seal("step 2: é", &ada(&request), LATER).unwrap();
    assert_eq!(sealed, "v1.AAAAAGqxPdjCeF04T5bn60YghYODA4xJjOLX2GRDef3OUnpZTI71I3N0ZXAgMjogw6k");
}

// STL-23
#[test]
fn any_changed_missing_or_added_byte_breaks_the_seal_stl_23() {
    let request = call(PARAMS);
    let broken = |text: &[u8]| {
        let Ok(text) = core::str::from_utf8(text) else { return };
        assert_eq!(seal().open(text, &ada(&request), NOW), Err(OpenError::Invalid), "{text}");
    };
    // Three lengths: for two of them, the last character of the text has unused bits.
    for state in ["", "a", "ab"] {
        let sealed = seal().seal(state, &ada(&request), LATER).unwrap().into_bytes();
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            for byte in (0..=u8::MAX).filter(|byte| *byte != sealed[at]) {
                changed[at] = byte;
                broken(&changed);
            }
            let mut shorter = sealed.clone();
            shorter.remove(at);
            broken(&shorter);
            broken(&sealed[..at]);
        }
        for at in 0..=sealed.len() {
            for byte in *b" =.Av\n" {
                let mut longer = sealed.clone();
                longer.insert(at, byte);
                broken(&longer);
            }
        }
    }
}

// STL-23
#[test]
fn another_key_does_not_open_the_seal_stl_23() {
    let request = call(PARAMS);
    let sealed = seal().seal("state", &ada(&request), LATER).unwrap();
    for other in [key(1, 32), key(0, 33)] {
        let other = Seal::new(&other).unwrap().with_old_key(&key(2, 40)).unwrap();
        assert_eq!(other.open(&sealed, &ada(&request), NOW), Err(OpenError::Invalid));
    }
}

// STL-24
#[test]
fn another_principal_does_not_open_the_seal_stl_24() {
    let request = call(PARAMS);
    let sealed = seal().seal("state", &ada(&request), LATER).unwrap();
    let none = Binding { principal: None, request: &request };
    assert_eq!(seal().open(&sealed, &none, NOW), Err(OpenError::Invalid));
    let anonymous = seal().seal("state", &none, LATER).unwrap();
    assert_eq!(seal().open(&anonymous, &none, NOW).as_deref(), Ok("state"));
    for id in ["eve", "ad", "adaa", "Ada", "ada\0", "adatools/call", "\0", "none", "null"] {
        let principal = Principal::new(id);
        let bound = Binding { principal: principal.as_ref(), request: &request };
        assert_eq!(seal().open(&sealed, &bound, NOW), Err(OpenError::Invalid), "{id}");
        assert_eq!(seal().open(&anonymous, &bound, NOW), Err(OpenError::Invalid), "{id}");
    }
    assert_eq!(seal().open(&anonymous, &ada(&request), NOW), Err(OpenError::Invalid));
}

// STL-24
#[test]
fn another_request_does_not_open_the_seal_stl_24() {
    let first = call(PARAMS);
    assert!(opens_for(&first, &first));
    assert!(!opens_for(&first, &request("prompts/get", Some(PARAMS))), "another method");
    assert!(!opens_for(&first, &request("tools/call", None)), "no params");
    for params in [
        "{}",
        r#"{"name":"book"}"#,
        r#"{"name":"Book","arguments":{"seats":2,"note":"a b"}}"#,
        r#"{"name":"book","arguments":{"seats":3,"note":"a b"}}"#,
        r#"{"name":"book","arguments":{"seats":2,"note":"ab"}}"#,
        r#"{"name":"book","arguments":{"seats":2,"note":"a b"},"more":null}"#,
        r#"{"name":"book","Arguments":{"seats":2,"note":"a b"}}"#,
        r#"{"book":"name","arguments":{"seats":2,"note":"a b"}}"#,
    ] {
        assert!(!opens_for(&first, &call(params)), "{params}");
        assert!(!opens_for(&call(params), &first), "{params}");
    }
}

#[test]
fn values_are_compared_as_they_are_written_stl_24() {
    let first = call(PARAMS);
    for params in [
        r#"{"name":"b\u006fok","arguments":{"seats":2,"note":"a b"}}"#,
        r#"{"name":"book","arguments":{"seats":2.0,"note":"a b"}}"#,
        r#"{"name":"book","arguments":{"note":"a b","seats":2}}"#,
    ] {
        assert!(!opens_for(&first, &call(params)), "{params}");
    }
}

#[test]
fn members_added_by_a_retry_and_their_order_are_ignored_stl_21_stl_24() {
    let first = call(PARAMS);
    for params in [
        r#"{"arguments":{"seats":2,"note":"a b"},"name":"book"}"#,
        r#"{ "name" : "book" , "arguments" : { "seats" : 2 , "note" : "a b" } }"#,
        "{\n  \"name\": \"book\",\n  \"arguments\": {\"seats\": 2, \"note\": \"a b\"}\n}",
        concat!(
            r#"{"_meta":{"progressToken":1},"name":"book","inputResponses":{"a":{}},"#,
            r#""arguments":{"seats":2,"note":"a b"},"requestState":"v1.x"}"#,
        ),
        r#"{"_met\u0061":1,"_meta":2,"name":"book","arguments":{"seats":2,"note":"a b"}}"#,
    ] {
        assert!(opens_for(&first, &call(params)), "{params}");
        assert!(opens_for(&call(params), &first), "{params}");
    }
    let inside = call(r#"{"name":"book","arguments":{"seats":2,"note":"a b","_meta":1}}"#);
    assert!(!opens_for(&first, &inside), "only top-level members of the params are ignored");
}

#[test]
fn a_retry_may_add_params_to_a_request_without_params_stl_21() {
    let first = request("tools/call", None);
    for params in ["{}", r#"{"inputResponses":{},"requestState":"x"}"#] {
        assert!(opens_for(&first, &call(params)) && opens_for(&call(params), &first), "{params}");
    }
}

#[test]
fn a_repeated_member_cannot_take_the_place_of_another_stl_24() {
    let once = call(r#"{"name":"book"}"#);
    let twice = call(r#"{"name":"steal","name":"book"}"#);
    assert!(!opens_for(&once, &twice));
    assert!(!opens_for(&once, &call(r#"{"name":"book","name":"book"}"#)));
    assert!(!opens_for(&twice, &call(r#"{"name":"book","name":"steal"}"#)));
    assert!(opens_for(&twice, &twice));
}

// STL-24
#[test]
fn a_seal_opens_until_the_second_of_its_expiry_stl_24() {
    let request = call(PARAMS);
    for (expires_at, now, opens) in [
        (LATER, 0, true),
        (LATER, LATER - 1, true),
        (LATER, LATER, false),
        (LATER, LATER + 1, false),
        (LATER, u64::MAX, false),
        (0, 0, false),
        (1, 0, true),
        (u64::MAX, u64::MAX - 1, true),
        (u64::MAX, u64::MAX, false),
    ] {
        let sealed = seal().seal("state", &ada(&request), expires_at).unwrap();
        let wanted = if opens { Ok("state".to_string()) } else { Err(OpenError::Expired) };
        assert_eq!(seal().open(&sealed, &ada(&request), now), wanted, "{expires_at} {now}");
    }
}

#[test]
fn only_authentic_state_is_reported_as_expired_stl_23() {
    let (first, other) = (call(PARAMS), call("{}"));
    let sealed = seal().seal("state", &ada(&first), LATER).unwrap();
    assert_eq!(seal().open(&sealed, &ada(&other), LATER), Err(OpenError::Invalid));
    let eve = Principal::new("eve");
    let eve = Binding { principal: eve.as_ref(), request: &first };
    assert_eq!(seal().open(&sealed, &eve, LATER), Err(OpenError::Invalid));
}

#[test]
fn an_old_key_opens_but_does_not_seal_stl_23() {
    let request = call(PARAMS);
    let opens = |seal: &Seal, sealed: &str| seal.open(sealed, &ada(&request), NOW).is_ok();
    let [oldest, old, new] = [1, 2, 3].map(|first| Seal::new(&key(first, 32)).unwrap());
    let rotated = new.clone().with_old_key(&key(2, 32)).unwrap().with_old_key(&key(1, 32)).unwrap();
    for before in [&oldest, &old, &new] {
        let sealed = before.seal("state", &ada(&request), LATER).unwrap();
        assert!(opens(&rotated, &sealed));
    }
    let sealed = rotated.seal("state", &ada(&request), LATER).unwrap();
    assert!(opens(&new, &sealed) && !opens(&old, &sealed) && !opens(&oldest, &sealed));

    let sealed = old.seal("state", &ada(&request), LATER).unwrap();
    assert!(!opens(&new, &sealed), "the old key is no longer configured");
}

#[test]
fn short_keys_are_rejected_and_keys_are_not_printed_stl_23() {
    for bytes in 0..KEY_BYTES_MIN {
        assert_eq!(Seal::new(&key(7, bytes)).unwrap_err(), WeakKey);
        assert_eq!(seal().with_old_key(&key(7, bytes)).unwrap_err(), WeakKey);
    }
    for bytes in [KEY_BYTES_MIN, 64, 65, 1000] {
        assert!(Seal::new(&key(7, bytes)).is_ok());
    }
    assert_eq!(format!("{:?}", seal().with_old_key(&key(7, 32)).unwrap()), "Seal { .. }");
}

#[test]
fn placeholders_are_rejected_as_keys_stl_23() {
    for placeholder in [&[0; 32][..], &[b'a'; 64], &b"password".repeat(8), &b"0123456".repeat(9)] {
        assert_eq!(Seal::new(placeholder).unwrap_err(), WeakKey);
        assert_eq!(seal().with_old_key(placeholder).unwrap_err(), WeakKey);
    }
    assert!(Seal::new(&b"01234567".repeat(4)).is_ok(), "eight distinct bytes");
}

#[test]
fn long_state_and_long_text_are_rejected_stl_23() {
    let request = call(PARAMS);
    let state = "x".repeat(STATE_BYTES_MAX + 1);
    assert_eq!(seal().seal(&state, &ada(&request), LATER), Err(TooLarge));
    // Valid in everything but its length.
    let expiry = LATER.to_be_bytes();
    let message = ada(&request).message(&expiry, state.as_bytes()).unwrap();
    let code = seal().key.chain_update(message).finalize().into_bytes();
    let content = [&expiry, code.as_slice(), state.as_bytes()].concat();
    let text = format!("{VERSION}{}", Base64UrlUnpadded::encode_string(&content));
    assert_eq!(seal().open(&text, &ada(&request), NOW), Err(OpenError::Invalid));
}

#[test]
fn requests_with_too_many_members_are_rejected_stl_23() {
    let params = |members: usize| {
        let mut params: Map<String, Value> =
            (0..members).map(|at| (at.to_string(), Value::Null)).collect();
        params.extend(RETRY_MEMBERS.map(|name| (name.into(), Value::Null)));
        call(&Value::Object(params).to_string())
    };
    let (most, more) = (params(MEMBERS_MAX), params(MEMBERS_MAX + 1));
    assert!(opens_for(&most, &most));
    assert_eq!(seal().seal("state", &ada(&more), LATER), Err(TooLarge));
    let sealed = seal().seal("state", &ada(&most), LATER).unwrap();
    assert_eq!(seal().open(&sealed, &ada(&more), NOW), Err(OpenError::Invalid));
}

#[test]
fn the_error_is_invalid_params_and_reveals_no_details_stl_23() {
    for (unsealed, message) in [
        (OpenError::Expired, "the request state has expired"),
        (OpenError::Invalid, "the request state is not valid for this request"),
    ] {
        assert_eq!(ErrorObject::from(unsealed), ErrorObject::new(code::INVALID_PARAMS, message));
    }
}

/// Text that is not sealed, including look-alikes.
fn forged() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "v1\\.[A-Za-z0-9_-]{0,80}",
        proptest::collection::vec(any::<u8>(), 0..80)
            .prop_map(|bytes| format!("{VERSION}{}", Base64UrlUnpadded::encode_string(&bytes))),
    ]
}

/// The members that are bound, as parsed by `serde_json`.
fn bound_members(mut params: Map<String, Value>) -> Map<String, Value> {
    params.retain(|name, _| !RETRY_MEMBERS.contains(&name.as_str()));
    params
}

proptest! {
    #[test]
    fn arbitrary_text_never_opens_and_never_panics_stl_23(text in forged(), now in any::<u64>()) {
        prop_assert_eq!(seal().open(&text, &ada(&call(PARAMS)), now), Err(OpenError::Invalid));
    }

    #[test]
    fn requests_are_equal_if_their_bound_members_are_stl_24(
        first in testing::object(), second in testing::object(), meta in testing::value(),
    ) {
        let request = |params: &Map<String, Value>| call(&serde_json::to_string(params).unwrap());
        let is_equal = bound_members(first.clone()) == bound_members(second.clone());
        prop_assert_eq!(opens_for(&request(&first), &request(&second)), is_equal);

        // Framing removes line breaks between tokens, but not other white space.
        let spaced = serde_json::to_string_pretty(&first).unwrap().replace('\n', " ");
        prop_assert!(opens_for(&request(&first), &call(&spaced)));
        let mut retry = first.clone();
        retry.insert("_meta".into(), meta.clone());
        retry.insert("inputResponses".into(), meta.clone());
        retry.insert("requestState".into(), meta);
        prop_assert!(opens_for(&request(&first), &request(&retry)));
    }

    #[test]
    fn no_byte_can_move_between_bound_parts_stl_24(
        text in "[ab]{0,6}", cuts in any::<[u8; 3]>(), others in any::<[u8; 3]>(),
    ) {
        let (parts, others) = (cut(&text, cuts), cut(&text, others));
        prop_assert_eq!(message(&parts) == message(&others), parts == others);
    }
}

/// Splits `text` into four parts.
fn cut(text: &str, cuts: [u8; 3]) -> [&str; 4] {
    let mut cuts = cuts.map(|cut| usize::from(cut) % (text.len() + 1));
    cuts.sort_unstable();
    let [one, two, three] = cuts;
    [&text[..one], &text[one..two], &text[two..three], &text[three..]]
}

/// The authenticated bytes for these values; without an id, there is no principal.
fn message(&[id, method, state, key]: &[&str; 4]) -> Vec<u8> {
    let request = request(method, Some(&format!("{{\"{key}\":0}}")));
    let principal = Principal::new(id);
    Binding { principal: principal.as_ref(), request: &request }
        .message(&[0; 8], state.as_bytes())
        .unwrap()
}
