//! Tests of which hosts requests may reach through a proxy.

use futures_lite::future::block_on;
use mcp_proto::auth::Reach;

use super::tests::{TestRuntime, uri};
use super::*;
use crate::http::{Proxy, ProxyError};

/// Returns a sender through a proxy at `proxy.example`, to which no connection can be opened.
fn http(no_proxy: &str) -> OAuthHttp {
    let mut runtime = TestRuntime::default();
    let outside = |address: &str| vec![format!("{address}:443").parse().unwrap()];
    runtime.names.insert("proxy.example", outside("10.0.0.2"));
    runtime.names.insert("inside.example", outside("10.0.0.1"));
    let proxy = Proxy::all("http://proxy.example").unwrap().no_proxy(no_proxy);
    let remote = Remote::new("https://mcp.example/").unwrap().proxy(proxy);
    OAuthHttp::new(Arc::new(runtime), &remote, AuthLimits::default())
}

fn send(http: &OAuthHttp, url: &str, reach: Reach) -> OAuthFailure {
    block_on(http.send(&OAuthRequest::get(uri(url), reach))).unwrap_err()
}

fn is_for_proxy(failure: &OAuthFailure) -> bool {
    let OAuthFailure::Unreached(error) = failure else { return false };
    error.get_ref().is_some_and(|error| error.is::<ProxyError>())
}

// AUT-67
#[test]
fn an_address_is_judged_and_a_name_is_up_to_the_proxy() {
    let http = http("");
    for (url, reach, is_allowed) in [
        ("https://as.example/", Reach::Public, true),
        ("https://inside.example/", Reach::Public, true),
        ("http://as.example/", Reach::Public, true),
        ("https://93.184.216.34/", Reach::Public, true),
        ("https://10.0.0.1/", Reach::Private, true),
        ("https://10.0.0.1/", Reach::Public, false),
        ("https://[fd00::1]/", Reach::Public, false),
        ("https://169.254.169.254/", Reach::Loopback, false),
        ("http://10.0.0.1/", Reach::Public, false),
    ] {
        let failure = send(&http, url, reach);
        assert_eq!(is_for_proxy(&failure), is_allowed, "{url} {failure}");
        assert_eq!(matches!(failure, OAuthFailure::Blocked { .. }), !is_allowed, "{url} {failure}");
    }
}

// AUT-67
#[test]
fn hosts_that_are_connected_to_directly_are_resolved_and_judged() {
    let http = http("inside.example, 10.0.0.0/8");
    for url in ["https://inside.example/", "https://10.0.0.1/", "https://localhost/"] {
        let failure = send(&http, url, Reach::Public);
        assert!(!is_for_proxy(&failure), "{url} {failure}");
    }
    let failure = send(&http, "https://inside.example/", Reach::Public);
    assert!(matches!(failure, OAuthFailure::Blocked { .. }), "{failure}");
}

#[test]
fn a_server_behind_a_proxy_is_as_private_as_its_text_says() {
    let http = http("direct.example");
    for (url, reach) in [
        ("https://inside.example/", Some(Reach::Public)),
        ("https://10.0.0.1/", Some(Reach::Private)),
        ("https://169.254.169.254/", None),
    ] {
        assert_eq!(block_on(http.reach_of(&uri(url))).unwrap(), reach, "{url}");
    }
}
