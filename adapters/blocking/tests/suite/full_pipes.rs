//! Full pipes: both sides send more than a pipe holds, and peers do not read, or read slowly.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_blocking::proto::schema::{Level, Ping};
use mcp_blocking::proto::{CallError, CloseReason, Limits, Misuse, Revision};
use mcp_blocking::{Cx, Error};
use serde_json::{Value, json};

use crate::common;
use crate::common::{
    Hand, client, connect_by_hand, pair, part, raw, serve_by_hand, server, success, tool, welcome,
    with_timeout,
};

const FOREVER: Duration = Duration::MAX;
const SOON: Duration = Duration::from_millis(50);

/// Returns a text larger than a pipe.
fn large(filling: &str) -> String {
    filling.repeat(200_000)
}

/// Returns limits that are reached quickly.
fn narrow() -> Limits {
    Limits {
        outbox_bytes_max: 10_000,
        events_max: 2,
        events_bytes_max: 10_000,
        ..Limits::default()
    }
}

#[test]
fn both_sides_flood_concurrently_without_deadlock() {
    with_timeout(|| {
        let heard = Arc::new(AtomicUsize::new(0));
        let hearing = Arc::clone(&heard);
        let client = client().limits(narrow()).on_notification(move |_, _, _| {
            hearing.fetch_add(1, Ordering::Relaxed);
        });
        let server = server().limits(narrow()).logging().threads_max(4).add(tool(
            "flood",
            |arguments: Value, cx: Cx| {
                for number in 0..10 {
                    cx.log(Level::Info, &json!({"number": number, "text": "log".repeat(10_000)}))
                        .wait()?;
                }
                Ok(arguments["text"].as_str().unwrap().replace('x', "y"))
            },
        ));
        let (client, serving) = pair(client, server);
        client.set_log_level(Level::Debug).wait().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..4 {
                        let outcome =
                            client.call_tool("flood", &json!({"text": large("x")})).wait();
                        assert!(success(outcome) == large("y"));
                    }
                });
            }
        });
        part(client, serving);
        common::eventually("all is heard", || heard.load(Ordering::Relaxed) == 8 * 4 * 10);
    });
}

#[test]
fn a_client_reads_and_times_out_while_its_output_is_stuck() {
    with_timeout(|| {
        let (says, hears) = channel();
        let listening = client().limits(narrow()).on_notification(move |_, params, _| {
            let _test_has_ended = says.send(params.unwrap().member("data").unwrap().to_string());
        });
        let (client, mut hand) = connect_by_hand(listening);
        // The server does not read: the first call fills the pipe and the outbox, and the others
        // have no room.
        let call = |timeout| client.call_tool("any", &json!({"text": large("x")})).timeout(timeout);
        let first = call(FOREVER).start().wait().unwrap();
        for _ in 0..2 {
            let outcome = call(SOON).wait();
            let gave_up = matches!(
                outcome,
                Err(Error::Call(CallError::TimedOut) | Error::Misuse(Misuse::Blocked))
            );
            assert!(gave_up, "{outcome:?}");
        }
        for number in 0..100 {
            hand.notify("notifications/message", &json!({"level": "info", "data": number}));
            assert_eq!(hears.recv().unwrap(), number.to_string());
        }
        // The response to the call that is stuck arrives nevertheless.
        hand.answer(
            &json!({"id": 2}),
            &json!({"content": [{"type": "text", "text": "I guessed it"}]}),
        );
        assert_eq!(success(first.wait()), "I guessed it");
        client.close().wait().unwrap();
    });
}

#[test]
fn a_call_waits_for_room() {
    with_timeout(|| {
        let (client, mut hand) = connect_by_hand(client().limits(narrow()));
        let calling = std::thread::spawn(move || {
            let open: Vec<_> = (0..10)
                .map(|number| {
                    client.call_tool("any", &json!({"number": number, "text": large("x")}))
                })
                .map(|call| call.start().wait().unwrap())
                .collect();
            open.into_iter().map(|open| success(open.wait())).collect::<Vec<_>>()
        });
        for number in 0..10 {
            let asked = hand.hear();
            assert_eq!(asked["params"]["arguments"]["number"], number);
            hand.answer(
                &asked,
                &json!({"content": [{"type": "text", "text": number.to_string()}]}),
            );
        }
        let said = calling.join().unwrap();
        assert_eq!(said, (0..10).map(|number| number.to_string()).collect::<Vec<_>>());
    });
}

