//! Tables of addresses and URLs with their reach.

use alloc::string::ToString;

use super::*;
use crate::auth::limits::AuthLimits;

const PUBLIC: Option<Reach> = Some(Reach::Public);
const PRIVATE: Option<Reach> = Some(Reach::Private);
const LOOPBACK: Option<Reach> = Some(Reach::Loopback);

#[test]
fn addresses_are_public_private_loopback_or_never_aut_67() {
    for (address, reach) in [
        ("8.8.8.8", PUBLIC),
        ("9.255.255.255", PUBLIC),
        ("11.0.0.0", PUBLIC),
        ("172.15.255.255", PUBLIC),
        ("172.32.0.0", PUBLIC),
        ("100.63.255.255", PUBLIC),
        ("100.128.0.0", PUBLIC),
        ("192.167.0.1", PUBLIC),
        ("198.17.0.1", PUBLIC),
        ("198.20.0.1", PUBLIC),
        ("223.255.255.255", PUBLIC),
        ("10.0.0.1", PRIVATE),
        ("172.16.0.1", PRIVATE),
        ("172.31.255.255", PRIVATE),
        ("192.168.0.1", PRIVATE),
        ("100.64.0.1", PRIVATE),
        ("100.127.255.255", PRIVATE),
        ("127.0.0.1", LOOPBACK),
        ("127.255.255.255", LOOPBACK),
        ("0.0.0.0", None),
        ("0.1.2.3", None),
        ("169.254.169.254", None),
        ("192.0.0.192", None),
        ("192.0.2.1", None),
        ("192.88.99.1", None),
        ("198.18.0.1", None),
        ("198.19.255.255", None),
        ("198.51.100.1", None),
        ("203.0.113.1", None),
        ("224.0.0.1", None),
        ("240.0.0.1", None),
        ("255.255.255.255", None),
        ("100.100.100.200", None),
        ("168.63.129.16", None),
        ("2606:4700::1111", PUBLIC),
        ("2001:200::1", PUBLIC),
        ("3fff:1000::1", PUBLIC),
        ("::1", LOOPBACK),
        ("fc00::1", PRIVATE),
        ("fdff:ffff::1", PRIVATE),
        ("fd00:ec2::254", None),
        // Of AWS: names, time, credentials of containers.
        ("fd00:ec2::253", None),
        ("fd00:ec2::123", None),
        ("fd00:ec2::23", None),
        ("fd00:ec2:1::254", PRIVATE),
        ("fd20:ce::254", None),
        ("fd20:cf::254", PRIVATE),
        ("fd00:c1::a9fe:a9fe", None),
        ("fd00:c2::a9fe:a9fe", PRIVATE),
        ("fd00:42::42", None),
        ("fe80::a9fe:a9fe", None),
        ("64:ff9b::a9fe:a9fe", None),
        ("64:ff9b:1::a9fe:a9fe", None),
        ("::ffff:100.100.100.200", None),
        ("::ffff:168.63.129.16", None),
        ("169.254.170.2", None),
        ("169.254.170.23", None),
        ("169.254.0.23", None),
        ("::", None),
        ("::2", None),
        ("::7f00:1", None),
        ("fe80::1", None),
        ("fec0::1", None),
        ("ff02::1", None),
        ("100::1", None),
        ("2001::1", None),
        ("2001:20::1", None),
        ("2001:db8::1", None),
        ("3fff::1", None),
        ("4000::1", None),
        ("::ffff:8.8.8.8", PUBLIC),
        ("::ffff:10.1.2.3", PRIVATE),
        ("::ffff:127.0.0.1", LOOPBACK),
        ("::ffff:169.254.169.254", None),
        ("64:ff9b::8.8.8.8", PUBLIC),
        ("64:ff9b::10.0.0.1", PRIVATE),
        ("64:ff9b::127.0.0.1", LOOPBACK),
        ("64:ff9b::169.254.169.254", None),
        ("64:ff9b:1::8.8.8.8", None),
        ("2002:808:808::1", PUBLIC),
        ("2002:a00:1::", PRIVATE),
        ("2002:7f00:1::", LOOPBACK),
        ("2002:a9fe:a9fe::", None),
    ] {
        assert_eq!(Reach::of(address.parse().unwrap()), reach, "{address}");
    }
}

#[test]
fn an_address_may_be_at_most_as_private_as_the_bound() {
    let allows = |reach: Reach, address: &str| reach.allows(address.parse().unwrap());
    for (address, allowed) in [
        ("8.8.8.8", [true, true, true]),
        ("10.0.0.1", [false, true, true]),
        ("::1", [false, false, true]),
        ("169.254.169.254", [false, false, false]),
    ] {
        let all = [Reach::Public, Reach::Private, Reach::Loopback];
        assert_eq!(all.map(|reach| allows(reach, address)), allowed, "{address}");
    }
}

// AUT-29, AUT-53, AUT-66.
#[test]
fn urls_are_https_or_between_loopback_hosts_aut_66() {
    use UriRefusal::{PlainHttp, Reserved, TooPrivate};
    let ok = Ok(());
    for (text, public, private, loopback) in [
        ("https://as.example", ok, ok, ok),
        ("http://as.example", Err(PlainHttp), Err(PlainHttp), Err(PlainHttp)),
        ("https://10.0.0.1", Err(TooPrivate), ok, ok),
        ("http://10.0.0.1", Err(PlainHttp), Err(PlainHttp), Err(PlainHttp)),
        ("https://localhost", Err(TooPrivate), Err(TooPrivate), ok),
        ("http://localhost", Err(PlainHttp), Err(PlainHttp), ok),
        ("http://as.localhost:9", Err(PlainHttp), Err(PlainHttp), ok),
        ("http://[::1]:9/a", Err(PlainHttp), Err(PlainHttp), ok),
        ("https://[::ffff:127.0.0.1]", Err(TooPrivate), Err(TooPrivate), ok),
        ("https://169.254.169.254", Err(Reserved), Err(Reserved), Err(Reserved)),
        ("https://Metadata.Google.Internal", Err(Reserved), Err(Reserved), Err(Reserved)),
        ("https://metadata.example", ok, ok, ok),
    ] {
        let uri = Uri::parse(text, &AuthLimits::default()).unwrap();
        let check = |reach| UriPolicy::of_server(reach).check(&uri);
        let checked = [Reach::Public, Reach::Private, Reach::Loopback].map(check);
        assert_eq!(checked, [public, private, loopback], "{text}");
    }
}

#[test]
fn any_reach_still_needs_https() {
    let check = |text: &str| {
        let uri = Uri::parse(text, &AuthLimits::default()).unwrap();
        UriPolicy::of_server(Reach::Public).with_any_reach().check(&uri)
    };
    assert_eq!(check("https://10.0.0.1"), Ok(()));
    assert_eq!(check("https://localhost"), Ok(()));
    assert_eq!(check("http://localhost"), Err(UriRefusal::PlainHttp));
    assert_eq!(check("https://169.254.169.254"), Err(UriRefusal::Reserved));
    assert!(UriRefusal::PlainHttp.to_string().contains("https"));
}
