//! Responses in both forms, exactly as the specification shows them.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::*;
use crate::rpc::RequestId;
use crate::schema::{CreateTaskResult, Decode, DetailedTask, InputRequest, ListTasksResult, Task};
use crate::{ErrorObject, Progress};

const ID: &str = "00000000000000000000000000000001";
const WAITER: TaskListener = TaskListener { connection: 1, request: 1 };

fn created(requestor: Requestor<'_>) -> (TaskTable, Raw) {
    let mut table = TaskTable::new(TaskLimits::default());
    let new = NewTask {
        requested_ttl_ms: Some(60_000),
        progress_token: RequestId::from_json(b"\"p\""),
        ..NewTask::default()
    };
    let created = table.create(at(0), requestor, id(1), new).unwrap();
    (table, created)
}

fn times(updated: &str) -> String {
    format!(
        r#""createdAt":"2026-07-28T00:00:00.000Z","lastUpdatedAt":"2026-07-28T00:00:{updated}Z""#
    )
}

// TSK-08, TSK-11, TSK-16
#[test]
fn a_task_of_2025_11_25_is_nested_only_when_created_tsk_08_tsk_16() {
    let (mut table, created) = created(CORE);
    let task = |status: &str, updated: &str| {
        let times = times(updated);
        format!(
            r#"{{"taskId":"{ID}","status":"{status}",{times},"ttl":60000,"pollInterval":1000}}"#
        )
    };
    assert_eq!(created.as_str(), format!(r#"{{"task":{}}}"#, task("working", "00.000")));
    assert_eq!(CreateTaskResult::decode(&created).unwrap().task.task_id, ID);

    let status = table.get(at(5), CORE, ID).unwrap();
    assert_eq!(status.as_str(), task("working", "00.000"));
    let list = table.list(at(5), CORE, None).unwrap();
    assert_eq!(list.as_str(), format!(r#"{{"tasks":[{}]}}"#, task("working", "00.000")));
    assert_eq!(ListTasksResult::decode(&list).unwrap().tasks.len(), 1);

    table.complete(at(7), id(1), json("{}")).unwrap();
    let status = table.get(at(8), CORE, ID).unwrap();
    assert_eq!(status.as_str(), task("completed", "00.007"));
    let (method, params) = table.notification(id(1)).unwrap();
    assert_eq!((method, params), ("notifications/tasks/status", status));
}

// TSK-27, TSK-29
#[test]
fn a_task_of_the_extension_is_flat_and_says_what_the_result_is_tsk_27_tsk_29() {
    let (mut table, created) = created(EXTENSION);
    let task = |status: &str, updated: &str, more: &str| {
        let times = times(updated);
        format!(
            r#"{{"taskId":"{ID}","status":"{status}",{times},"ttlMs":60000,"pollIntervalMs":1000{more}}}"#
        )
    };
    let kind = |kind: &str| format!(r#","resultType":"{kind}""#);
    assert_eq!(created.as_str(), task("working", "00.000", &kind("task")));
    let status = table.get(at(5), EXTENSION, ID).unwrap();
    assert_eq!(status.as_str(), task("working", "00.000", &kind("complete")));

    let mut request = InputRequest::new("elicitation/create");
    request.params = Some(json(r#"{"message":"?"}"#).into());
    let roots = InputRequest::new("roots/list");
    let keys = table.ask(at(1), id(1), Vec::from([request, roots])).unwrap();
    assert_eq!(keys, ["input-1".into(), "input-2".into()]);
    let status = table.get(at(5), EXTENSION, ID).unwrap();
    let asks = r#"{"method":"elicitation/create","params":{"message":"?"}}"#;
    let inputs =
        format!(r#","inputRequests":{{"input-1":{asks},"input-2":{{"method":"roots/list"}}}}"#);
    let both = format!("{inputs}{}", kind("complete"));
    assert_eq!(status.as_str(), task("input_required", "00.001", &both));

    // A notification is the status without `resultType`, which params do not have.
    let (method, params) = table.notification(id(1)).unwrap();
    assert_eq!(method, "notifications/tasks");
    assert_eq!(params.as_str(), task("input_required", "00.001", &inputs));

    let result = r#"{"content":[],"n":1.0,"_meta":{"x":1}}"#;
    table.complete(at(9), id(1), json(result)).unwrap();
    let status = table.get(at(9), EXTENSION, ID).unwrap();
    let more = format!(r#","result":{result}{}"#, kind("complete"));
    assert_eq!(status.as_str(), task("completed", "00.009", &more));
    assert_eq!(DetailedTask::decode(&status).unwrap().result, Some(json(result).into()));
}

// TSK-13, TSK-15
#[test]
fn the_result_is_returned_as_it_is_with_the_related_task_tsk_13_tsk_15() {
    let related = format!(r#""io.modelcontextprotocol/related-task":{{"taskId":"{ID}"}}"#);
    for (result, response) in [
        ("{}", format!(r#"{{"_meta":{{{related}}}}}"#)),
        (r#"{"n":1.0}"#, format!(r#"{{"_meta":{{{related}}},"n":1.0}}"#)),
        (
            r#"{"n":1.0,"_meta":{"a":1,"io.modelcontextprotocol/related-task":5}}"#,
            format!(r#"{{"_meta":{{{related},"a":1}},"n":1.0}}"#),
        ),
    ] {
        let (mut table, _) = created(CORE);
        assert_eq!(table.result(at(1), CORE, ID, WAITER), Ok(None));
        table.complete(at(1), id(1), json(result)).unwrap();
        let later = table.result(at(1), CORE, ID, WAITER).unwrap().unwrap();
        assert_eq!(later.as_str(), response);
        let event = TaskEvent::Response { listener: WAITER, response: Ok(later) };
        assert!(events(&mut table).contains(&event));
    }
    assert_eq!(TaskTable::related_task(id(1)).as_str(), format!(r#"{{"taskId":"{ID}"}}"#));
}

#[test]
fn the_error_is_returned_as_it_is_tsk_13_tsk_29() {
    let error = ErrorObject::new(-5, "no disk").with_data(json("[1.50]"));
    for requestor in [CORE, EXTENSION] {
        let (mut table, _) = created(requestor);
        table.fail(at(1), id(1), error.clone()).unwrap();
        let status = table.get(at(1), requestor, ID).unwrap();
        assert_eq!(status.member("statusMessage").unwrap().as_str(), r#""no disk""#);
        let inlined = status.member("error");
        if requestor == CORE {
            assert_eq!(inlined, None);
            assert_eq!(table.result(at(1), CORE, ID, WAITER), Err(error.clone()));
        } else {
            let text = r#"{"code":-5,"message":"no disk","data":[1.50]}"#;
            assert_eq!(inlined.unwrap().as_str(), text);
        }
        let record = table.record(id(1)).unwrap();
        assert_eq!(TaskRecord::parse(&record.to_json()), Ok(record));
    }
}

// TSK-22, TSK-30
#[test]
fn a_tool_error_fails_only_tasks_of_2025_11_25_tsk_22_tsk_30() {
    for (requestor, expected) in [(CORE, r#""failed""#), (EXTENSION, r#""completed""#)] {
        let (mut table, _) = created(requestor);
        table.complete(at(1), id(1), json(r#"{"content":[],"isError":true}"#)).unwrap();
        let status = table.get(at(1), requestor, ID).unwrap();
        assert_eq!(status.member("status").unwrap().as_str(), expected);
        assert_eq!(status.member("error"), None);
    }
}

// TSK-18, TSK-33
#[test]
fn a_second_cancellation_is_an_error_only_in_2025_11_25_tsk_18_tsk_33() {
    let (mut table, _) = created(CORE);
    let task = Task::decode(&table.cancel(at(1), CORE, ID).unwrap()).unwrap();
    assert!(task.status.is_final());
    let error = table.cancel(at(1), CORE, ID).unwrap_err();
    assert_eq!(error.code, -32602);
    assert_eq!(&*error.message, "cannot cancel the task: it is already cancelled");
    assert_eq!(table.complete(at(1), id(1), json("{}")), Err(TaskError::Final));
    assert_eq!(table.result(at(1), CORE, ID, WAITER).unwrap_err().code, -32602);

    let (mut table, _) = created(EXTENSION);
    for _ in 0..2 {
        let ack = table.cancel(at(1), EXTENSION, ID).unwrap();
        assert_eq!(ack.as_str(), r#"{"resultType":"complete"}"#);
    }
    assert_eq!(
        events(&mut table),
        [TaskEvent::Changed { task: id(1) }, TaskEvent::Stop { task: id(1) }]
    );
}

// TSK-37
#[test]
fn each_protocol_has_its_methods_tsk_37() {
    let (mut table, _) = created(EXTENSION);
    let waits = table.result(at(1), EXTENSION, ID, WAITER).unwrap_err();
    assert_eq!(waits, ErrorObject::method_not_found("tasks/result"));
    assert_eq!(table.list(at(1), EXTENSION, None).unwrap_err().code, -32601);
    let responses = crate::schema::ExtraMembers::new();
    assert_eq!(table.update(at(1), CORE, ID, &responses).unwrap_err().code, -32601);
    assert_eq!(table.update(at(1), EXTENSION, ID, &responses), Ok(Vec::new()));
}

// PRG-11, PRG-12, PRG-14
#[test]
fn progress_is_sent_until_the_task_is_over_prg_05_prg_11_prg_12_prg_14() {
    let (mut table, _) = created(CORE);
    let related =
        format!(r#""_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"{ID}"}}}}"#);
    let half = Progress::new(1.0).with_total(2.0).with_message("half");
    assert_eq!(
        table.progress(id(1), &half).unwrap().as_str(),
        format!(r#"{{"progressToken":"p","progress":1,"total":2,"message":"half",{related}}}"#)
    );
    for value in [1.0, 0.5, f64::NAN, f64::INFINITY] {
        assert_eq!(table.progress(id(1), &Progress::new(value)), None, "{value}");
    }
    table.ask(at(1), id(1), Vec::from([InputRequest::new("roots/list")])).unwrap();
    assert!(table.progress(id(1), &Progress::new(1.5)).is_some());
    table.complete(at(1), id(1), json("{}")).unwrap();
    assert_eq!(table.progress(id(1), &Progress::new(2.0)), None);
    assert_eq!(table.progress(id(2), &half), None);
    assert_eq!(created(EXTENSION).0.progress(id(1), &half), None);
    let mut silent = TaskTable::new(TaskLimits::default());
    silent.create(at(0), CORE, id(1), NewTask::default()).unwrap();
    assert_eq!(silent.progress(id(1), &half), None, "the request asked for none");
}

// TSK-19, TSK-21
#[test]
fn a_foreign_task_looks_like_none_tsk_19_tsk_21() {
    let ada = ada();
    let hers = Requestor { principal: Some(&ada), protocol: TaskProtocol::Core };
    let (mut table, _) = created(hers);
    let missing = table.get(at(1), hers, "00000000000000000000000000000002").unwrap_err();
    assert_eq!(missing.code, -32602);
    assert_eq!(table.get(at(1), CORE, ID), Err(missing.clone()));
    assert_eq!(table.get(at(1), EXTENSION, ID), Err(missing.clone()));
    assert_eq!(table.get(at(1), hers, "task-1"), Err(missing.clone()));
    assert_eq!(table.cancel(at(1), CORE, ID), Err(missing.clone()));
    assert_eq!(table.result(at(1), CORE, ID, WAITER), Err(missing.clone()));
    assert_eq!(table.list(at(1), CORE, None).unwrap().as_str(), r#"{"tasks":[]}"#);
    assert!(table.get(at(1), hers, ID).is_ok());
    // An expired task, too.
    assert_eq!(table.get(at(60_000), hers, ID), Err(missing));
}

// AUT-24
#[test]
fn scopes_are_kept_with_the_task_of_the_requestor_aut_24() {
    let ada = ada();
    let hers = Requestor { principal: Some(&ada), protocol: TaskProtocol::Core };
    let scopes = || Vec::from(["read".to_owned(), "wr\"ite".to_owned()]);
    let mut table = TaskTable::new(TaskLimits::default());
    let new = NewTask { scopes: scopes(), ..NewTask::default() };
    table.create(at(0), hers, id(1), new.clone()).unwrap();
    assert_eq!(table.bytes(), 10);
    let none: [String; 0] = [];
    for (requestor, task_id, expected) in
        [(hers, ID, &scopes()[..]), (CORE, ID, &none[..]), (hers, "x", &none[..])]
    {
        assert_eq!(table.scopes(requestor, task_id), expected);
    }
    // They survive a restart, and older records have none.
    let record = table.record(id(1)).unwrap();
    let stored = record.to_json();
    assert_eq!(TaskRecord::parse(&stored).as_ref(), Ok(&record));
    let mut restored = TaskTable::new(TaskLimits::default());
    restored.restore(at(1), [record]);
    assert_eq!(restored.scopes(hers, ID), scopes());
    let without = stored.as_str().replace(r#","scopes":["read","wr\"ite"]"#, "");
    assert!(without.len() < stored.as_str().len());
    assert!(TaskRecord::parse(&json(&without)).unwrap().scopes.is_empty());
    for broken in [r#""read""#, "[1]"] {
        let broken = stored.as_str().replace(r#"["read","wr\"ite"]"#, broken);
        assert!(TaskRecord::parse(&json(&broken)).is_err(), "{broken}");
    }
    let tight = TaskLimits { bytes_max: 9, ..TaskLimits::default() };
    let full = TaskTable::new(tight).create(at(0), hers, id(1), new);
    assert_eq!(full, Err(TaskError::BytesFull));
}
