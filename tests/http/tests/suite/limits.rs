//! Clients that try to exhaust a server: each limit holds, and others are still served.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_adapter::proto::http::Refusal;
use mcp_adapter::proto::{Limits, Principal, Progress};
use mcp_adapter::{Cx, Server, SubscriptionSettings, Tool};
use mcp_blocking::http::{Http, HttpLimits};
use mcp_http_tests::{
    PATIENCE, Pending, Request, Runtime, Served, Session, eventually, initialize,
    initialize_with_icons, modern, post, rows, server, text, tool,
};
use serde_json::json;

rows! {
    sessions_that_are_never_used_expire_early,
    a_flood_of_sessions_does_not_end_those_in_use,
    sessions_are_limited_per_address,
    sessions_are_limited_per_principal,
    a_large_client_description_is_refused,
    descriptions_share_one_budget,
    bodies_in_progress_share_one_budget,
    bodies_of_one_address_leave_room_for_others,
    abandoned_requests_count_for_their_address,
    a_request_counts_for_its_address_although_another_stream_took_it_over,
    requests_in_flight_share_one_budget,
    replay_buffers_share_one_budget,
    subscriptions_share_one_budget,
    a_body_above_the_default_limit_is_refused,
    silent_connections_make_room_for_others,
    connections_are_limited_per_address,
    a_connection_is_refused_while_all_others_are_busy,
    a_client_that_does_not_read_is_given_up,
}

#[cfg(target_os = "linux")]
mod linux {
    use super::all_addresses_of_this_machine_count_as_one;

    mcp_http_tests::rows! { all_addresses_of_this_machine_count_as_one }
}

fn echoes(address: SocketAddr) -> bool {
    let call = modern("tools/call", json!({"name": "echo", "arguments": {"text": "on"}}));
    text(&call.send(address).answer()) == "on"
}

fn sessions_that_are_never_used_expire_early<R: Runtime>() {
    let options = Http::new()
        .limits(HttpLimits { unconfirmed_max: Duration::from_secs(2), ..HttpLimits::default() });
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let used = Session::open(served.address);
    for _ in 0..20 {
        assert_eq!(initialize().send(served.address).status, 200);
    }
    eventually("they expire", || (stats.sessions() == 1).then_some(()));
    assert_eq!(used.ping(), 200);
}

fn a_flood_of_sessions_does_not_end_those_in_use<R: Runtime>() {
    let options = Http::new().limits(HttpLimits { sessions_max: 8, ..HttpLimits::default() });
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let used = Session::open(served.address);
    let mut connection = initialize().start(served.address);
    for _ in 0..100 {
        assert_eq!(connection.next_reply().status, 200);
        connection.send(&initialize());
    }
    assert_eq!(connection.next_reply().status, 200);
    assert!(stats.sessions() == 8 && stats.sessions_evicted() >= 90, "{stats:?}");
    assert_eq!(used.ping(), 200);
    assert_eq!(Session::open(served.address).ping(), 200);
}

fn sessions_are_limited_per_address<R: Runtime>() {
    let options =
        Http::new().limits(HttpLimits { sessions_per_address_max: 2, ..HttpLimits::default() });
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let (first, second) = (Session::open(served.address), Session::open(served.address));
    let mut refused = initialize().send(served.address);
    assert_eq!((refused.status, stats.refused_by_address()), (429, 1));
    assert!(refused.field("retry-after").is_some());
    let why = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(why.contains("sessions_per_address_max"), "{why}");
    assert_eq!((first.ping(), second.delete()), (200, 204));
    eventually("there is room", || Session::try_open(served.address).ok());
}

