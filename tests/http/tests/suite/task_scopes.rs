//! Tasks of tools that require scopes: their results are for tokens with these scopes only.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use mcp_adapter::http::FixedTokens;
use mcp_adapter::proto::schema::TaskStatus;
use mcp_adapter::proto::tasks::{TaskId, TaskRecord};
use mcp_adapter::tasks::{TaskPolicy, TaskStore, Tasks};
use mcp_adapter::{Cx, HandlerError, Server, Tool};
use mcp_blocking::http::Http;
use mcp_http_tests::{Request, Runtime, Served, modern_as, post, rows, server, text, tool};
use serde_json::{Value, json};

use crate::authorized::{bearing, builder};
use crate::principals::within;
use crate::scopes::assert_forbidden;

rows! {
    results_of_tasks_need_the_scopes_of_their_tools_aut_24,
    results_of_legacy_tasks_need_the_scopes_of_their_tools_aut_24,
    handlers_that_start_again_have_the_scopes_of_their_call_aut_76,
}

const TASKS: &str = "io.modelcontextprotocol/tasks";

fn options() -> Http {
    let guard = builder().implies("admin", ["write"]).build().unwrap();
    let tokens = FixedTokens::new(&guard)
        .token("reader", "ada", ["notes:read"])
        .token("writer", "ada", ["notes:read", "write"])
        .token("admin", "ada", ["admin"])
        .token("other", "bob", ["notes:read", "write"]);
    Http::new().authorizing(guard, tokens)
}

/// A server whose tasks ask once, and then return a secret.
fn served<R: Runtime>() -> Served {
    let server = server()
        .add(
            Tool::define(tool("guarded"), |cx: Cx| {
                cx.confirm("sure", "Sure?")?;
                Ok("the secret")
            })
            .as_task(TaskPolicy::required())
            .requires(["write"]),
        )
        .add(Tool::define(tool("open"), || "open").as_task(TaskPolicy::required()));
    Served::on::<R>(server, options())
}

fn of_tasks(method: &str, params: Value) -> Request {
    let capabilities = json!({"elicitation": {}, "extensions": {TASKS: {}}});
    modern_as(&capabilities, method, params)
}

// AUT-24, AUT-30
fn results_of_tasks_need_the_scopes_of_their_tools_aut_24<R: Runtime>() {
    let served = served::<R>();
    let ask = |token: &str, method: &str, params: Value| {
        bearing(token, of_tasks(method, params)).send(served.address)
    };
    let call = |name: &str| json!({"name": name, "arguments": {}});
    assert_forbidden(ask("reader", "tools/call", call("guarded")), "write");
    let created = ask("writer", "tools/call", call("guarded")).answer();
    let id = created["result"]["taskId"].as_str().unwrap().to_owned();
    let task = || json!({"taskId": id});
    let asked = loop {
        let status = ask("admin", "tasks/get", task()).answer();
        if status["result"]["status"] == TaskStatus::InputRequired.name() {
            break status;
        }
    };
    let (key, _) = asked["result"]["inputRequests"].as_object().unwrap().iter().next().unwrap();
    let answer = json!({"action": "accept", "content": {}});
    let update = json!({"taskId": id, "inputResponses": {key: answer}});
    assert_forbidden(ask("reader", "tasks/get", task()), "write");
    assert_forbidden(ask("reader", "tasks/update", update.clone()), "write");
    // TSK-38: the task of another principal does not exist, whatever the scopes.
    let foreign = ask("other", "tasks/get", task()).answer();
    assert_eq!(foreign["error"]["code"], -32602, "{foreign}");
    let listen = |token: &str| {
        let filter = json!({"notifications": {"taskIds": [id]}});
        let mut reply = ask(token, "subscriptions/listen", filter);
        reply.message().unwrap()["params"]["notifications"].take()
    };
    assert_eq!(listen("reader")["taskIds"].as_array().map_or(0, Vec::len), 0);
    assert_eq!(listen("writer")["taskIds"], json!([id]));
    let updated = ask("writer", "tasks/update", update).answer();
    assert!(updated["result"].is_object(), "{updated}");
    let done = loop {
        let status = ask("writer", "tasks/get", task()).answer();
        if status["result"]["status"] == "completed" {
            break status;
        }
    };
    assert!(done.to_string().contains("the secret"), "{done}");
    assert_forbidden(ask("reader", "tasks/get", task()), "write");
    // A task may always be stopped, and other tasks need no scope.
    let cancelled = ask("reader", "tasks/cancel", task()).answer();
    assert!(cancelled["result"].is_object(), "{cancelled}");
    let open = ask("reader", "tools/call", call("open")).answer();
    let open = ask("reader", "tasks/get", json!({"taskId": open["result"]["taskId"]})).answer();
    assert!(open["result"].is_object(), "{open}");
}

