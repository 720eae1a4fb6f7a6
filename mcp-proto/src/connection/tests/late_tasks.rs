//! Tests of calls that create tasks after they were cancelled or timed out.

use core::time::Duration;

use super::*;
use crate::{Capability, Extension, ExtensionMethod, Side};

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Returns a client that can use tasks, connected to a server that offers them.
fn client_of_tasks(revision: Revision) -> Client {
    let tasks = Extension::new(TASKS)
        .revisions(R5..=R5)
        .method(ExtensionMethod::request(Side::Client, "tasks/cancel").named_by("taskId"))
        .result_type("tools/call", "task");
    let config = client::Config::new("c", "1").revisions(&[revision]);
    let mut client = Client::new(NOW, config.extension(tasks).unwrap());
    let theirs = r#"{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}},
        "extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
    match revision {
        R5 => receive(&mut client, discovered(theirs)),
        _ => receive(&mut client, welcome(revision.name(), theirs)),
    }
    sent(&mut client);
    events(&mut client);
    client
}

fn late_tasks(client: &mut Client) -> Vec<Raw> {
    let late = |event| match event {
        client::Event::LateTask(created) => Some(created),
        _ => None,
    };
    events(client).into_iter().filter_map(late).collect()
}

// CAN-10, TSK-34
#[test]
fn a_call_that_asks_for_a_task_is_not_cancelled_by_notification_can_10() {
    for (revision, params, is_notified) in [
        (R4, r#"{"name":"t","task":{}}"#, false),
        (R4, r#"{"name":"t","arguments":{"task":1}}"#, true),
        (R5, r#"{"name":"t","task":{}}"#, true),
    ] {
        for times_out in [false, true] {
            let mut client = client_of_tasks(revision);
            let call = call(&mut client, params);
            assert_eq!(sent(&mut client).len(), 1);
            if times_out {
                client.handle_timeout(NOW + Duration::from_secs(600));
            } else {
                client.cancel(NOW, call, "no longer wanted").unwrap();
            }
            let sent = sent(&mut client);
            let is_cancel = |message: &String| message.contains("notifications/cancelled");
            assert_eq!(sent.iter().any(is_cancel), is_notified, "{revision} {params}");
        }
    }
}

// CAN-10, TSK-34
#[test]
fn a_task_that_is_created_late_is_reported_once_can_10_tsk_34() {
    let nested = r#"{"task":{"taskId":"a"}}"#;
    let flat = r#"{"resultType":"task","taskId":"a"}"#;
    for (revision, result, is_task) in [
        (R4, nested, true),
        (R4, r#"{"content":[]}"#, false),
        (R5, flat, true),
        (R5, nested, false),
        (R5, r#"{"resultType":"sketch"}"#, false),
        (Revision::V2025_06_18, nested, false),
    ] {
        let mut client = client_of_tasks(revision);
        let call = call(&mut client, r#"{"name":"t"}"#);
        client.cancel(NOW, call, "no longer wanted").unwrap();
        events(&mut client);
        let response = alloc::format!(r#"{{"jsonrpc":"2.0","id":2,"result":{result}}}"#);
        receive(&mut client, &response);
        let late = late_tasks(&mut client);
        assert_eq!(late.len(), usize::from(is_task), "{revision} {result}");
        assert!(late.iter().all(|created| created.as_str() == result));
        receive(&mut client, &response);
        assert!(late_tasks(&mut client).is_empty(), "the second response is a violation");
    }
}

// PRG-09, PRG-11, PRG-14
#[test]
fn progress_of_a_task_follows_the_response_prg_09_prg_11_prg_14() {
    let nested = r#"{"task":{"taskId":"a"}}"#;
    let flat = r#"{"resultType":"task","taskId":"a"}"#;
    for (revision, result, is_reported) in
        [(R4, nested, true), (R5, flat, false), (Revision::V2025_06_18, nested, false)]
    {
        let mut client = client_of_tasks(revision);
        let params = Raw::from_text(r#"{"name":"t","task":{}}"#).unwrap();
        let options = || CallOptions { progress: true, ..CallOptions::default() };
        let mut call = || {
            let call = client.call_raw(NOW, "tools/call", Some(&params), options());
            (call.unwrap(), sent(&mut client))
        };
        let ((created, _), (cancelled, _), (open, _)) = (call(), call(), call());
        let numbers = [created, cancelled, open].map(|call| call.0);
        client.cancel(NOW, cancelled, "").unwrap();
        let response =
            alloc::format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, numbers[0]);
        receive(&mut client, &response);
        events(&mut client);
        // The last two were never sent.
        for token in [numbers[0], numbers[1], numbers[2], numbers[2] + 1, 0] {
            let progress = alloc::format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{
                    "progressToken":{token},"progress":0.5,"total":2,"message":"m"}}}}"#
            );
            receive(&mut client, &progress);
            let reported = events(&mut client).into_iter().find_map(|event| match event {
                client::Event::TaskProgress { call, progress } => Some((call, progress)),
                _ => None,
            });
            let expected = (is_reported && token == numbers[0])
                .then(|| (created, crate::Progress::new(0.5).with_total(2.0).with_message("m")));
            assert_eq!(reported, expected, "{revision} {token}");
        }
    }
}

// PRG-03, PRG-11
#[test]
fn a_server_sends_progress_by_name_only_for_a_task_prg_03_prg_11() {
    let related = r#""_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"}}"#;
    for (revision, has_tasks, meta, is_sent) in [
        (R4, true, related, true),
        (R4, true, r#""_meta":{}"#, false),
        (R4, false, related, false),
        (Revision::V2025_06_18, true, related, false),
    ] {
        let mut config = server::Config::new("s", "1").capability(Capability::Tools);
        if has_tasks {
            config = config.capability(Capability::Tasks);
        }
        let mut server = Server::new(NOW, config);
        let hello = alloc::format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{}",
                "capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#,
            revision.name()
        );
        for message in [&*hello, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#] {
            server.handle_message(NOW, StreamId::ONLY, message.as_bytes());
        }
        let params = alloc::format!(r#"{{"progressToken":1,"progress":1,{meta}}}"#);
        let params = Raw::from_text(&params).unwrap();
        let sent = server.notify_raw(NOW, "notifications/progress", Some(&params));
        let expected = if is_sent { Ok(()) } else { Err(crate::Misuse::Unsupported) };
        assert_eq!(sent, expected, "{revision} {has_tasks} {meta}");
    }
}

/// Returns a server in a session with a client that takes sampling requests as tasks.
fn server_of_task_client() -> Server {
    let mut server = Server::new(NOW, server::Config::new("s", "1"));
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
        "protocolVersion":"2025-11-25","clientInfo":{"name":"c","version":"1"},"capabilities":{
            "sampling":{},"elicitation":{},
            "tasks":{"requests":{"sampling":{"createMessage":{}}}}}}}"#;
    receive(&mut server, hello);
    receive(&mut server, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    sent(&mut server);
    events(&mut server);
    server
}

// TSK-02, CAN-10
#[test]
fn a_server_asks_for_tasks_as_declared_and_never_cancels_by_notification_tsk_02_can_10() {
    let task = r#"{"maxTokens":1,"messages":[],"task":{}}"#;
    let plain = r#"{"maxTokens":1,"messages":[]}"#;
    let form = r#"{"message":"m","requestedSchema":{},"task":{}}"#;
    for (method, params, is_sent, is_notified) in [
        ("sampling/createMessage", task, true, false),
        ("sampling/createMessage", plain, true, true),
        ("elicitation/create", form, false, false),
    ] {
        let mut server = server_of_task_client();
        let params = Raw::from_text(params).unwrap();
        let called = server.call_raw(NOW, method, Some(&params), CallOptions::default());
        let Ok(call) = called else {
            assert!(!is_sent && called == Err(crate::Misuse::Undeclared), "{called:?}");
            continue;
        };
        assert!(is_sent, "{method}");
        sent(&mut server);
        server.cancel(NOW, call, "no longer wanted").unwrap();
        let is_cancel = |message: &String| message.contains("notifications/cancelled");
        assert_eq!(sent(&mut server).iter().any(is_cancel), is_notified, "{method}");
        events(&mut server);
        let created = r#"{"task":{"taskId":"a"}}"#;
        for is_first in [true, false] {
            receive(
                &mut server,
                alloc::format!(r#"{{"jsonrpc":"2.0","id":{},"result":{created}}}"#, call.0),
            );
            let late = events(&mut server).into_iter().any(
                |event| matches!(event, server::Event::LateTask(late) if late.as_str() == created),
            );
            assert_eq!(late, is_first);
        }
    }
}
