//! Lost connections: how they are recovered, what is repeated, and when that ends.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_adapter::proto::{CallError, CloseReason, Era, Filter, Misuse, Revision};
use mcp_adapter::{Changed, Client, Connection, ConnectionState, Error, Recovery, Server};
use mcp_adapter_tests::{
    Runtime, adapter_server, client, eventually, full_server, pair, rows, success,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::SERVER;
use crate::children::{impatient, sh};
use crate::task_script::{self, status, text};

rows! {
    a_killed_server_is_started_again_and_the_handles_stay_valid_frm_22,
    a_subscription_outlives_a_server_that_stops_and_not_its_handle_stl_36,
    a_task_handle_continues_once_it_is_attached_to_the_recovered_connection,
    a_call_in_flight_fails_and_is_not_repeated,
    a_call_made_during_a_recovery_waits_for_its_timeout_only,
    a_server_that_crashes_again_and_again_is_given_up,
    a_server_that_starts_no_more_is_given_up,
    closing_ends_a_recovery,
    dropping_the_last_handle_ends_a_recovery,
    without_recovery_a_lost_connection_stays_lost,
    given_streams_are_only_reported_as_lost,
    setting_on_log_requests_log_messages,
    lists_that_a_server_does_not_declare_are_empty,
}

/// The states of a connection so far, each as one word.
#[derive(Clone, Default)]
struct States(Arc<Mutex<Vec<String>>>);

impl States {
    /// Records the states of the client's connections.
    fn of(&self, client: Client) -> Client {
        let states = Arc::clone(&self.0);
        client.on_connection_state(move |state, _| {
            let word = match state {
                ConnectionState::Connected => "connected".to_owned(),
                ConnectionState::Lost { reason, .. } => {
                    assert_eq!(*reason, CloseReason::Peer);
                    "lost".to_owned()
                }
                ConnectionState::Retrying { attempt, delay, .. } => {
                    format!("retrying {attempt} {}", delay.as_millis())
                }
                ConnectionState::GaveUp { .. } => "gave up".to_owned(),
                other => panic!("{other:?}"),
            };
            states.lock().unwrap().push(word);
        })
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    async fn become_so(&self, expected: &[&str]) {
        eventually("the states are complete", || self.all().len() >= expected.len()).await;
        assert_eq!(self.all(), expected);
    }
}

/// Settings with short delays.
const fn quick(attempts: usize) -> Recovery {
    Recovery::new()
        .delays(Duration::from_millis(1), Duration::from_millis(2))
        .attempts(attempts, Duration::from_secs(3600))
}

const ERAS: [&[Revision]; 2] = [&Revision::LEGACY, &[Revision::V2026_07_28]];

async fn process_of(connection: &Connection) -> Pid {
    let id: i32 = success(connection.call_tool("pid", &json!({})).await).parse().unwrap();
    Pid::from_raw(id)
}

async fn a_killed_server_is_started_again_and_the_handles_stay_valid_frm_22<R: Runtime>() {
    for revisions in ERAS {
        let states = States::default();
        let client = states.of(client().revisions(revisions));
        let connection = R::spawn(client, adapter_server::<R>(SERVER)).await.unwrap();
        let other = connection.clone();
        let filter = Filter::new().resource("note://one");
        let mut listening = connection.subscribe(&filter).await.unwrap();
        let first = process_of(&connection).await;
        let hanging = connection.call_tool("hang", &json!({})).start().await.unwrap();
        kill(first, Signal::SIGKILL).unwrap();
        match hanging.await {
            Err(Error::Call(CallError::Lost)) => {}
            other => panic!("{other:?}"),
        }
        // Waits for the next server.
        assert_ne!(process_of(&other).await, first);
        states.become_so(&["connected", "lost", "retrying 1 250", "connected"]).await;
        assert_eq!(connection.close_reason(), None);
        // Changes may have been missed.
        assert_eq!(listening.next().await.unwrap(), Some(Changed::Resource("note://one".into())));
        success(connection.call_tool("change", &json!({})).await);
        assert_eq!(listening.next().await.unwrap(), Some(Changed::Resource("note://one".into())));
        assert_eq!((listening.acknowledged(), listening.ended()), (filter, None));
        connection.ready().await.unwrap();
        assert_eq!(connection.close().await.unwrap().unwrap().code(), Some(0));
        assert_eq!(listening.next().await.unwrap(), None);
        assert!(matches!(other.ready().await, Err(Error::Closed(CloseReason::Local))));
    }
}

async fn a_subscription_outlives_a_server_that_stops_and_not_its_handle_stl_36<R: Runtime>() {
    for revisions in ERAS {
        for recovery in [Recovery::new(), Recovery::off()] {
            let is_off = recovery == Recovery::off();
            let client = client().revisions(revisions).recovery(recovery);
            let connection = R::spawn(client, adapter_server::<R>(SERVER)).await.unwrap();
            let filter = Filter::new().resource("note://one");
            let mut listening = connection.subscribe(&filter).await.unwrap();
            drop(connection.subscribe(&filter).await.unwrap());
            kill(process_of(&connection).await, Signal::SIGTERM).unwrap();
            let connection = if is_off {
                assert_eq!(listening.next().await.unwrap(), None);
                let is_modern = connection.era() == Era::Modern;
                let expected = if is_modern { Ok(()) } else { Err(CallError::Lost) };
                assert_eq!(listening.ended(), Some(expected));
                connection.reconnect().await.unwrap()
            } else {
                connection
            };
            // Changes may have been missed.
            let note = Changed::Resource("note://one".into());
            assert_eq!(listening.next().await.unwrap(), Some(note.clone()));
            success(connection.call_tool("change", &json!({})).await);
            assert_eq!(listening.next().await.unwrap(), Some(note));
            assert_eq!((listening.acknowledged(), listening.ended()), (filter, None));
            assert_eq!(connection.close().await.unwrap().unwrap().code(), Some(0));
        }
    }
}

async fn a_task_handle_continues_once_it_is_attached_to_the_recovered_connection<R: Runtime>() {
    let path = mcp_adapter_tests::scratch_path(&format!("task-{}", R::NAME));
    let message = |id, result| json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    let welcome = json!({
        "protocolVersion": "2025-11-25", "serverInfo": {"name": "sh", "version": "1"},
        "capabilities": {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}},
    });
    let tool = json!({
        "name": "index", "inputSchema": {"type": "object"},
        "execution": {"taskSupport": "optional"},
    });
    let working = status(Era::Legacy, "working", &json!({}));
    // The first process ends when the task is polled.
    let script = format!(
        "answer() {{ read -r _; printf '%s\\n' \"$1\"; }}\n\
         welcome\n\
         if mkdir '{}' 2>/dev/null; then\n\
         answer \"$LIST\"; answer \"$CREATED\"; read -r _; exit; fi\n\
         answer \"$STATUS\"; answer \"$RESULT\"; read -r _",
        path.display()
    );
    let mut server = sh(&script);
    server
        .env("WELCOME", message(1, welcome))
        .env("LIST", message(2, json!({"tools": [tool]})))
        .env("CREATED", message(3, json!({"task": working})))
        .env("STATUS", message(2, status(Era::Legacy, "completed", &json!({}))))
        .env("RESULT", message(3, text("done")));
    let client = task_script::quick().revisions(&[Revision::V2025_11_25]).recovery(quick(5));
    let connection = R::spawn(client, server).await.unwrap();
    let mut task = connection.call_tool("index", &json!({})).task().await.unwrap();
    let lost = task.result().await;
    assert!(matches!(lost, Err(Error::Call(CallError::Lost))), "{lost:?}");
    connection.ready().await.unwrap();
    // The handle does not follow the connection.
    let lost = task.result().await;
    assert!(matches!(lost, Err(Error::Call(CallError::Lost))), "{lost:?}");
    task.attach(&connection).unwrap();
    assert_eq!(success(task.result().await), "done");
    std::fs::remove_dir(&path).unwrap();
}

async fn a_call_in_flight_fails_and_is_not_repeated<R: Runtime>() {
    let states = States::default();
    let client = states.of(client()).recovery(quick(5));
    let connection = R::spawn(client, adapter_server::<R>(SERVER)).await.unwrap();
    match connection.call_tool("exit", &json!({})).await {
        Err(Error::Call(error @ CallError::Lost)) => {
            assert!(error.to_string().contains("may have"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    process_of(&connection).await;
    states.become_so(&["connected", "lost", "retrying 1 1", "connected"]).await;
    // A repeated call would have ended the server again.
    process_of(&connection).await;
    assert_eq!(states.all().len(), 4);
}

async fn a_call_made_during_a_recovery_waits_for_its_timeout_only<R: Runtime>() {
    let states = States::default();
    let hour = Duration::from_secs(3600);
    let client = states.of(client()).recovery(Recovery::new().delays(hour, hour));
    let connection = R::spawn(client, adapter_server::<R>(SERVER)).await.unwrap();
    connection.call_tool("exit", &json!({})).await.unwrap_err();
    states.become_so(&["connected", "lost", "retrying 1 3600000"]).await;
    let call = connection.call_tool("echo", &json!({"text": "on"}));
    match call.timeout(Duration::from_millis(20)).await {
        Err(Error::Call(CallError::TimedOut)) => {}
        other => panic!("{other:?}"),
    }
}

async fn a_server_that_crashes_again_and_again_is_given_up<R: Runtime>() {
    let states = States::default();
    let client = states.of(impatient()).recovery(quick(3));
    let connection = R::spawn(client, sh("welcome; read -r _; exit 3")).await.unwrap();
    for _ in 0..4 {
        let outcome = connection.call_tool("any", &json!({})).await;
        assert!(matches!(outcome, Err(Error::Call(CallError::Lost))), "{outcome:?}");
    }
    connection.wait_ended().await.unwrap();
    states
        .become_so(&[
            "connected",
            "lost",
            "retrying 1 1",
            "connected",
            "lost",
            "retrying 2 2",
            "connected",
            "lost",
            "retrying 3 2",
            "connected",
            "lost",
            "gave up",
        ])
        .await;
    assert_eq!(connection.close_reason(), Some(CloseReason::Peer));
    assert!(matches!(connection.ready().await, Err(Error::Closed(CloseReason::Peer))));
    let outcome = connection.call_tool("any", &json!({})).await;
    assert!(matches!(outcome, Err(Error::Misuse(Misuse::Closed))), "{outcome:?}");
    assert_eq!(connection.close().await.unwrap().unwrap().code(), Some(3));
}

async fn a_server_that_starts_no_more_is_given_up<R: Runtime>() {
    let states = States::default();
    let path = mcp_adapter_tests::scratch_path(&format!("once-{}", R::NAME));
    // Only the first process of the program is a server.
    let script = format!("mkdir '{}' || exit 9; welcome; read -r _; exit 3", path.display());
    let client = states.of(impatient()).recovery(quick(2));
    let connection = R::spawn(client, sh(&script)).await.unwrap();
    connection.call_tool("any", &json!({})).await.unwrap_err();
    connection.wait_ended().await.unwrap();
    std::fs::remove_dir(&path).unwrap();
    states.become_so(&["connected", "lost", "retrying 1 1", "retrying 2 2", "gave up"]).await;
}

async fn closing_ends_a_recovery<R: Runtime>() {
    let states = States::default();
    let hour = Duration::from_secs(3600);
    let client = states.of(client()).recovery(Recovery::new().delays(hour, hour));
    let connection = R::spawn(client, adapter_server::<R>(SERVER)).await.unwrap();
    let mut listening = connection.subscribe(&Filter::new().tools()).await.unwrap();
    connection.call_tool("exit", &json!({})).await.unwrap_err();
    states.become_so(&["connected", "lost", "retrying 1 3600000"]).await;
    assert_eq!((connection.close_reason(), listening.ended()), (None, None));
    let other = connection.clone();
    assert_eq!(connection.close().await.unwrap().unwrap().code(), Some(7));
    assert_eq!(listening.next().await.unwrap(), None);
    assert_eq!(listening.ended(), Some(Err(CallError::Lost)));
    let outcome = other.call_tool("any", &json!({})).await;
    assert!(matches!(outcome, Err(Error::Misuse(Misuse::Closed))), "{outcome:?}");
    assert_eq!(states.all().len(), 3);
}

async fn dropping_the_last_handle_ends_a_recovery<R: Runtime>() {
    let states = States::default();
    let hour = Duration::from_secs(3600);
    let client = states.of(client()).recovery(Recovery::new().delays(hour, hour));
    let connection = R::spawn(client, adapter_server::<R>(SERVER)).await.unwrap();
    let mut listening = connection.subscribe(&Filter::new().tools()).await.unwrap();
    connection.call_tool("exit", &json!({})).await.unwrap_err();
    states.become_so(&["connected", "lost", "retrying 1 3600000"]).await;
    drop(connection);
    assert_eq!(listening.next().await.unwrap(), None);
    assert_eq!(states.all().len(), 3);
}

async fn without_recovery_a_lost_connection_stays_lost<R: Runtime>() {
    let states = States::default();
    let client = states.of(client()).recovery(Recovery::off());
    let connection = R::spawn(client, adapter_server::<R>(SERVER)).await.unwrap();
    let mut listening = connection.subscribe(&Filter::new().tools()).await.unwrap();
    connection.call_tool("exit", &json!({})).await.unwrap_err();
    connection.wait_ended().await.unwrap();
    assert_eq!(connection.close_reason(), Some(CloseReason::Peer));
    assert_eq!(listening.next().await.unwrap(), None);
    states.become_so(&["connected", "lost"]).await;
}

async fn given_streams_are_only_reported_as_lost<R: Runtime>() {
    let states = States::default();
    let server = full_server();
    let (ours, theirs) = mcp_adapter_tests::socket_pair();
    let stop = theirs.try_clone().unwrap();
    let _serving = mcp_adapter_tests::serve::<R>(server, theirs);
    let connection = R::connect(states.of(client()), ours.into()).await.unwrap();
    states.become_so(&["connected"]).await;
    stop.shutdown(std::net::Shutdown::Both).unwrap();
    connection.wait_ended().await.unwrap();
    states.become_so(&["connected", "lost"]).await;
    assert_eq!(connection.close_reason(), Some(CloseReason::Peer));
}

async fn setting_on_log_requests_log_messages<R: Runtime>() {
    for revisions in ERAS {
        let (sender, levels) = smol::channel::unbounded();
        let client = client()
            .revisions(revisions)
            .recovery(quick(5))
            .on_log(move |log, _| sender.try_send(log.level.clone()).unwrap());
        let connection = R::spawn(client, adapter_server::<R>(SERVER)).await.unwrap();
        success(connection.call_tool("log", &json!({})).await);
        let level = levels.recv().await.unwrap();
        // Again after a recovery.
        connection.call_tool("exit", &json!({})).await.unwrap_err();
        success(connection.call_tool("log", &json!({})).await);
        assert_eq!(levels.recv().await.unwrap(), level);
        connection.close().await.unwrap();
    }
}

async fn lists_that_a_server_does_not_declare_are_empty<R: Runtime>() {
    for revision in Revision::ALL {
        let client = Client::new("c", "1").revisions(&[revision]);
        let (connection, serving) = pair::<R>(client, Server::new("s", "1")).await;
        assert_eq!(connection.list_tools().await.unwrap().len(), 0);
        assert_eq!(connection.list_resources().await.unwrap().len(), 0);
        assert_eq!(connection.list_resource_templates().await.unwrap().len(), 0);
        assert_eq!(connection.list_prompts().await.unwrap().len(), 0);
        connection.close().await.unwrap();
        serving.ends_well().await;
    }
}
