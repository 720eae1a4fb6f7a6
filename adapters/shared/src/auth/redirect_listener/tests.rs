//! Tests of the listener for redirects, over real sockets.

use std::io::{Read as _, Write as _};
use std::net::Ipv4Addr;
use std::sync::mpsc::{Receiver, channel};

use super::*;

/// Starts a listener that reports the queries it receives.
fn listening(host: LoopbackHost) -> (RedirectListener, Receiver<String>) {
    let (says, hears) = channel();
    let on_redirect = move |query: Secret| {
        let query = query.expose().to_owned();
        let page = match &*query {
            "code=hunter2" => RedirectPage::Success,
            "error=hunter2" => RedirectPage::Failure,
            "panic" => panic!("on purpose"),
            _ => RedirectPage::NotFound,
        };
        let _listening = says.send(query);
        page
    };
    (RedirectListener::start(host, None, "/callback", on_redirect).unwrap(), hears)
}

/// Sends a request in pieces and returns the response.
fn exchange(address: SocketAddr, pieces: &[&str]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    for piece in pieces {
        stream.write_all(piece.as_bytes()).unwrap();
    }
    read(&mut stream)
}

fn read(stream: &mut TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(40))).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

fn get(listener: &RedirectListener, target: &str) -> String {
    let host = format!("Host: {}\r\n\r\n", listener.address);
    exchange(listener.address, &["GET ", target, " HTTP/1.1\r\n", &host])
}

#[test]
fn a_redirect_is_passed_on_and_answered_with_a_static_page() {
    for host in [LoopbackHost::V4, LoopbackHost::V6] {
        let (listener, hears) = listening(host);
        for (target, status) in [
            ("/favicon.ico", 404),
            ("/callback", 404),
            ("/callback?code=other", 404),
            ("/callback?error=hunter2", 400),
            ("/callback?panic", 400),
            ("/callback?code=hunter2", 200),
        ] {
            let response = get(&listener, target);
            assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{target}: {response}");
            for field in ["cache-control: no-store", "referrer-policy: no-referrer"] {
                assert!(response.contains(field), "{response}");
            }
            for hidden in ["hunter2", "other", "script", "callback"] {
                assert!(!response.contains(hidden), "{response}");
            }
        }
        let queries: Vec<_> = hears.try_iter().collect();
        assert_eq!(queries, ["code=other", "error=hunter2", "code=hunter2"]);
    }
}

#[test]
fn a_page_of_another_host_reaches_nothing() {
    let (listener, hears) = listening(LoopbackHost::V4);
    let line = "GET /callback?code=hunter2 HTTP/1.1\r\n";
    let host = format!("Host: evil.example:{}\r\n\r\n", listener.port());
    assert!(exchange(listener.address, &[line, &host]).starts_with("HTTP/1.1 404 "));
    assert!(hears.try_recv().is_err());

    let (listener, hears) = listening(LoopbackHost::Localhost);
    let host = format!("Host: localhost:{}\r\n\r\n", listener.port());
    assert!(exchange(listener.address, &[line, &host]).starts_with("HTTP/1.1 200 "));
    assert_eq!(hears.try_recv().unwrap(), "code=hunter2");
}

#[test]
fn idle_and_endless_connections_keep_none_out() {
    let (listener, hears) = listening(LoopbackHost::V4);
    let mut idle: Vec<_> =
        (0..4 * CONNECTIONS_MAX).map(|_| TcpStream::connect(listener.address).unwrap()).collect();
    assert!(get(&listener, "/callback?code=hunter2").starts_with("HTTP/1.1 200 "));
    assert_eq!(hears.try_iter().count(), 1);
    assert_eq!(read(idle.first_mut().unwrap()), "", "the oldest connection was closed");
    assert!(listener.shared.open().len() <= CONNECTIONS_MAX);

    let long = "a".repeat(head::HEAD_BYTES_MAX - 4);
    assert!(exchange(listener.address, &["GET ", &long]).starts_with("HTTP/1.1 404 "));
    assert!(hears.try_recv().is_err());
}

#[test]
fn a_slow_request_ends_after_its_timeout() {
    let (mut client, server) = {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (client, listener.accept().unwrap().0)
    };
    client.write_all(b"GET /callback?code=hunter2 HTTP/1.1\r\n").unwrap();
    let mut server = server;
    let deadline = Instant::now() + Duration::from_millis(30);
    let error = head::read(&mut server, deadline).unwrap_err();
    use io::ErrorKind::{TimedOut, WouldBlock};
    assert!(matches!(error.kind(), TimedOut | WouldBlock), "{error}");
}

#[test]
fn a_taken_port_is_replaced_and_a_dropped_listener_frees_its_own() {
    let on_port = |port| {
        let on_redirect = |_| RedirectPage::Failure;
        RedirectListener::start(LoopbackHost::V4, Some(port), "/", on_redirect).unwrap()
    };
    let (listener, _hears) = listening(LoopbackHost::V4);
    let port = listener.port();
    assert_ne!(on_port(port).port(), port);
    drop(listener);
    assert_eq!(on_port(port).port(), port);
}

#[test]
fn debug_shows_the_address_only() {
    let (listener, _hears) = listening(LoopbackHost::V4);
    let shown = format!("{listener:?}");
    assert_eq!(shown, format!("RedirectListener {{ address: {}, .. }}", listener.address));
}