fn sessions_are_limited_per_principal<R: Runtime>() {
    let options = Http::new()
        .limits(HttpLimits {
            sessions_max: 4,
            sessions_per_principal_max: 3,
            ..HttpLimits::default()
        })
        .authenticating(|head| {
            let user = head.headers.get("authorization").and_then(|user| user.to_str().ok());
            user.and_then(Principal::new).ok_or_else(|| Refusal::new(401, "who are you?"))
        });
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let opens = |user| initialize().field("Authorization", user).send(served.address);
    assert_eq!(opens("ada").status, 200);
    for _ in 0..3 {
        assert_eq!(opens("eve").status, 200);
    }
    let mut refused = opens("eve");
    assert_eq!((refused.status, stats.refused_by_address()), (429, 1));
    let why = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(why.contains("sessions_per_principal_max"), "{why}");
    assert_eq!((stats.sessions(), stats.sessions_evicted()), (4, 0), "ada's session is kept");
}

fn a_large_client_description_is_refused<R: Runtime>() {
    let options = Http::new();
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let mut refused = initialize_with_icons(70_000).send(served.address);
    assert_eq!(refused.json()["error"]["code"], -32602);
    assert_eq!(stats.sessions(), 0);
    assert_eq!(initialize_with_icons(60_000).send(served.address).status, 200);
    assert!(stats.sessions_bytes() > 60_000, "{stats:?}");
}

fn descriptions_share_one_budget<R: Runtime>() {
    let bytes_max = 2 << 20;
    let options =
        Http::new().limits(HttpLimits { sessions_bytes_max: bytes_max, ..HttpLimits::default() });
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let used = Session::open(served.address);
    for _ in 0..60 {
        assert_eq!(initialize_with_icons(30_000).send(served.address).status, 200);
        assert!(stats.sessions_bytes() <= bytes_max + (1 << 20), "{stats:?}");
    }
    assert!(stats.sessions_evicted() > 40, "{stats:?}");
    assert_eq!(used.ping(), 200);
}

/// Starts a request whose body stops after `bytes` bytes.
fn half_sent(address: SocketAddr, bytes: usize) -> Pending {
    let head = initialize().body(b"").field("Content-Length", "1000000");
    let mut pending = head.start(address);
    pending.write(&vec![b' '; bytes]);
    pending
}

fn bodies_in_progress_share_one_budget<R: Runtime>() {
    let bytes_max = 256 << 10;
    let options =
        Http::new().limits(HttpLimits { requests_bytes_max: bytes_max, ..HttpLimits::default() });
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let halves: Vec<Pending> = (0..2).map(|_| half_sent(served.address, 100_000)).collect();
    eventually("the bodies are counted", || (stats.requests_bytes() >= 200_000).then_some(()));
    let refused = half_sent(served.address, 100_000).reply();
    assert_eq!(refused.status, 503);
    assert!(refused.field("retry-after").is_some() && stats.requests_bytes() <= bytes_max);
    assert!(echoes(served.address), "small requests fit");
    drop(halves);
    eventually("the bytes are given back", || (stats.requests_bytes() == 0).then_some(()));
}

fn bodies_of_one_address_leave_room_for_others<R: Runtime>() {
    let options = Http::new()
        .limits(HttpLimits { requests_bytes_per_address_max: 256 << 10, ..HttpLimits::default() });
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let halves: Vec<Pending> = (0..2).map(|_| half_sent(served.address, 100_000)).collect();
    eventually("the bodies are counted", || (stats.requests_bytes() >= 200_000).then_some(()));
    let refused = half_sent(served.address, 100_000).reply();
    assert_eq!((refused.status, stats.refused_by_address()), (429, 1));
    assert!(refused.field("retry-after").is_some());
    drop(halves);
    eventually("the bytes are given back", || (stats.requests_bytes() == 0).then_some(()));
    assert!(echoes(served.address));
}