#[test]
fn a_server_keeps_reading_while_its_responses_are_stuck() {
    with_timeout(|| {
        let (says, hears) = channel();
        let says = Mutex::new(says);
        let server =
            server().add(tool("large", || large("x"))).add(tool("sleep", move |cx: Cx| {
                let says = says.lock().unwrap().clone();
                says.send("asleep")?;
                assert!(cx.sleep(FOREVER).wait());
                says.send("cancelled")?;
                Ok("never heard")
            }));
        let (mut hand, serving) = serve_by_hand(server);
        hand.greet(json!({}));
        for id in 0..20 {
            hand.call_tool(id, "large", &json!({}));
        }
        hand.call_tool(20, "sleep", &json!({}));
        assert_eq!(hears.recv().unwrap(), "asleep");
        hand.notify("notifications/cancelled", &json!({"requestId": 20}));
        assert_eq!(hears.recv().unwrap(), "cancelled");
        let mut answered: Vec<_> = (0..20).map(|_| hand.hear()["id"].as_u64().unwrap()).collect();
        answered.sort_unstable();
        assert_eq!(answered, (0..20).collect::<Vec<_>>());
        drop(hand);
        serving.join().unwrap().unwrap();
    });
}

#[test]
fn a_handler_that_waits_for_room_is_released_when_the_client_disconnects() {
    with_timeout(|| {
        let (says, hears) = channel();
        let says = Mutex::new(says);
        let server = server().limits(narrow()).logging().add(tool("flood", move |cx: Cx| {
            let says = says.lock().unwrap().clone();
            says.send(Ok(()))?;
            loop {
                if let Err(misuse) = cx.log(Level::Info, &large("x")).wait() {
                    says.send(Err(misuse))?;
                    return Ok("never heard");
                }
            }
        }));
        let (mut hand, serving) = serve_by_hand(server);
        hand.greet(json!({}));
        hand.call_tool(1, "flood", &json!({}));
        assert_eq!(hears.recv().unwrap(), Ok(()));
        hand.hear_notification("notifications/message");
        drop(hand);
        serving.join().unwrap().unwrap();
        assert!(matches!(hears.recv().unwrap(), Err(Misuse::Closed | Misuse::Stale)));
    });
}

#[test]
fn a_client_that_never_reads_is_disconnected() {
    with_timeout(|| {
        let limits =
            Limits { replies_bytes_max: 100_000, stall_timeout: SOON, ..Limits::default() };
        let server = server().limits(limits).add(tool("large", || large("x")));
        let (mut hand, serving) = serve_by_hand(server);
        hand.greet(json!({}));
        let asking = std::thread::spawn(move || {
            // The server first stops reading and later disconnects.
            for id in 0.. {
                let params = json!({"name": "large"});
                let line =
                    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
                if writeln!(hand.writer, "{line}").is_err() {
                    return id;
                }
            }
            0
        });
        let ended = serving.join().unwrap().unwrap_err();
        assert!(ended.to_string().contains("stopped reading"), "{ended}");
        let asked: u64 = asking.join().unwrap();
        assert!(asked > 1);
    });
}

/// Returns a few bytes at a time, and is interrupted between reads.
struct Trickle(PipeReader, usize);

impl Read for Trickle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 += 1;
        if self.1.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let count = buffer.len().min(1 + self.1 % 7);
        self.0.read(&mut buffer[..count])
    }
}

/// Accepts a few bytes at a time, and is interrupted between writes.
struct Sip(PipeWriter, usize);

