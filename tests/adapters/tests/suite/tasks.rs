//! Calls of tools that become tasks, by clients of revision 2026-07-28 that speak by hand.

use std::io::{BufRead, BufReader, Write};
use std::thread;
use std::time::{Duration, Instant};

use mcp_adapter::layers::Timeout;
use mcp_adapter::proto::schema::{Elicit, Form, Map, OrUnknown};
use mcp_adapter::tasks::TaskPolicy;
use mcp_adapter::{Cx, HandlerError, Server, Tool};
use mcp_adapter_tests::{Runtime, Socket, rows, serve, server, socket_pair};
use serde_json::{Value, json};
use smol::channel::{Receiver, Sender, bounded};
use smol::unblock;

rows! {
    tasks_outlive_the_connection_of_their_call,
    timeouts_of_tasks_outlive_connections_too,
    tasks_need_the_extension,
    failures_end_tasks,
    cancelled_handlers_are_stopped,
    tasks_ask_for_input,
    input_is_asked_before_the_task,
}

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// A client by hand.
struct Hand {
    writer: Socket,
    reader: BufReader<Socket>,
}

impl Hand {
    fn new<R: Runtime>(server: &Server) -> Self {
        let (ours, theirs) = socket_pair();
        drop(serve::<R>(server.clone(), theirs));
        ours.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self { writer: ours.try_clone().unwrap(), reader: BufReader::new(ours) }
    }

    /// Sends a request and returns its response.
    fn send(&mut self, method: &str, mut params: Value, extensions: &Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":
                {"elicitation": {}, "extensions": extensions},
        });
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        writeln!(self.writer, "{request}").unwrap();
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let mut response = self.send(method, params, &json!({TASKS: {}}));
        assert!(response["error"].is_null(), "{method}: {response}");
        response["result"].take()
    }

    /// Calls a tool; returns the task that it became.
    fn create(&mut self, tool: &str) -> String {
        let created = self.request("tools/call", json!({"name": tool}));
        assert_eq!(created["resultType"], "task", "{created}");
        assert_eq!(created["status"], "working", "{created}");
        created["taskId"].as_str().unwrap().to_owned()
    }

    fn get(&mut self, task: &str) -> Value {
        self.request("tasks/get", json!({"taskId": task}))
    }

    /// Polls until the task is no longer `working`.
    fn poll(&mut self, task: &str) -> Value {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let status = self.get(task);
            if status["status"] != "working" {
                return status;
            }
            assert!(Instant::now() < deadline, "{status}");
            thread::yield_now();
        }
    }
}

/// A server with a tool that waits for a signal, as a function and as a future.
fn gated() -> (Server, Sender<()>) {
    let (open, gate): (_, Receiver<()>) = bounded(2);
    let other = gate.clone();
    let server = server()
        .add(
            Tool::new("function", move || {
                gate.recv_blocking().map_err(|_| HandlerError::failed("closed"))?;
                Ok("opened")
            })
            .always_on_pool()
            .as_task(TaskPolicy::optional()),
        )
        .add(
            Tool::new("future", move |cx: Cx| {
                let gate = other.clone();
                async move {
                    cx.sleep(Duration::from_millis(1)).await;
                    gate.recv().await.map_err(|_| HandlerError::failed("closed"))?;
                    Ok("opened")
                }
            })
            .as_task(TaskPolicy::required().poll_interval(Duration::from_secs(2))),
        );
    (server, open)
}

// TSK-28
async fn tasks_outlive_the_connection_of_their_call<R: Runtime>() {
    for tool in ["function", "future"] {
        let (server, open) = gated();
        let (mut first, mut second) = (Hand::new::<R>(&server), Hand::new::<R>(&server));
        unblock(move || {
            let task = first.create(tool);
            assert_eq!(first.get(&task)["status"], "working");
            drop(first);
            assert_eq!(second.get(&task)["status"], "working");
            open.send_blocking(()).unwrap();
            let done = second.poll(&task);
            assert_eq!(done["status"], "completed", "{done}");
            assert_eq!(done["resultType"], "complete", "{done}");
            assert_eq!(done["result"]["content"][0]["text"], "opened", "{done}");
        })
        .await;
    }
}

async fn timeouts_of_tasks_outlive_connections_too<R: Runtime>() {
    for tool in ["function", "future"] {
        // The connection ends long before the timeout, and the task continues.
        let (server, open) = gated();
        let server = server.layer(Timeout::new(Duration::from_secs(600)));
        let (mut first, mut second) = (Hand::new::<R>(&server), Hand::new::<R>(&server));
        unblock(move || {
            let task = first.create(tool);
            drop(first);
            assert_eq!(second.get(&task)["status"], "working", "{tool}");
            open.send_blocking(()).unwrap();
            let done = second.poll(&task);
            assert_eq!(done["status"], "completed", "{done}");
        })
        .await;
        // The timeout ends a task whose connection is over.
        let (server, open) = gated();
        let server = server.layer(Timeout::new(Duration::from_millis(200)));
        let (mut first, mut second) = (Hand::new::<R>(&server), Hand::new::<R>(&server));
        unblock(move || {
            let task = first.create(tool);
            drop(first);
            let done = second.poll(&task);
            assert!(done.to_string().contains("did not finish within 200ms"), "{done}");
            drop(open);
        })
        .await;
    }
}