/// The client hangs up, but the requests continue.
fn abandoned_requests_count_for_their_address<R: Runtime>() {
    let options = Http::new()
        .limits(HttpLimits { requests_bytes_per_address_max: 256 << 10, ..HttpLimits::default() });
    let stats = options.stats();
    let (server, go) = waiting();
    let served = Served::on::<R>(server, options);
    let session = Session::open(served.address);
    let arguments = json!({"padding": "x".repeat(60_000)});
    let abandon = |id: u64| {
        let call = session.call(id, "wait", &arguments);
        let bytes = 62_000 * (id as usize + 1);
        eventually("the request is in flight", || (stats.requests_bytes() > bytes).then_some(()));
        drop(call);
    };
    (0..4).for_each(abandon);
    eventually("the hang-ups are noticed", || (stats.connections() == 0).then_some(()));
    let mut refused = session.call(4, "wait", &arguments).reply();
    assert_eq!(refused.status, 429);
    assert!(refused.text().contains("requests_bytes_per_address_max"));
    (0..4).for_each(|_| go.send(()).unwrap());
    eventually("the bytes are given back", || (stats.requests_bytes() == 0).then_some(()));
    go.send(()).unwrap();
    assert_eq!(session.call(5, "wait", &arguments).reply().status, 200);
}

fn a_request_counts_for_its_address_although_another_stream_took_it_over<R: Runtime>() {
    let options = Http::new()
        .limits(HttpLimits { requests_bytes_per_address_max: 128 << 10, ..HttpLimits::default() });
    let stats = options.stats();
    let (server, go) = waiting();
    let served = Served::on::<R>(server, options);
    let session = Session::open(served.address);
    let arguments = json!({"padding": "x".repeat(100_000)});
    let mut reply = session.call(1, "wait", &arguments).reply();
    // The first event has nothing but an id.
    assert_eq!(reply.event().unwrap().data, "");
    let other = session.listen(reply.last_id.as_deref());
    assert_eq!(reply.message(), None, "the other stream continues");
    drop((reply, other));
    eventually("the hang-ups are noticed", || (stats.connections() == 0).then_some(()));
    assert_eq!(session.call(2, "wait", &arguments).reply().status, 429);
    (0..2).for_each(|_| go.send(()).unwrap());
    eventually("the bytes are given back", || (stats.requests_bytes() == 0).then_some(()));
    assert_eq!(session.call(3, "wait", &arguments).reply().status, 200);
}

/// Builds a server whose tool `wait` waits for a signal.
pub(crate) fn waiting() -> (Server, Sender<()>) {
    let (go, goes) = channel::<()>();
    let goes = Arc::new(Mutex::new(goes));
    let server = server().add(Tool::define(tool("wait"), move || {
        goes.lock().unwrap().recv_timeout(PATIENCE)?;
        Ok("done")
    }));
    (server, go)
}

fn requests_in_flight_share_one_budget<R: Runtime>() {
    let options =
        Http::new().limits(HttpLimits { requests_bytes_max: 256 << 10, ..HttpLimits::default() });
    let stats = options.stats();
    let (server, go) = waiting();
    let served = Served::on::<R>(server, options);
    let session = Session::open(served.address);
    let arguments = json!({"padding": "x".repeat(60_000)});
    // The requests outlive their sockets.
    for id in 0..3 {
        let call = session.call(id, "wait", &arguments);
        // While a body is read, it counts less than a request in flight.
        let bytes = 62_000 * (id as usize + 1);
        eventually("the request is in flight", || (stats.requests_bytes() > bytes).then_some(()));
        drop(call);
    }
    let refused: Vec<u16> =
        (3..6).map(|id| session.call(id, "wait", &arguments)).map(status_or_open).collect();
    assert!(refused.contains(&503), "{refused:?}");
    assert!(stats.requests_bytes() < 512 << 10);
    (0..6).for_each(|_| go.send(()).unwrap());
    eventually("the bytes are given back", || (stats.requests_bytes() == 0).then_some(()));
    assert_eq!(session.ping(), 200);
}

/// Returns the status of a response; 0 if it is an event stream, or has not begun.
fn status_or_open(pending: Pending) -> u16 {
    let reply = pending.reply();
    if reply.status == 200 { 0 } else { reply.status }
}