impl Write for Sip {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1 += 1;
        if self.1.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.0.write(&bytes[..bytes.len().min(1 + self.1 % 11)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[test]
fn streams_may_transfer_single_bytes() {
    with_timeout(|| {
        let (from_client, to_server) = io::pipe().unwrap();
        let (from_server, to_client) = io::pipe().unwrap();
        let server = server()
            .add(tool("echo", |arguments: Value| arguments["text"].as_str().unwrap().to_owned()));
        let serving = std::thread::spawn(move || {
            Ok(server.serve(Trickle(from_client, 0), Sip(to_client, 0)).wait()?)
        });
        let client = client().connect(Trickle(from_server, 1), Sip(to_server, 1)).wait().unwrap();
        let text = "grüße, \"Ada\"\n".repeat(200);
        assert_eq!(success(client.call_tool("echo", &json!({"text": text})).wait()), text);
        part(client, serving);
    });
}

#[test]
fn sockets_work_and_are_shut_down() {
    fn meet<S: Read + Write + Send + 'static>(ours: [S; 2], theirs: [S; 2]) {
        let server = server().add(tool("echo", |arguments: Value| arguments["text"].to_string()));
        let [reader, writer] = theirs;
        let serving = std::thread::spawn(move || Ok(server.serve(reader, writer).wait()?));
        let [reader, writer] = ours;
        let client = client().connect(reader, writer).wait().unwrap();
        assert_eq!(success(client.call_tool("echo", &json!({"text": 5})).wait()), "5");
        part(client, serving);
    }
    with_timeout(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (theirs, _) = listener.accept().unwrap();
        meet([ours.try_clone().unwrap(), ours], [theirs.try_clone().unwrap(), theirs]);
        #[cfg(unix)]
        {
            let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
            meet([ours.try_clone().unwrap(), ours], [theirs.try_clone().unwrap(), theirs]);
        }
    });
}

/// A pipe that breaks on demand and reports when a write has failed.
struct Brittle {
    pipe: PipeWriter,
    breaks: Receiver<()>,
    noticed: Sender<()>,
}

impl Write for Brittle {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.breaks.try_recv().is_ok() {
            let _test_has_ended = self.noticed.send(());
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.pipe.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.flush()
    }
}

#[test]
fn output_of_a_server_that_stopped_reading_is_read_to_its_end() {
    with_timeout(|| {
        let (from_client, to_server) = io::pipe().unwrap();
        let (from_server, to_client) = io::pipe().unwrap();
        let (break_it, breaks) = channel();
        let (noticed, notices) = channel();
        let brittle = Brittle { pipe: to_server, breaks, noticed };
        let connecting = std::thread::spawn(move || {
            client().revisions(&Revision::LEGACY).connect(from_server, brittle).wait().unwrap()
        });
        let mut hand = Hand::new(from_client, to_client);
        let hello = hand.hear();
        hand.answer(&hello, &welcome());
        hand.hear_notification("notifications/initialized");
        let client = connecting.join().unwrap();

        let open = client.call_tool("last", &json!({})).start().wait().unwrap();
        let asked = hand.hear();
        // The server answers this call and exits, so everything sent after it hits a broken pipe.
        break_it.send(()).unwrap();
        client.notify_raw("notifications/test", Some(&raw(json!({})))).wait().unwrap();
        notices.recv().unwrap();
        let ping = client.call(Ping::new()).timeout(Duration::from_millis(20)).wait();
        assert!(
            matches!(ping, Err(Error::Call(CallError::TimedOut))),
            "it ended too soon: {ping:?}"
        );
        hand.answer(&asked, &json!({"content": [{"type": "text", "text": "goodbye"}]}));
        drop(hand);
        assert_eq!(success(open.wait()), "goodbye");
        common::eventually("the connection is over", || {
            client.close_reason() == Some(CloseReason::Peer)
        });
    });
}

#[test]
fn a_silent_server_that_stopped_reading_is_given_up() {
    with_timeout(|| {
        let (client, Hand { reader, mut writer }) = connect_by_hand(client());
        let open = client.call_tool("any", &json!({})).start().wait().unwrap();
        drop(reader);
        // The first write after the end detects it.
        let outcome = client.ping().wait();
        assert!(matches!(outcome, Err(Error::Call(CallError::Lost))), "{outcome:?}");
        assert!(matches!(open.wait(), Err(Error::Call(CallError::Lost))));
        writer.flush().unwrap();
        client.close().wait().unwrap();
    });
}
