//! Tests of requests over real sockets, against scripted servers.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Instant;

use async_io::{Async, Timer};
use futures_lite::future::block_on;
use mcp_proto::http::client::HttpMethod;

use super::*;
use crate::box_future::BoxFuture;
use crate::exec::workers::Spawn;
use crate::http::ByteStream;

/// Opens real sockets, for its own names.
#[derive(Default)]
pub(super) struct TestRuntime {
    pub(super) names: BTreeMap<&'static str, Vec<SocketAddr>>,
    dialed: Mutex<Vec<SocketAddr>>,
}

impl Spawn for TestRuntime {
    fn spawn(&self, _: BoxFuture<'static, ()>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            Timer::after(duration).await;
        })
    }
}

/// A name that is never resolved.
const SILENT: &str = "silent.example";

impl Dial for TestRuntime {
    fn resolve(&self, host: &str, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        if host == SILENT {
            return Box::pin(std::future::pending());
        }
        let addresses = match host.parse::<IpAddr>() {
            Ok(address) => Ok(vec![SocketAddr::new(address, port)]),
            Err(_) => self.names.get(host).cloned().ok_or_else(|| io::ErrorKind::NotFound.into()),
        };
        Box::pin(async { addresses })
    }

    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> {
        self.dialed.lock().unwrap().push(address);
        Box::pin(async move {
            if !address.ip().is_loopback() {
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            Ok(Box::new(Async::<TcpStream>::connect(address).await?) as Box<dyn ByteStream>)
        })
    }
}

/// A server that answers each request with what a script returns, and then closes the connection.
struct ScriptedServer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl ScriptedServer {
    fn new(script: impl Fn(&str) -> String + Send + 'static) -> Self {
        Self::holding(script, None)
    }

    /// Keeps connections open until the other end of `held` is dropped.
    fn holding(
        script: impl Fn(&str) -> String + Send + 'static,
        held: Option<Sender<TcpStream>>,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let server = Self { address: listener.local_addr().unwrap(), requests };
        let requests = Arc::clone(&server.requests);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let request = read_request(&stream);
                requests.lock().unwrap().push(request.clone());
                let _gone = stream.write_all(script(&request).as_bytes());
                if let Some(held) = &held {
                    let _over = held.send(stream);
                }
            }
        });
        server
    }

    fn uri(&self, target: &str) -> Uri {
        uri(&format!("http://{}{target}", self.address))
    }

    fn get(&self, target: &str) -> OAuthRequest {
        OAuthRequest::get(self.uri(target), Reach::Loopback)
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn read_request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    let mut length = 0;
    while !request.ends_with("\r\n\r\n") && reader.read_line(&mut request).unwrap_or(0) > 0 {
        let last = request.trim_end().rsplit("\r\n").next().unwrap_or_default();
        if let Some(value) = last.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
    }
    let _cut = reader.take(length).read_to_string(&mut request);
    request
}

pub(super) fn uri(text: &str) -> Uri {
    Uri::parse(text, &AuthLimits::default()).unwrap()
}

fn http(runtime: Arc<TestRuntime>) -> OAuthHttp {
    let remote = Remote::new("http://localhost/").unwrap();
    let limits = AuthLimits { metadata_bytes_max: BODY_BYTES_MAX, ..AuthLimits::default() };
    OAuthHttp::new(runtime, &remote, limits).timeout(Duration::from_secs(40))
}

const BODY_BYTES_MAX: usize = 1000;

fn send(request: &OAuthRequest) -> Result<OAuthResponse, OAuthFailure> {
    block_on(http(Arc::default()).send(request))
}

fn body(response: &OAuthResponse) -> Option<&str> {
    response.body.as_ref().map(|body| std::str::from_utf8(body).unwrap())
}

/// Returns a response with this body.
fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

// AUT-69: nothing of the MCP connection is sent along.
#[test]
fn a_request_has_the_headers_of_its_caller_and_no_others() {
    let server = ScriptedServer::new(|_| "HTTP/1.1 404 Not Found\r\na: b\r\n\r\nrest".into());
    let mut get = server.get("/meta?key=1");
    get.headers.push(("accept".into(), "application/json".into()));
    let response = send(&get).unwrap();
    assert_eq!((response.status, body(&response)), (404, Some("rest")));
    assert_eq!(response.headers["a"], "b");
    let post = OAuthRequest {
        method: HttpMethod::Post,
        authorization: Some("Basic hunter2".into()),
        body: "a=b".into(),
        ..server.get("")
    };
    send(&post).unwrap();
    let common =
        format!("host: {}\r\nconnection: close\r\naccept-encoding: identity\r\n", server.address);
    assert_eq!(
        server.requests(),
        [
            format!("GET /meta?key=1 HTTP/1.1\r\naccept: application/json\r\n{common}\r\n"),
            format!(
                "POST / HTTP/1.1\r\n{common}authorization: Basic hunter2\r\n\
                 content-length: 3\r\n\r\na=b"
            ),
        ]
    );
}

