//! Tests of the choice of a method of client authentication.

use super::ClientAuthMethod::{Basic, None as Public, Post, PrivateKeyJwt};
use super::*;

// AUT-56: methods listed, registered method, credential.
#[test]
fn the_method_is_registered_and_listed_or_the_best_listed_aut_56() {
    use CredentialKind::{Key, Nothing, Secret};
    let list = |methods: &[ClientAuthMethod]| Some(ClientAuthMethods::of(methods.iter().copied()));
    for (listed, registered, kind, chosen) in [
        // No list: what is registered, else the defaults.
        (None, None, Secret, Some(Basic)),
        (None, None, Nothing, Some(Public)),
        (None, None, Key, Some(PrivateKeyJwt)),
        (None, Some(Post), Secret, Some(Post)),
        (None, Some(Post), Nothing, Some(Public)),
        (None, Some(Basic), Nothing, Some(Public)),
        (None, Some(Public), Secret, Some(Public)),
        // The registered method is listed.
        (list(&[Basic, Post]), Some(Post), Secret, Some(Post)),
        (list(&[Basic, Post]), Some(Basic), Secret, Some(Basic)),
        (list(&[Public, Basic]), Some(Public), Secret, Some(Public)),
        (list(&[Public, Basic]), Some(Public), Nothing, Some(Public)),
        (list(&[PrivateKeyJwt]), Some(PrivateKeyJwt), Key, Some(PrivateKeyJwt)),
        // The registered method is not listed, or has no credential.
        (list(&[Post]), Some(Basic), Secret, Some(Post)),
        (list(&[Public]), Some(Basic), Secret, Some(Public)),
        (list(&[Public, Basic]), Some(Basic), Nothing, Some(Public)),
        (list(&[Basic]), Some(Basic), Nothing, None),
        (list(&[Basic]), Some(PrivateKeyJwt), Secret, Some(Basic)),
        // Nothing is registered.
        (list(&[Public, Post, Basic]), None, Secret, Some(Basic)),
        (list(&[Public, Post]), None, Secret, Some(Post)),
        (list(&[Public]), None, Secret, Some(Public)),
        (list(&[Public, Post, Basic]), None, Nothing, Some(Public)),
        (list(&[Post, Basic]), None, Nothing, None),
        (list(&[PrivateKeyJwt, Basic]), None, Secret, Some(Basic)),
        (list(&[PrivateKeyJwt, Basic]), None, Key, Some(PrivateKeyJwt)),
        (list(&[PrivateKeyJwt]), None, Secret, None),
        (list(&[Basic, Public]), None, Key, Some(Public)),
        (list(&[]), None, Secret, None),
        (list(&[]), Some(Basic), Secret, None),
    ] {
        let found = ClientAuthMethod::choose(listed, registered, kind);
        assert_eq!(found, chosen, "{listed:?} {registered:?} {kind:?}");
    }
}

#[test]
fn a_client_registers_with_the_first_listed_method() {
    let list = |methods: &[ClientAuthMethod]| Some(ClientAuthMethods::of(methods.iter().copied()));
    for (listed, method) in [
        (None, Public),
        (list(&[]), Public),
        (list(&[PrivateKeyJwt]), Public),
        (list(&[Post, Public]), Public),
        (list(&[Post, Basic]), Basic),
        (list(&[Post]), Post),
    ] {
        assert_eq!(ClientAuthMethod::to_register(listed), method, "{listed:?}");
    }
}

#[test]
fn names_are_those_of_the_registry() {
    for method in ClientAuthMethod::ALL {
        assert_eq!(ClientAuthMethod::by_name(method.name()), Some(method));
        assert!(ClientAuthMethods::of([method]).iter().eq([method]));
    }
    assert_eq!(ClientAuthMethod::by_name("tls_client_auth"), None);
    assert_eq!(ClientAuthMethods::of(ClientAuthMethod::ALL).iter().count(), 4);
}

// AUT-57.
#[test]
fn basic_encodes_id_and_secret_before_base64_aut_57() {
    for (client_id, secret, header) in [
        ("app", "pw", "Basic YXBwOnB3"),
        // The pair is `a%3Ab:c%2Fd+%25`.
        ("a:b", "c/d %", "Basic YSUzQWI6YyUyRmQrJTI1"),
        ("", "", "Basic Og=="),
    ] {
        let secret = Secret::new(secret);
        let client = ClientAuthentication::Basic { client_id, secret: &secret };
        assert_eq!(client.header().unwrap().expose(), header);
        let mut form = Form::new();
        client.add_to(&mut form);
        assert!(form.encode("").is_empty(), "one method per request");
    }
}
