//! Servers that a loop drives by hand, without threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mcp_adapter::proto::schema::Level;
use mcp_adapter::proto::{Instant, Progress};
use mcp_adapter::{Cx, HandlerError, ManualServer, Server, Tool};
use mcp_adapter_tests::{full_server, server, tool};
use serde_json::{Value, json};

use crate::results::with_broken_results;

/// A connection whose output is collected as messages.
struct Loop {
    connection: ManualServer,
    now: Instant,
}

impl Loop {
    /// Opens a legacy session.
    fn open(server: &Server) -> Self {
        let connection = server.manual(Instant::ZERO, None).unwrap();
        let mut frames = Self { connection, now: Instant::ZERO };
        frames.send(&json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"elicitation": {}},
                "clientInfo": {"name": "c", "version": "1"},
            },
        }));
        frames.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        assert_eq!(frames.receive().len(), 1);
        frames
    }

    fn send(&mut self, message: &Value) {
        assert!(self.connection.wants_input());
        self.connection.handle_input(self.now, format!("{message}\n").as_bytes());
    }

    fn call(&mut self, id: u32, tool: &str) {
        self.send(&json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": tool, "arguments": {}, "_meta": {"progressToken": id}},
        }));
    }

    /// Runs all handlers that are ready, and returns how many there were.
    fn run(&mut self) -> usize {
        (0..).take_while(|_| self.connection.run_handler(self.now)).count()
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        self.connection.handle_timeout(self.now);
    }

    /// Takes the output, a few bytes at a time.
    fn receive(&mut self) -> Vec<Value> {
        let mut bytes = Vec::new();
        loop {
            let piece = self.connection.output();
            let count = piece.len().min(7);
            if count == 0 {
                break;
            }
            bytes.extend_from_slice(&piece[..count]);
            self.connection.advance(count);
        }
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }
}