// AUT-68
#[test]
fn redirects_are_followed_up_to_their_maximum() {
    let server = ScriptedServer::new(|request| match request.split(' ').nth(1).unwrap() {
        "/end" => ok("end"),
        path => format!("HTTP/1.1 302 Found\r\nlocation: {path}x\r\n\r\n")
            .replace("/aaxxx", "/end")
            .replace("/elsewherex", "http://localhost:1/"),
    });
    let redirects = |target: &str, redirects_max| {
        let response = send(&OAuthRequest { redirects_max, ..server.get(target) }).unwrap();
        let paths = server.requests().len();
        server.requests.lock().unwrap().clear();
        (response.status, paths)
    };
    assert_eq!(redirects("/aa", 0), (302, 1));
    assert_eq!(redirects("/aa", 2), (302, 3));
    assert_eq!(redirects("/aa", 3), (200, 4));
    assert_eq!(redirects("/elsewhere", 3), (302, 1), "another origin");
    let post = OAuthRequest { method: HttpMethod::Post, redirects_max: 3, ..server.get("/aa") };
    assert_eq!(send(&post).unwrap().status, 302);
}

// AUT-67, AUT-68
#[test]
fn another_origin_gets_no_credentials_and_is_judged_by_its_address() {
    let target = ScriptedServer::new(|_| ok("moved"));
    let port = target.address.port();
    let server = ScriptedServer::new(move |request| {
        let host =
            if request.starts_with("GET /inwards ") { "inwards.example" } else { "127.0.0.1" };
        let scheme = if host == "127.0.0.1" { "http" } else { "https" };
        format!("HTTP/1.1 307 X\r\nlocation: {scheme}://{host}:{port}/b\r\n\r\n")
    });
    let moved = |path| OAuthRequest {
        authorization: Some("Basic hunter2".into()),
        redirects_max: 1,
        cross_origin: true,
        ..server.get(path)
    };
    assert_eq!(body(&send(&moved("/a")).unwrap()), Some("moved"));
    assert!(server.requests()[0].contains("authorization: Basic hunter2"));
    assert!(!target.requests()[0].contains("authorization"));

    // A name says nothing of its address, which is link-local here.
    let mut runtime = TestRuntime::default();
    runtime.names.insert("inwards.example", vec![([169, 254, 169, 254], port).into()]);
    let runtime = Arc::new(runtime);
    let failure = block_on(http(Arc::clone(&runtime)).send(&moved("/inwards"))).unwrap_err();
    assert!(matches!(failure, OAuthFailure::Blocked { .. }), "{failure}");
    assert_eq!(*runtime.dialed.lock().unwrap(), [server.address]);
}

// AUT-67: the address that is connected to is judged.
#[test]
fn only_addresses_within_reach_are_connected_to() {
    let server = ScriptedServer::new(|_| ok("here"));
    let port = server.address.port();
    let public = SocketAddr::from(([8, 8, 8, 8], port));
    let private = SocketAddr::from(([10, 0, 0, 1], port));
    let reserved = SocketAddr::from(([169, 254, 169, 254], port));
    let mut runtime = TestRuntime::default();
    runtime.names.insert("two.example", vec![reserved, server.address]);
    runtime.names.insert("all.example", vec![reserved, server.address, private, public]);
    runtime.names.insert("none.example", vec![]);
    let runtime = Arc::new(runtime);
    let reached = |host: &str, reach| {
        let request = OAuthRequest::get(uri(&format!("http://{host}:{port}/")), reach);
        let result = block_on(http(Arc::clone(&runtime)).send(&request));
        let dialed = std::mem::take(&mut *runtime.dialed.lock().unwrap());
        (result.map(|response| response.status), dialed)
    };
    let (result, dialed) = reached("two.example", Reach::Loopback);
    assert_eq!((result.unwrap(), dialed), (200, vec![server.address]));
    for host in ["two.example", "127.0.0.1", "10.0.0.1"] {
        let (result, dialed) = reached(host, Reach::Public);
        let failure = result.unwrap_err();
        assert!(matches!(failure, OAuthFailure::Blocked { .. }), "{failure}");
        assert!(failure.to_string().contains(host), "{failure}");
        assert!(dialed.is_empty(), "{host} {dialed:?}");
    }
    let (result, dialed) = reached("all.example", Reach::Private);
    assert!(matches!(result.unwrap_err(), OAuthFailure::Unreached(_)));
    assert_eq!(dialed, [private, public]);
    for host in ["none.example", "unknown.example"] {
        let (result, _) = reached(host, Reach::Loopback);
        assert!(matches!(result.unwrap_err(), OAuthFailure::Unreached(_)), "{host}");
    }
}