fn replay_buffers_share_one_budget<R: Runtime>() {
    let bytes_max = 100_000;
    let options =
        Http::new().limits(HttpLimits { sessions_bytes_max: bytes_max, ..HttpLimits::default() });
    let stats = options.stats();
    // An event stream, whose messages are kept although the client has read them.
    let server = server().add(Tool::define(tool("chatty"), |cx: Cx| {
        cx.progress(Progress::new(1.0))?;
        Ok("x".repeat(10_000))
    }));
    let served = Served::on::<R>(server, options);
    let sessions: Vec<Session> = (0..5).map(|_| Session::open(served.address)).collect();
    for id in 0..10 {
        for session in &sessions {
            let mut reply = session.call(id, "chatty", &json!({})).reply();
            let messages = std::iter::from_fn(|| reply.message()).count();
            assert_eq!(messages, 2, "progress and a result");
            assert!(stats.sessions_bytes() <= bytes_max + 20_000, "{stats:?}");
        }
    }
    assert!(stats.sessions_bytes() > 10_000, "{stats:?}");
    assert!(sessions.iter().all(|session| session.ping() == 200));
}

fn subscriptions_share_one_budget<R: Runtime>() {
    let options =
        Http::new().limits(HttpLimits { sessions_bytes_max: 100_000, ..HttpLimits::default() });
    let stats = options.stats();
    let server = server()
        .resource("note://one", "one", || "")
        .subscriptions(SubscriptionSettings::new().accept(|_, _| true));
    let served = Served::on::<R>(server, options);
    let uris: Vec<String> = (0..50).map(|n| format!("note://{n}/{}", "x".repeat(500))).collect();
    let listen =
        modern("subscriptions/listen", json!({"notifications": {"resourceSubscriptions": uris}}));
    let first = listen.send(served.address);
    assert_eq!(first.status, 200);
    eventually("it is counted", || (stats.sessions_bytes() > 100_000).then_some(()));
    let refused = listen.send(served.address);
    assert_eq!((refused.status, stats.refused()), (503, 1));
    assert!(echoes(served.address), "requests do not add to it");
    drop(first);
    eventually("there is room", || (listen.send(served.address).status == 200).then_some(()));
}

fn a_body_above_the_default_limit_is_refused<R: Runtime>() {
    let served = Served::echo::<R>();
    let padded = |bytes: usize| post(&json!({"padding": "x".repeat(bytes)}));
    assert_eq!(padded(4 << 20).send(served.address).status, 413);
    assert_eq!(padded((4 << 20) - 100).send(served.address).status, 400);
    assert!(echoes(served.address));
}