fn text(message: &Value) -> &str {
    message["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn handlers_run_one_by_one_on_the_thread_of_the_loop() {
    let here = thread::current().id();
    let server = server().add(Tool::define(tool("where"), move |cx: Cx| {
        assert_eq!(thread::current().id(), here);
        cx.progress(Progress::new(1.0))?;
        // Returns immediately: the loop must continue.
        let began = std::time::Instant::now();
        assert!(!cx.sleep(Duration::from_secs(20)).wait());
        assert!(began.elapsed() < Duration::from_secs(10));
        Ok("here")
    }));
    let mut frames = Loop::open(&server);
    (1..=3).for_each(|id| frames.call(id, "where"));
    assert!(frames.receive().is_empty());
    for id in 1..=3 {
        assert!(frames.connection.has_ready_handler());
        assert!(frames.connection.run_handler(frames.now));
        let sent = frames.receive();
        assert_eq!(sent[0]["params"]["progressToken"], id);
        assert_eq!((sent[1]["id"].as_u64(), text(&sent[1])), (Some(id), "here"));
    }
    assert!(!frames.connection.has_ready_handler() && !frames.connection.run_handler(frames.now));
    frames.connection.outcome().unwrap();
}

#[test]
fn futures_sleep_by_the_time_of_the_loop() {
    let mut frames = Loop::open(&full_server());
    frames.call(1, "slow");
    assert_eq!(frames.run(), 1);
    let due = frames.connection.poll_timeout().unwrap();
    assert_eq!(due, frames.now + Duration::from_millis(400));
    frames.wait(Duration::from_millis(399));
    assert_eq!((frames.run(), frames.receive().len()), (0, 0));
    frames.wait(Duration::from_millis(1));
    assert!(frames.run() > 0);
    assert_eq!(text(&frames.receive()[0]), "slow");
}

#[test]
fn a_question_runs_the_handler_again_with_the_answer() {
    let mut frames = Loop::open(&full_server());
    for (id, tool) in [(1, "who"), (2, "who_plain")] {
        frames.call(id, tool);
        frames.run();
        let question = frames.receive().remove(0);
        assert_eq!(question["method"], "elicitation/create");
        let answer = json!({"action": "accept", "content": {"name": "Ada"}});
        frames.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
        frames.run();
        assert_eq!(text(&frames.receive()[0]), "Ada");
    }
}

#[test]
fn a_handler_of_a_cancelled_request_does_not_start() {
    let runs = Arc::new(AtomicUsize::new(0));
    let (plain, future) = (Arc::clone(&runs), Arc::clone(&runs));
    let server = server()
        .add(Tool::define(tool("plain"), move || {
            plain.fetch_add(1, Ordering::SeqCst);
        }))
        .add(Tool::define(tool("future"), move || {
            future.fetch_add(1, Ordering::SeqCst);
            async {}
        }));
    let mut frames = Loop::open(&server);
    for (id, tool) in [(1, "plain"), (2, "future"), (3, "plain")] {
        frames.call(id, tool);
        if id < 3 {
            let cancel = json!({"requestId": id});
            let method = "notifications/cancelled";
            frames.send(&json!({"jsonrpc": "2.0", "method": method, "params": cancel}));
        }
    }
    frames.run();
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    let sent = frames.receive();
    assert_eq!((sent.len(), sent[0]["id"].as_u64()), (1, Some(3)));
}

#[test]
fn a_panic_fails_its_request_only() {
    only_these_fail(&full_server(), ["panic", "panic_plain"]);
}

#[test]
fn a_result_whose_encoding_panics_fails_its_request_only() {
    only_these_fail(&full_server().layer(with_broken_results), ["count", "count_plain"]);
}

/// Calls these tools, which fail with an internal error, and one more, which answers.
fn only_these_fail(server: &Server, failing: [&str; 2]) {
    let mut frames = Loop::open(server);
    for (id, tool) in (1..).zip(failing.into_iter().chain(["echo"])) {
        frames.call(id, tool);
    }
    frames.run();
    let sent = frames.receive();
    assert_eq!(sent.iter().filter(|reply| reply["error"]["code"] == -32603).count(), 2);
    assert!(sent.iter().any(|reply| reply["id"] == 3 && reply["result"].is_object()));
}

#[test]
fn log_messages_leave_before_the_response() {
    let server = server().logging().add(Tool::define(tool("log"), |cx: Cx| {
        cx.log(Level::Error, "careful").wait()?;
        Ok("done")
    }));
    let mut frames = Loop::open(&server);
    frames.call(1, "log");
    frames.run();
    let sent = frames.receive();
    assert_eq!(sent[0]["params"]["data"], "careful");
    assert_eq!(text(&sent[1]), "done");
}

#[test]
fn changes_are_sent_from_any_thread() {
    let mut server = full_server();
    let changes = server.changes();
    let mut frames = Loop::open(&server);
    thread::spawn(move || changes.tools_list_changed()).join().unwrap().unwrap();
    assert_eq!(frames.receive()[0]["method"], "notifications/tools/list_changed");
}

#[test]
fn callbacks_run_in_the_loop() {
    let (here, seen) = (thread::current().id(), Arc::new(Mutex::new(Vec::new())));
    let violations = Arc::clone(&seen);
    let server = full_server().on_violation(move |_| {
        violations.lock().unwrap().push(thread::current().id());
    });
    let mut frames = Loop::open(&server);
    frames.connection.handle_input(frames.now, b"nonsense\n");
    assert!(seen.lock().unwrap().is_empty());
    frames.run();
    assert_eq!(*seen.lock().unwrap(), [here]);
}

#[test]
fn open_requests_are_answered_after_the_end_of_the_input() {
    let mut frames = Loop::open(&full_server());
    frames.call(1, "slow");
    frames.connection.handle_eof(frames.now);
    frames.run();
    assert!(!frames.connection.is_closed());
    frames.wait(Duration::from_millis(400));
    frames.run();
    assert_eq!(text(&frames.receive()[0]), "slow");
    assert!(frames.connection.is_closed());
    frames.connection.outcome().unwrap();
}

#[test]
fn dropping_the_connection_drops_its_futures() {
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let server = server().add(Tool::define(tool("hang"), move |cx: Cx| {
        let held = Arc::clone(&held);
        async move {
            cx.sleep(Duration::from_secs(3600)).await;
            drop(held);
            Ok::<_, HandlerError>(())
        }
    }));
    let mut frames = Loop::open(&server);
    frames.call(1, "hang");
    frames.run();
    assert_eq!(Arc::strong_count(&alive), 3);
    drop(frames);
    assert_eq!(Arc::strong_count(&alive), 2);
}

/// The future keeps its own waker: it waits for a channel of which it holds both ends.
#[test]
fn dropping_the_connection_drops_futures_that_keep_their_waker() {
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let server = server().add(Tool::define(tool("hang"), move || {
        let held = Arc::clone(&held);
        async move {
            let (sender, receiver) = smol::channel::bounded::<()>(1);
            let _never = receiver.recv().await;
            drop((sender, held));
            Ok::<_, HandlerError>(())
        }
    }));
    let mut frames = Loop::open(&server);
    frames.call(1, "hang");
    frames.run();
    assert_eq!(Arc::strong_count(&alive), 3);
    drop(frames);
    assert_eq!(Arc::strong_count(&alive), 2);
}