#[test]
fn a_server_is_as_private_as_its_least_private_address() {
    let mut runtime = TestRuntime::default();
    let addresses = |hosts: &[[u8; 4]]| hosts.iter().map(|host| (*host, 443).into()).collect();
    for (name, hosts) in [
        ("mixed.example", &[[127, 0, 0, 1], [8, 8, 8, 8], [10, 0, 0, 1]][..]),
        ("intranet.example", &[[127, 0, 0, 1], [10, 0, 0, 1], [169, 254, 0, 1]]),
        ("reserved.example", &[[169, 254, 0, 1]]),
    ] {
        runtime.names.insert(name, addresses(hosts));
    }
    let http = http(Arc::new(runtime));
    let reach_of = |host: &str| block_on(http.reach_of(&uri(&format!("https://{host}/mcp"))));
    for (host, reach) in [
        ("mixed.example", Some(Reach::Public)),
        ("intranet.example", Some(Reach::Private)),
        ("reserved.example", None),
        ("127.0.0.1", Some(Reach::Loopback)),
        ("[::1]", Some(Reach::Loopback)),
    ] {
        assert_eq!(reach_of(host).unwrap(), reach, "{host}");
    }
    assert!(reach_of("unknown.example").is_err());
    let http = http.timeout(Duration::from_millis(1));
    let error = block_on(http.reach_of(&uri(&format!("https://{SILENT}/mcp")))).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}

#[test]
fn a_body_that_is_too_long_or_coded_is_left_out() {
    let long = "x".repeat(BODY_BYTES_MAX + 1);
    for (response, expected) in [
        (ok(long.get(1..).unwrap()), true),
        (ok(&long), false),
        (format!("HTTP/1.1 200 OK\r\n\r\n{long}"), false),
        (
            format!(
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3e9\r\n{long}\r\n0\r\n\r\n"
            ),
            false,
        ),
        ("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\nx".into(), false),
        ("HTTP/1.1 200 OK\r\ncontent-encoding: identity\r\n\r\nx".into(), true),
    ] {
        let server = ScriptedServer::new(move |_| response.clone());
        let response = send(&server.get("/")).unwrap();
        assert_eq!((response.status, response.body.is_some()), (200, expected));
    }
}

#[test]
fn a_broken_response_is_a_failure() {
    let long_header = format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "x".repeat(200 << 10));
    let many_headers = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(300));
    for response in [
        "",
        "HTTP/1.1 200 OK\r\ncontent-le",
        "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhunter2",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nhunter2",
        "hunter2 is not HTTP\r\n\r\n",
        &*long_header,
        &*many_headers,
    ] {
        let answer = response.to_owned();
        let server = ScriptedServer::new(move |_| answer.clone());
        let failure = send(&server.get("/")).unwrap_err();
        assert!(matches!(failure, OAuthFailure::Cut(_)), "{failure}");
        assert!(!format!("{failure} {failure:?}").contains("hunter2"), "{failure:?}");
    }
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let request = OAuthRequest::get(uri(&format!("http://{free}/")), Reach::Loopback);
    assert!(matches!(send(&request).unwrap_err(), OAuthFailure::Unreached(_)));
}

#[test]
fn a_server_without_tls_receives_no_request() {
    let server = ScriptedServer::new(|_| ok("plain"));
    let secure = uri(&format!("https://{}/hunter2", server.address));
    let failure = send(&OAuthRequest::get(secure, Reach::Loopback)).unwrap_err();
    assert!(matches!(failure, OAuthFailure::Unreached(_)), "{failure}");
    assert!(!server.requests().iter().any(|request| request.contains("hunter2")));
}

#[test]
fn a_slow_response_ends_after_the_timeout() {
    for sent in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"] {
        let (held, open) = channel();
        let server = ScriptedServer::holding(move |_| sent.to_owned(), Some(held));
        let http = http(Arc::default()).timeout(Duration::from_millis(100));
        let started = Instant::now();
        let failure = block_on(http.send(&server.get("/"))).unwrap_err();
        let OAuthFailure::Cut(error) = failure else { panic!("{failure}") };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{sent}");
        assert!(started.elapsed() < Duration::from_secs(20));
        drop(open);
    }
}

// AUT-34
#[test]
fn debug_shows_no_secret() {
    let server = ScriptedServer::new(|_| ok("hunter2"));
    let mut request = server.get("/meta?hunter2");
    request.headers.push(("x".into(), "hunter2".into()));
    request.authorization = Some("Basic hunter2".into());
    request.body = "hunter2".into();
    let shown = format!("{request:?} {:?}", send(&request).unwrap());
    assert!(shown.contains("/meta") && !shown.contains("hunter2"), "{shown}");
}
