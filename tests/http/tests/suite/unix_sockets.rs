//! Servers on Unix sockets.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use h2::client::Builder;
use mcp_blocking::http::{Http, HttpLimits, PeerAddress, Stop};
use mcp_blocking::{Cx, Tool};
use mcp_http_tests::{
    Http2, Listener, PATIENCE, Request, Runtime, eventually, modern, on_client, rows, server, text,
    tool,
};
use serde_json::json;

rows! {
    clients_are_served_over_both_versions,
    limits_per_address_do_not_apply_and_those_of_the_server_do,
    the_file_of_the_socket_belongs_to_the_application,
}

/// Returns a path for a separate socket, in a separate directory. The path of a
/// socket must be short.
fn socket_path<R: Runtime>() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("mcp-{}-{number}-{}", std::process::id(), R::NAME);
    let temporary = std::env::temp_dir();
    let is_short = temporary.as_os_str().len() < 64;
    let directory = if is_short { temporary } else { "/tmp".into() }.join(name);
    // Left by an earlier process: in a container, ids repeat.
    let _none = std::fs::remove_dir_all(&directory);
    std::fs::create_dir(&directory).unwrap();
    directory.join("socket")
}

/// Runs a test against a server on a Unix socket, and stops the server.
fn on_socket<R: Runtime>(options: Http, test: impl FnOnce(&PathBuf)) {
    let path = socket_path::<R>();
    let listener = UnixListener::bind(&path).unwrap();
    let stop = Stop::new();
    let stopped = stop.clone();
    let server = server().add(Tool::define(tool("address"), |cx: Cx| {
        let head = cx.head().ok_or("no head")?;
        Ok(format!("{:?}", head.extensions.get::<PeerAddress>()))
    }));
    let serving =
        thread::spawn(move || R::serve(&server, Listener::Unix(listener), options, &stopped));
    test(&path);
    stop.stop();
    serving.join().unwrap().unwrap();
    assert!(path.exists(), "the server leaves the file alone");
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

fn call(name: &str) -> Request {
    modern("tools/call", json!({"name": name, "arguments": {"text": "on"}}))
}

/// Sends a request over HTTP/1.1; returns the status, and the message of the response.
fn send(path: &PathBuf, request: &Request) -> (u16, String) {
    let mut stream = UnixStream::connect(path).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&request.clone().field("Connection", "close").bytes()).unwrap();
    let mut reply = Vec::new();
    // A server that has not read all of a request resets the connection after its response.
    if let Err(error) = stream.read_to_end(&mut reply) {
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
    let reply = String::from_utf8(reply).unwrap();
    let status = reply.split(' ').nth(1).and_then(|status| status.parse().ok());
    let body = reply.split_once("\r\n\r\n").expect("a head").1;
    (status.expect("a status"), body.to_owned())
}

fn clients_are_served_over_both_versions<R: Runtime>() {
    on_socket::<R>(Http::new(), |path| {
        let (status, body) = send(path, &call("address"));
        assert_eq!(status, 200);
        assert_eq!(text(&serde_json::from_str(&body).unwrap()), "None", "there is no address");
        assert_eq!(send(path, &call("echo").field("Host", "evil.example")).0, 403);
        on_client(async {
            let stream = tokio::net::UnixStream::connect(path).await.unwrap();
            let client = Http2::with(stream, &Builder::new()).await;
            let session = client.open_session().await;
            let events = client.listen(&session).await;
            assert_eq!(events.status, 200);
            let mut reply = client.send(&call("echo")).await.unwrap();
            assert_eq!(text(&reply.message().await.unwrap()), "on");
        });
    });
}

fn limits_per_address_do_not_apply_and_those_of_the_server_do<R: Runtime>() {
    let options = Http::new().limits(HttpLimits {
        connections_per_address_max: 0,
        sessions_per_address_max: 0,
        requests_bytes_per_address_max: 0,
        requests_bytes_max: 100_000,
        ..HttpLimits::default()
    });
    let stats = options.stats();
    on_socket::<R>(options, |path| {
        assert_eq!(send(path, &call("echo")).0, 200);
        assert_eq!(send(path, &mcp_http_tests::initialize()).0, 200);
        let large = call("echo").body(&vec![b' '; 200_000]);
        assert_eq!((send(path, &large).0, stats.refused_by_address()), (503, 0));
        eventually("all is given back", || (stats.requests_bytes() == 0).then_some(()));
    });
}

fn the_file_of_the_socket_belongs_to_the_application<R: Runtime>() {
    use std::os::unix::fs::PermissionsExt as _;
    // `on_socket` checks that the file is left alone.
    on_socket::<R>(Http::new(), |path| {
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path, private).unwrap();
        assert_eq!(send(path, &call("echo")).0, 200);
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    });
}
