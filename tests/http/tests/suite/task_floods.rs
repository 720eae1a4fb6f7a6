//! Clients without authentication that fill the table of tasks: others still get their share.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use h2::client::Builder;
use http::header::HeaderName;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use mcp_adapter::http::{Http, HttpService, PeerAddress};
use mcp_adapter::proto::Principal;
use mcp_adapter::proto::tasks::{TaskId, TaskLimits, TaskRecord};
use mcp_adapter::tasks::{TaskPolicy, TaskStore, Tasks};
use mcp_adapter::{HandlerError, Server, Tool, on_runtime};
use mcp_http_tests::{
    Http2, Request, Runtime, Served, Session, eventually, modern_as, on_client, post, rows, server,
    tool, within,
};
use mcp_tokio::Tokio;
use serde_json::{Value, json};

rows! {
    results_of_one_address_make_room_for_each_other_sec_19,
    tasks_of_ended_sessions_are_dropped_sec_19,
    running_tasks_of_one_address_are_limited_sec_19,
}

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// The number of tasks of one address.
const SHARE: usize = 20;

/// Keeps what the table of tasks holds.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<BTreeMap<TaskId, TaskRecord>>>);

impl Kept {
    fn len(&self) -> usize {
        self.0.lock().unwrap().len()
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

/// A server with a quick tool and one that never ends.
fn flooded(kept: &Kept) -> Server {
    let limits =
        TaskLimits { tasks_max: 40, tasks_per_principal_max: SHARE, ..TaskLimits::default() };
    server()
        .add(Tool::define(tool("quick"), || "done").as_task(TaskPolicy::required()))
        .add(
            Tool::define(tool("slow"), std::future::pending::<Result<String, HandlerError>>)
                .as_task(TaskPolicy::required()),
        )
        .tasks(Tasks::new().limits(limits).store(kept.clone()))
}

const DAY_MS: u64 = 24 * 3_600_000;

fn in_session(session: &Session, method: &str, params: Value) -> Value {
    let request = post(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
    session.within(request).send(session.address).answer()
}

/// Creates a task in a session.
fn create(session: &Session, name: &str) -> Value {
    let call = json!({"name": name, "arguments": {}, "task": {"ttl": DAY_MS}});
    in_session(session, "tools/call", call)
}

fn of_tasks(method: &str, params: Value) -> Request {
    modern_as(&json!({"extensions": {TASKS: {}}}), method, params)
}

/// Creates a task outside of sessions, and returns the response.
fn create_modern(address: SocketAddr, name: &str) -> Value {
    of_tasks("tools/call", json!({"name": name, "arguments": {}})).send(address).answer()
}

fn results_of_one_address_make_room_for_each_other_sec_19<R: Runtime>() {
    let kept = Kept::default();
    let served = Served::on::<R>(flooded(&kept), Http::new());
    // Results that are never retrieved, in both eras.
    for _ in 0..8 {
        let session = Session::open(served.address);
        for _ in 0..SHARE / 2 {
            // A task that has not ended yet may fill the last place.
            eventually("there is room", || {
                let created = create(&session, "quick");
                let task = created["result"].get("task")?;
                assert!(task["ttl"].as_u64().unwrap() <= 3_600_000, "{task}");
                Some(())
            });
            eventually("there is room", || {
                create_modern(served.address, "quick")["result"].get("taskId").map(|_| ())
            });
        }
        eventually("the table is bounded", || (kept.len() <= SHARE).then_some(()));
    }
    // The results of both eras arrive.
    let session = Session::open(served.address);
    let task = eventually("there is room", || {
        create(&session, "quick")["result"]["task"]["taskId"].as_str().map(str::to_owned)
    });
    let result = in_session(&session, "tasks/result", json!({"taskId": task}));
    assert_eq!(result["result"]["content"][0]["text"], "done", "{result}");
    let task = eventually("there is room", || {
        create_modern(served.address, "quick")["result"]["taskId"].as_str().map(str::to_owned)
    });
    eventually("the result arrives", || {
        let task = of_tasks("tasks/get", json!({"taskId": task})).send(served.address).answer();
        (task["result"]["result"]["content"][0]["text"] == "done").then_some(())
    });
}

fn tasks_of_ended_sessions_are_dropped_sec_19<R: Runtime>() {
    let kept = Kept::default();
    let served = Served::on::<R>(flooded(&kept), Http::new());
    let (gone, kept_open) = (Session::open(served.address), Session::open(served.address));
    for _ in 0..5 {
        let task = create(&gone, "quick")["result"]["task"]["taskId"].clone();
        eventually("the task ends", || {
            let task = in_session(&gone, "tasks/get", json!({"taskId": task}));
            (task["result"]["status"] == "completed").then_some(())
        });
    }
    assert!(create(&gone, "slow")["result"]["task"].is_object());
    assert!(create(&kept_open, "quick")["result"]["task"].is_object());
    assert!(create_modern(served.address, "quick")["result"]["taskId"].is_string());
    eventually("all tasks are kept", || (kept.len() == 8).then_some(()));
    assert_eq!(gone.delete(), 204);
    // The running one, and those of others.
    eventually("results are dropped", || (kept.len() == 3).then_some(()));
    let listed = in_session(&kept_open, "tasks/list", json!({}));
    assert_eq!(listed["result"]["tasks"].as_array().map(Vec::len), Some(1), "{listed}");
}

fn running_tasks_of_one_address_are_limited_sec_19<R: Runtime>() {
    let kept = Kept::default();
    let served = Served::on::<R>(flooded(&kept), Http::new());
    let mut refused = Vec::new();
    for _ in 0..3 {
        let session = Session::open(served.address);
        for _ in 0..SHARE / 2 {
            let created = create(&session, "slow");
            refused.extend(created["error"]["message"].as_str().map(str::to_owned));
        }
    }
    assert_eq!(refused.len(), SHARE / 2);
    assert!(refused[0].contains("TaskLimits::tasks_per_principal_max"), "{}", refused[0]);
    eventually("the table is bounded", || (kept.len() == SHARE).then_some(()));
    let plain = modern_as(&json!({}), "tools/call", json!({"name": "echo", "arguments": {}}));
    assert_eq!(plain.send(served.address).status, 200, "other requests are served");
}

/// Connects a client to a service behind a router, which says who the client is.
async fn connect(service: &HttpService) -> Http2 {
    let (near, far) = tokio::io::duplex(64 << 10);
    let service = TowerToHyperService::new(service.clone());
    let routed = service_fn(move |mut request: http::Request<Incoming>| {
        let field = |name: HeaderName| request.headers().get(name)?.to_str().ok();
        let user = field(HeaderName::from_static("x-user")).and_then(Principal::new);
        let address = field(HeaderName::from_static("x-address"));
        let address: Option<IpAddr> = address.map(|address| address.parse().unwrap());
        request.extensions_mut().extend({
            let mut extensions = http::Extensions::new();
            user.map(|user| extensions.insert(user));
            address.map(|address| extensions.insert(PeerAddress(address)));
            extensions
        });
        service.call(request)
    });
    let http = http2::Builder::new(TokioExecutor::new());
    tokio::spawn(http.serve_connection(TokioIo::new(far), routed));
    Http2::with(near, &Builder::new()).await
}

// SEC-19
#[test]
fn sessions_without_an_address_have_their_own_share_of_tasks() {
    on_client(async {
        let kept = Kept::default();
        let service =
            HttpService::new(&on_runtime::server::<_, Tokio>(flooded(&kept)), Http::new()).unwrap();
        let client = connect(&service).await;
        let request = async |session: &str, method: &str, params: Value| {
            let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            let mut reply = client.send(&within(session, post(&request))).await.unwrap();
            reply.message().await.unwrap()
        };
        let create = async |session: &str| {
            let call = json!({"name": "quick", "arguments": {}, "task": {"ttl": DAY_MS}});
            request(session, "tools/call", call).await["result"]["task"]["taskId"].clone()
        };
        let (quiet, flooding) = (client.open_session().await, client.open_session().await);
        let task = create(&quiet).await;
        let mut created = 0;
        // Tasks that have not ended yet make no room.
        while created < 3 * SHARE {
            created += usize::from(create(&flooding).await.is_string());
        }
        let result = request(&quiet, "tasks/result", json!({"taskId": task})).await;
        assert_eq!(result["result"]["content"][0]["text"], "done", "{result}");
        service.close();
    });
}

// SEC-19
#[test]
fn floods_of_many_addresses_leave_room_for_principals() {
    on_client(async {
        let kept = Kept::default();
        let service =
            HttpService::new(&on_runtime::server::<_, Tokio>(flooded(&kept)), Http::new()).unwrap();
        let client = connect(&service).await;
        let create = async |field: &str, value: &str, name: &str| {
            let call = of_tasks("tools/call", json!({"name": name, "arguments": {}}));
            let mut reply = client.send(&call.field(field, value)).await.unwrap();
            reply.message().await.unwrap()
        };
        // Many addresses with a running task each: a full table.
        for host in 0..50 {
            create("X-Address", &format!("10.0.0.{host}"), "slow").await;
        }
        let refused = create("X-Address", "10.0.1.1", "slow").await;
        assert!(refused["error"]["message"].as_str().unwrap().contains("tasks_max"), "{refused}");
        for user in ["ada", "bob"] {
            for _ in 0..SHARE {
                let created = create("X-User", user, "slow").await;
                assert!(created["result"]["taskId"].is_string(), "{created}");
            }
            let refused = create("X-User", user, "slow").await;
            let why = refused["error"]["message"].as_str().unwrap();
            assert!(why.contains("tasks_per_principal_max"), "{why}");
        }
        // Further addresses take nothing of them.
        let refused = create("X-Address", "10.0.1.1", "quick").await;
        assert!(refused["error"].is_object(), "{refused}");
        service.close();
    });
}