// TSK-24, TSK-25
async fn tasks_need_the_extension<R: Runtime>() {
    let (server, open) = gated();
    let mut hand = Hand::new::<R>(&server);
    unblock(move || {
        let discovered = hand.request("server/discover", json!({}));
        assert_eq!(discovered["capabilities"]["extensions"][TASKS], json!({}));
        assert!(discovered["capabilities"]["tasks"].is_null(), "{discovered}");
        open.send_blocking(()).unwrap();
        let direct = hand.send("tools/call", json!({"name": "function"}), &json!({}));
        assert_eq!(direct["result"]["resultType"], "complete", "{direct}");
        let task = hand.create("future");
        let params = json!({"taskId": task});
        // TSK-26, TSK-37.
        for (method, params, extensions, code) in [
            ("tools/call", json!({"name": "future"}), json!({}), -32021),
            ("tasks/get", params.clone(), json!({}), -32021),
            ("tasks/result", params, json!({TASKS: {}}), -32601),
            ("tasks/list", json!({}), json!({TASKS: {}}), -32601),
            ("tasks/get", json!({"taskId": "other"}), json!({TASKS: {}}), -32602),
        ] {
            let refused = hand.send(method, params, &extensions);
            assert_eq!(refused["error"]["code"], code, "{method}: {refused}");
        }
    })
    .await;
}

async fn failures_end_tasks<R: Runtime>() {
    let server = server()
        .add(Tool::new("panics", || -> &str { panic!("secret") }).as_task(TaskPolicy::required()))
        .add(
            Tool::new("fails", || Err::<&str, _>(HandlerError::failed("sold out")))
                .as_task(TaskPolicy::required()),
        );
    let mut hand = Hand::new::<R>(&server);
    unblock(move || {
        let task = hand.create("panics");
        let failed = hand.poll(&task);
        assert_eq!(failed["status"], "failed", "{failed}");
        assert_eq!(failed["error"]["code"], -32603, "{failed}");
        assert!(!failed.to_string().contains("secret"), "{failed}");
        let task = hand.create("fails");
        let done = hand.poll(&task);
        assert_eq!(done["status"], "completed", "{done}");
        assert_eq!(done["result"]["isError"], true, "{done}");
    })
    .await;
}

async fn cancelled_handlers_are_stopped<R: Runtime>() {
    let (send, stopped) = bounded(1);
    let server = server().add(
        Tool::new("waits", move |cx: Cx| {
            let _sent = send.send_blocking(cx.sleep(Duration::from_secs(60)).wait());
            "over"
        })
        .always_on_pool()
        .as_task(TaskPolicy::optional()),
    );
    let mut hand = Hand::new::<R>(&server);
    unblock(move || {
        let task = hand.create("waits");
        for _ in 0..2 {
            let done = hand.request("tasks/cancel", json!({"taskId": task}));
            assert_eq!(done["resultType"], "complete", "{done}");
        }
        assert_eq!(hand.get(&task)["status"], "cancelled");
        // A handler that had not started yet never does: it is dropped with the server.
        drop((hand, server));
        if let Ok(was_cancelled) = stopped.recv_blocking() {
            assert!(was_cancelled);
        }
    })
    .await;
}

fn form() -> Elicit {
    Elicit::form("Name?", OrUnknown::Known(Form::new(Map::new())))
}

async fn tasks_ask_for_input<R: Runtime>() {
    let server = server().add(
        Tool::new("asks", |cx: Cx| {
            cx.ask_all([("a", form().into()), ("b", form().into())])?;
            let answers = cx.answers();
            let keys: Vec<&str> = answers.iter().map(|(key, _)| &**key).collect();
            Ok(keys.join("+"))
        })
        .as_task(TaskPolicy::required()),
    );
    let mut hand = Hand::new::<R>(&server);
    unblock(move || {
        let task = hand.create("asks");
        let asked = hand.poll(&task);
        assert_eq!(asked["status"], "input_required", "{asked}");
        let requests = asked["inputRequests"].as_object().unwrap();
        let keys: Vec<String> = requests.keys().cloned().collect();
        assert_eq!(keys.len(), 2, "{asked}");
        for (index, key) in keys.iter().enumerate() {
            assert_eq!(requests[key]["method"], "elicitation/create");
            let answer = json!({key: {"action": "accept", "content": {}}});
            let params = json!({"taskId": task, "inputResponses": answer});
            assert_eq!(hand.request("tasks/update", params)["resultType"], "complete");
            if index == 0 {
                let status = hand.get(&task);
                assert_eq!(status["status"], "input_required", "{status}");
                assert!(status["inputRequests"][&keys[1]].is_object(), "{status}");
                assert!(status["inputRequests"][key].is_null(), "{status}");
            }
        }
        let done = hand.poll(&task);
        assert_eq!(done["result"]["content"][0]["text"], "a+b", "{done}");
    })
    .await;
}

// TSK-40
async fn input_is_asked_before_the_task<R: Runtime>() {
    let policy = TaskPolicy::optional().asks_first();
    let server = server().add(
        Tool::new("asks", |cx: Cx| Ok(cx.confirm("ok", "Sure?")?.to_string())).as_task(policy),
    );
    let mut hand = Hand::new::<R>(&server);
    unblock(move || {
        let asked = hand.request("tools/call", json!({"name": "asks"}));
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let answers = json!({"ok": {"action": "accept", "content": {}}});
        let params = json!({"name": "asks", "inputResponses": answers});
        let created = hand.request("tools/call", params);
        assert_eq!(created["resultType"], "task", "{created}");
        let done = hand.poll(created["taskId"].as_str().unwrap());
        assert_eq!(done["result"]["content"][0]["text"], "true", "{done}");
    })
    .await;
}