fn silent(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Returns whether the server has closed a connection that sent nothing.
fn is_closed(mut stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    !matches!(stream.read(&mut [0]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
}

fn silent_connections_make_room_for_others<R: Runtime>() {
    let options = Http::new().limits(HttpLimits { connections_max: 4, ..HttpLimits::default() });
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let session = Session::open(served.address);
    let mut listening = session.listen(None);
    assert!(listening.event().is_some());
    let renewed: Vec<TcpStream> = (0..20)
        .map(|_| {
            let renewed = silent(served.address);
            assert!(echoes(served.address));
            renewed
        })
        .collect();
    assert!(stats.connections_evicted() >= 10, "{stats:?}");
    let closed = renewed.iter().filter(|stream| is_closed(stream)).count();
    assert!(closed >= 10, "{closed}");
    // A connection in use is never closed.
    assert_eq!(session.delete(), 204);
    assert_eq!(listening.message(), None);
}

fn connections_are_limited_per_address<R: Runtime>() {
    let options =
        Http::new().limits(HttpLimits { connections_per_address_max: 2, ..HttpLimits::default() });
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let ping = modern("tools/call", json!({"name": "echo", "arguments": {"text": "on"}}));
    let silent = [silent(served.address), silent(served.address)];
    eventually("they are open", || (stats.connections() == 2).then_some(()));
    assert_eq!(ping.send(served.address).status, 200, "an idle one makes room");
    assert_eq!((stats.connections_evicted(), stats.refused_by_address()), (1, 0));
    drop(silent);
    eventually("they are closed", || (stats.connections() == 0).then_some(()));
    let one = half_sent(served.address, 100);
    let bytes = eventually("one is busy", || Some(stats.requests_bytes()).filter(|it| *it > 200));
    let open = [one, half_sent(served.address, 100)];
    eventually("both are busy", || (stats.requests_bytes() >= 2 * bytes).then_some(()));
    let refused = ping.send(served.address);
    assert_eq!((refused.status, stats.refused_by_address()), (429, 1));
    assert!(refused.field("retry-after").is_some());
    drop((open, refused));
    eventually("there is room", || (ping.send(served.address).status == 200).then_some(()));
}

/// Connects from one of the addresses of this machine.
#[cfg(target_os = "linux")]
fn connect_from(host: u8, address: SocketAddr) -> TcpStream {
    use socket2::{Domain, Socket, Type};

    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from(([127, 0, 0, host], 0)).into()).unwrap();
    socket.connect(&address.into()).unwrap();
    socket.into()
}

#[cfg(target_os = "linux")]
fn all_addresses_of_this_machine_count_as_one<R: Runtime>() {
    let options =
        Http::new().limits(HttpLimits { connections_per_address_max: 2, ..HttpLimits::default() });
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let busy = initialize().body(b"").field("Content-Length", "1000").bytes();
    let open: Vec<TcpStream> = (2..4)
        .map(|host| {
            let mut stream = connect_from(host, served.address);
            let bytes = stats.requests_bytes();
            stream.write_all(&busy).unwrap();
            eventually("it is busy", || (stats.requests_bytes() > bytes).then_some(()));
            stream
        })
        .collect();
    assert_eq!((open.len(), initialize().send(served.address).status), (2, 429));
    let mut fourth = connect_from(200, served.address);
    fourth.write_all(&initialize().bytes()).unwrap();
    let mut response = [0; 12];
    fourth.read_exact(&mut response).unwrap();
    assert_eq!(&response, b"HTTP/1.1 429");
}

fn a_connection_is_refused_while_all_others_are_busy<R: Runtime>() {
    let options = Http::new().limits(HttpLimits { connections_max: 2, ..HttpLimits::default() });
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let listen =
        modern("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let mut listening = [listen.send(served.address), listen.send(served.address)];
    let refused = listen.send(served.address);
    assert_eq!((refused.status, stats.refused()), (503, 1));
    assert!(refused.field("retry-after").is_some());
    for listening in &mut listening {
        let acknowledged = listening.message().unwrap();
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    }
    drop(listening);
    eventually("there is room", || (listen.send(served.address).status == 200).then_some(()));
}

fn a_client_that_does_not_read_is_given_up<R: Runtime>() {
    let limits = Limits { stall_timeout: Duration::from_millis(200), ..Limits::default() };
    let options = Http::new();
    let stats = options.stats();
    let server = server().limits(limits).add(Tool::define(tool("flood"), || "x".repeat(30 << 20)));
    let served = Served::on::<R>(server, options);
    let session = Session::open(served.address);
    let flood = modern("tools/call", json!({"name": "flood", "arguments": {}}));
    let within = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "flood", "arguments": {}}});
    let requests: [Request; 2] = [flood, session.within(post(&within))];
    for (stalled, request) in (1..).zip(requests) {
        let mut stream = silent(served.address);
        stream.write_all(&request.bytes()).unwrap();
        eventually("the server gives up", || {
            (stats.connections_stalled() == stalled).then_some(())
        });
        eventually("the connection ends", || (stats.connections() == 0).then_some(()));
    }
    assert_eq!(session.ping(), 200);
}