// AUT-24
fn results_of_legacy_tasks_need_the_scopes_of_their_tools_aut_24<R: Runtime>() {
    let served = served::<R>();
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "row", "version": "1"},
    }});
    let opened = bearing("writer", post(&hello)).send(served.address);
    let session = opened.field("mcp-session-id").unwrap().to_owned();
    let ready = post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!(bearing("writer", within(&session, ready)).send(served.address).status, 202);
    let ask = |token: &str, method: &str, params: Value| {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        bearing(token, within(&session, post(&request))).send(served.address)
    };
    let call = json!({"name": "guarded", "arguments": {}, "task": {}});
    let created = ask("writer", "tools/call", call).answer();
    let task = json!({"taskId": created["result"]["task"]["taskId"]});
    assert_forbidden(ask("reader", "tasks/get", task.clone()), "write");
    // Its client cannot be asked, so the task fails.
    let failed = ask("writer", "tasks/result", task.clone()).answer();
    assert!(failed["error"].is_object(), "{failed}");
    assert_forbidden(ask("reader", "tasks/result", task.clone()), "write");
    let listed = ask("reader", "tasks/list", json!({})).answer();
    assert_eq!(listed["result"]["tasks"][0]["taskId"], task["taskId"], "{listed}");
    assert!(listed["result"]["tasks"][0].get("statusMessage").is_none(), "{listed}");
    let listed = ask("writer", "tasks/list", json!({})).answer();
    assert!(listed["result"]["tasks"][0]["statusMessage"].is_string(), "{listed}");
    let open = json!({"name": "open", "arguments": {}, "task": {}});
    let created = ask("reader", "tools/call", open).answer();
    let task = json!({"taskId": created["result"]["task"]["taskId"]});
    let mut result = ask("reader", "tasks/result", task);
    assert_eq!(text(&result.answer()), "open");
}

/// What a server finds after it was killed.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<BTreeMap<TaskId, TaskRecord>>>);

impl Kept {
    fn after_kill(&self) -> Self {
        Self(Arc::new(Mutex::new(self.0.lock().unwrap().clone())))
    }
}

impl TaskStore for Kept {
    fn load(&self) -> io::Result<Vec<TaskRecord>> {
        Ok(self.0.lock().unwrap().values().cloned().collect())
    }

    fn save(&self, record: &TaskRecord) -> io::Result<()> {
        self.0.lock().unwrap().insert(record.id(), record.clone());
        Ok(())
    }

    fn remove(&self, task: TaskId) -> io::Result<()> {
        self.0.lock().unwrap().remove(&task);
        Ok(())
    }
}

/// A server whose tool waits until it runs again, and then needs a scope.
fn waiting(kept: &Kept) -> (Server, Receiver<()>, Sender<()>) {
    let ((begin, begun), (open, gate)) = (channel(), channel::<()>());
    let gate = Mutex::new(gate);
    let server = server()
        .add(
            Tool::define(tool("waits"), move |cx: Cx| {
                if cx.restarts() == 0 {
                    let _begun = begin.send(());
                    gate.lock().unwrap().recv().map_err(|_| HandlerError::failed("closed"))?;
                }
                cx.needs_scopes(["write"])?;
                Ok("done")
            })
            .as_task(TaskPolicy::required().restarts_max(1)),
        )
        .tasks(Tasks::new().store(kept.clone()));
    (server, begun, open)
}

fn handlers_that_start_again_have_the_scopes_of_their_call_aut_76<R: Runtime>() {
    for (token, has_scope) in [("reader", false), ("writer", true), ("admin", true)] {
        let kept = Kept::default();
        let (server, begun, _open) = waiting(&kept);
        let served = Served::on::<R>(server, options());
        let call = of_tasks("tools/call", json!({"name": "waits", "arguments": {}}));
        let created = bearing(token, call).send(served.address).answer();
        begun.recv().unwrap();

        let (server, _begun, _open) = waiting(&kept.after_kill());
        let again = Served::on::<R>(server, options());
        let task = json!({"taskId": created["result"]["taskId"]});
        let over = loop {
            let ask = bearing(token, of_tasks("tasks/get", task.clone()));
            let status = ask.send(again.address).answer();
            if status["result"]["status"] != "working" {
                break status;
            }
        };
        let expected = if has_scope { "completed" } else { "failed" };
        assert_eq!(over["result"]["status"], expected, "{token}: {over}");
    }
}
