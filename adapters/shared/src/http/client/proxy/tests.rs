//! Tests of which proxy is used.

use super::{Proxy, ProxyError};

/// Returns the proxy of an environment.
fn env(variables: &'static [(&str, &str)]) -> Proxy {
    Proxy::from_lookup(|name| {
        let found = variables.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

/// Returns the addresses of the proxies for an `http` and an `https` URL of this host.
fn proxies(proxy: &Proxy, host: &str) -> [String; 2] {
    [false, true].map(|is_secure| match proxy.server_for(is_secure, host) {
        Ok(server) => server.map_or_else(|| "none".to_owned(), ToString::to_string),
        Err(error) => error.to_string(),
    })
}

#[test]
fn variables_are_read_as_curl_reads_them() {
    for (variables, http, https) in [
        (&[][..], "none", "none"),
        (&[("https_proxy", "a")], "none", "a:80"),
        (&[("HTTPS_PROXY", "a")], "none", "a:80"),
        (&[("http_proxy", "a")], "a:80", "none"),
        (&[("HTTP_PROXY", "a")], "a:80", "none"),
        (&[("http_proxy", "a"), ("HTTP_PROXY", "b")], "a:80", "none"),
        (&[("HTTP_PROXY", "a"), ("REQUEST_METHOD", "GET")], "none", "none"),
        (&[("http_proxy", "a"), ("REQUEST_METHOD", "GET")], "a:80", "none"),
        (&[("HTTPS_PROXY", "a"), ("REQUEST_METHOD", "GET")], "none", "a:80"),
        (&[("all_proxy", "a")], "a:80", "a:80"),
        (&[("ALL_PROXY", "a"), ("https_proxy", "b")], "a:80", "b:80"),
        (&[("all_proxy", "a"), ("https_proxy", "")], "a:80", "a:80"),
    ] {
        let found = proxies(&env(variables), "mcp.example");
        assert_eq!(found, [http, https].map(str::to_owned), "{variables:?}");
    }
}

#[test]
fn exceptions_are_connected_to_directly() {
    const LIST: &[(&str, &str)] = &[("all_proxy", "a"), ("NO_PROXY", "b.example,10.0.0.0/8")];
    for (host, expected) in
        [("c.example", "a:80"), ("x.b.example", "none"), ("10.1.1.1", "none"), ("11.1.1.1", "a:80")]
    {
        assert_eq!(proxies(&env(LIST), host), [expected; 2], "{host}");
        let proxy = Proxy::all("http://a").unwrap().no_proxy("b.example,10.0.0.0/8");
        assert_eq!(proxies(&proxy, host), [expected; 2], "{host}");
    }
    let all = [("all_proxy", "a"), ("no_proxy", "*")];
    let proxy = Proxy::from_lookup(|name| {
        all.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    });
    assert_eq!(proxies(&proxy, "c.example"), ["none"; 2]);
    assert_eq!(proxies(&Proxy::none(), "c.example"), ["none"; 2]);
}

#[test]
fn this_machine_is_connected_to_directly() {
    let proxy = Proxy::all("http://a").unwrap();
    for host in ["localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.8.8.8", "::1"] {
        assert_eq!(proxies(&proxy, host), ["none"; 2], "{host}");
    }
    for host in ["localhost.example", "0.0.0.0", "192.168.0.1"] {
        assert_eq!(proxies(&proxy, host), ["a:80"; 2], "{host}");
    }
}

#[test]
fn an_unusable_proxy_is_reported_where_it_would_be_used() {
    let proxy = env(&[("HTTPS_PROXY", "socks5://user:secret@a"), ("no_proxy", "b.example")]);
    let error = proxy.server_for(true, "c.example").unwrap_err();
    assert!(matches!(&error, ProxyError::UnsupportedScheme { scheme, variable: Some(variable) }
        if scheme == "socks5" && *variable == "HTTPS_PROXY"));
    assert_eq!(proxy.server_for(false, "c.example"), Ok(None));
    assert_eq!(proxy.server_for(true, "b.example"), Ok(None));
    assert_eq!(proxy.server_for(true, "localhost"), Ok(None));
    assert!(!format!("{proxy:?} {error}").contains("secret"));
}

#[test]
fn a_password_is_no_port_of_the_proxy() {
    for url in ["http://user:12/secret@a", "http://user:12#secret@a", "http://user:?secret@a"] {
        let error = Proxy::all(url).unwrap_err();
        assert!(error.to_string().contains("is invalid"), "{error}");
    }
}

#[test]
fn credentials_are_not_shown() {
    let proxy = Proxy::all("http://user:secret@a").unwrap();
    let server = proxy.server_for(true, "b").unwrap().unwrap();
    assert!(server.credentials().is_some());
    let shown =
        format!("{proxy:?} {server:?} {:?} {}", server.credentials(), server.unauthorized());
    assert!(!shown.contains("secret") && !shown.contains("dXNlcjpzZWNyZXQ"), "{shown}");
}
