//! What happens at each limit, and time.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use super::*;
use crate::schema::InputRequest;
use crate::{ErrorObject, Instant};

fn table(limits: TaskLimits) -> TaskTable {
    TaskTable::new(limits)
}

fn create(table: &mut TaskTable, number: u32) -> Result<Raw, TaskError> {
    table.create(at(0), EXTENSION, id(number), NewTask::default())
}

#[test]
fn new_tasks_are_refused_while_results_are_promised() {
    let mut table = table(TaskLimits { tasks_per_principal_max: 2, ..TaskLimits::default() });
    create(&mut table, 1).unwrap();
    create(&mut table, 2).unwrap();
    assert_eq!(create(&mut table, 2), Err(TaskError::IdTaken));
    assert_eq!(create(&mut table, 3), Err(TaskError::PrincipalFull));
    table.complete(at(0), id(2), json("{}")).unwrap();
    assert_eq!(create(&mut table, 3), Err(TaskError::PrincipalFull));
    // Once its result is retrieved, the task makes room.
    table.get(at(0), EXTENSION, &id(2).to_text()).unwrap();
    create(&mut table, 3).unwrap();
    assert_eq!(table.get(at(0), EXTENSION, &id(2).to_text()).unwrap_err().code, -32602);
    // So does a cancelled one.
    table.cancel(at(0), EXTENSION, &id(1).to_text()).unwrap();
    create(&mut table, 4).unwrap();
    assert_eq!(table.len(), 2);
}

#[test]
fn a_principal_makes_room_for_others_only_with_what_is_not_promised() {
    let mut table = table(TaskLimits { tasks_max: 1, ..TaskLimits::default() });
    create(&mut table, 1).unwrap();
    table.complete(at(0), id(1), json("{}")).unwrap();
    let ada = ada();
    let hers = Requestor { principal: Some(&ada), protocol: TaskProtocol::Extension };
    let refused = table.create(at(0), hers, id(2), NewTask::default());
    assert_eq!(refused, Err(TaskError::TasksFull));
    table.get(at(0), EXTENSION, &id(1).to_text()).unwrap();
    table.create(at(0), hers, id(2), NewTask::default()).unwrap();
    assert_eq!(create(&mut table, 3), Err(TaskError::TasksFull));
}

#[test]
fn bytes_are_counted_and_released() {
    let limits =
        TaskLimits { bytes_max: 100, bytes_per_principal_max: 60, ..TaskLimits::default() };
    let mut table = table(limits);
    let result = |bytes: usize| json(&alloc::format!(r#"{{"n":"{}"}}"#, "x".repeat(bytes - 8)));
    for number in 1..4 {
        create(&mut table, number).unwrap();
    }
    table.complete(at(0), id(1), result(50)).unwrap();
    assert_eq!(table.bytes(), 50);
    assert_eq!(table.complete(at(0), id(2), result(11)), Err(TaskError::BytesFull));
    let status = table.get(at(0), EXTENSION, &id(2).to_text()).unwrap();
    assert_eq!(status.member("status").unwrap().as_str(), r#""failed""#);
    assert!(status.as_str().contains("TaskLimits::bytes_max"));
    // A retrieved result makes room.
    table.get(at(0), EXTENSION, &id(1).to_text()).unwrap();
    table.complete(at(0), id(3), result(60)).unwrap();
    assert_eq!((table.len(), table.bytes()), (1, 60));
    let ada = ada();
    let hers = Requestor { principal: Some(&ada), protocol: TaskProtocol::Extension };
    let again = NewTask { restart: OnRestart::Run(result(41)), ..NewTask::default() };
    assert_eq!(table.create(at(0), hers, id(4), again), Err(TaskError::BytesFull));
    table.handle_timeout(Instant::MAX);
    assert_eq!((table.len(), table.bytes(), table.poll_timeout()), (0, 0, None));
}

#[test]
fn requests_count_while_their_handlers_run() {
    let mut table = table(TaskLimits { bytes_max: 100, ..TaskLimits::default() });
    let create = |table: &mut TaskTable, number, request_bytes| {
        let new = NewTask { request_bytes, ..NewTask::default() };
        table.create(at(0), EXTENSION, id(number), new)
    };
    create(&mut table, 1, 60).unwrap();
    assert_eq!(create(&mut table, 2, 41), Err(TaskError::BytesFull));
    assert_eq!((table.len(), table.bytes()), (1, 60));
    table.complete(at(0), id(1), json("{}")).unwrap();
    assert_eq!(table.bytes(), 2);
    create(&mut table, 2, 98).unwrap();
}

#[test]
fn a_withdrawn_task_takes_no_room() {
    let mut table = table(TaskLimits { tasks_max: 1, ..TaskLimits::default() });
    create(&mut table, 1).unwrap();
    table.withdraw(at(0), id(1));
    let task = id(1);
    assert_eq!(events(&mut table), [TaskEvent::Stop { task }, TaskEvent::Removed { task }]);
    create(&mut table, 2).unwrap();
    table.withdraw(at(0), id(1));
    assert_eq!((table.len(), events(&mut table)), (1, vec![]));
}

#[test]
fn inputs_and_checkpoints_are_bounded() {
    let limits = TaskLimits { bytes_max: 50, inputs_max: 2, ..TaskLimits::default() };
    let mut table = table(limits);
    create(&mut table, 1).unwrap();
    let ask = |table: &mut TaskTable, count| {
        table.ask(at(0), id(1), vec![InputRequest::new("roots/list"); count])
    };
    assert_eq!(ask(&mut table, 3), Err(TaskError::InputsFull));
    assert_eq!(ask(&mut table, 0), Ok(Vec::new()));
    ask(&mut table, 2).unwrap();
    assert_eq!(table.bytes(), 20);
    assert_eq!(ask(&mut table, 1), Err(TaskError::InputsFull));
    for (key, outstanding) in [
        ("input-01", false),
        ("input-+1", false),
        ("", false),
        ("input-1", true),
        ("input-1", false),
    ] {
        assert_eq!(table.answer(at(0), id(1), key), Ok(outstanding), "{key}");
    }
    assert_eq!(table.bytes(), 10);
    let large = OnRestart::Run(json(&alloc::format!("[{}1]", "1,".repeat(30))));
    assert_eq!(table.set_restart(at(0), id(1), large), Err(TaskError::BytesFull));
    table.set_restart(at(0), id(1), OnRestart::Run(json("[1,2]"))).unwrap();
    assert_eq!(table.bytes(), 15);
    // A checkpoint takes the place of the one before.
    let text = json(&alloc::format!("[{}1]", "1,".repeat(16)));
    for _ in 0..3 {
        table.set_restart(at(0), id(1), OnRestart::Run(text.clone())).unwrap();
        assert_eq!(table.bytes(), 45);
    }
    let mut bad = InputRequest::new("roots/list");
    bad.params = Some(json("1").into());
    assert_eq!(table.ask(at(0), id(1), vec![bad]), Err(TaskError::NotAnObject));
    assert_eq!(table.complete(at(0), id(1), json("1")), Err(TaskError::NotAnObject));
    assert_eq!(table.complete(at(0), id(1), json("{}")), Err(TaskError::Final));
}

#[test]
fn waiters_and_watchers_are_bounded() {
    let limits = TaskLimits {
        waiters_max: 2,
        waiters_per_task_max: 1,
        watchers_max: 2,
        ..TaskLimits::default()
    };
    let mut table = table(limits);
    for number in 1..4 {
        table.create(at(0), CORE, id(number), NewTask::default()).unwrap();
    }
    let listener = |request| TaskListener { connection: 1, request };
    let wait = |table: &mut TaskTable, task: u32, request| {
        let waits = table.result(at(0), CORE, &id(task).to_text(), listener(request));
        waits.map_err(|error| error.code)
    };
    assert_eq!(wait(&mut table, 1, 1), Ok(None));
    assert_eq!(wait(&mut table, 1, 2), Err(-32603));
    assert_eq!(wait(&mut table, 2, 3), Ok(None));
    assert_eq!(wait(&mut table, 3, 4), Err(-32603));
    table.stop_waiting(listener(3));
    assert_eq!(wait(&mut table, 3, 4), Ok(None));

    let ids: Vec<String> = (1..4).map(|number| id(number).to_text()).collect();
    let accepted = table.watch(at(0), CORE, ids.iter().map(|id| &**id), listener(9));
    assert_eq!(accepted, ids[..2]);
    assert_eq!(table.watchers(id(1)).collect::<Vec<_>>(), [listener(9)]);
    table.unwatch(listener(9));
    assert_eq!(table.watchers(id(1)).count(), 0);
}

// SEC-19
#[test]
fn one_principal_cannot_take_the_waiters_and_watchers_of_others() {
    let limits = TaskLimits {
        waiters_max: 4,
        waiters_per_principal_max: 2,
        watchers_max: 4,
        watchers_per_principal_max: 2,
        ..TaskLimits::default()
    };
    let (mut table, ada) = (table(limits), ada());
    let ada = Requestor { principal: Some(&ada), ..CORE };
    for number in 1..7 {
        let owner = if number < 4 { CORE } else { ada };
        table.create(at(0), owner, id(number), NewTask::default()).unwrap();
    }
    let listener = |request| TaskListener { connection: request % 2, request };
    let wait = |table: &mut TaskTable, requestor, task: u32| {
        let listener = listener(u64::from(task));
        let waits = table.result(at(0), requestor, &id(task).to_text(), listener);
        waits.map_err(|error| error.code)
    };
    let expected = [Ok(None), Ok(None), Err(-32603)];
    // What ends in any way makes room for its principal.
    for round in 0..4 {
        assert_eq!([1, 2, 3].map(|task| wait(&mut table, CORE, task)), expected, "{round}");
        assert_eq!([4, 5, 6].map(|task| wait(&mut table, ada, task)), expected, "{round}");
        match round {
            0 => (0..7).for_each(|request| table.stop_waiting(listener(request))),
            1 => [0, 1].into_iter().for_each(|connection| table.disconnect(connection)),
            _ => {
                for task in [1, 4] {
                    let failed = table.fail(at(0), id(task), ErrorObject::internal("over"));
                    assert_eq!(failed, Ok(()));
                }
                break;
            }
        }
    }
    assert_eq!(wait(&mut table, CORE, 3), Ok(None));
    assert_eq!(wait(&mut table, ada, 6), Ok(None));

    let watch = |table: &mut TaskTable, requestor, tasks: [u32; 3]| {
        let ids = tasks.map(|task| id(task).to_text());
        table.watch(at(0), requestor, ids.iter().map(|id| &**id), listener(9)).len()
    };
    for _ in 0..2 {
        assert_eq!(watch(&mut table, CORE, [1, 2, 3]), 2);
        assert_eq!(watch(&mut table, ada, [4, 5, 6]), 2);
        table.unwatch(listener(9));
    }
}

// TSK-11, TSK-12
#[test]
fn the_time_of_a_task_is_bounded_and_counts_from_its_creation_tsk_11_tsk_12() {
    let limits = TaskLimits { ttl_max: Duration::from_millis(500), ..TaskLimits::default() };
    for (requested, granted) in [
        (None, 500),
        (Some(i64::MAX), 500),
        (Some(501), 500),
        (Some(7), 7),
        (Some(0), 1),
        (Some(-1), 1),
    ] {
        let mut table = table(limits.clone());
        let new = NewTask { requested_ttl_ms: requested, ..NewTask::default() };
        let created = table.create(at(10), EXTENSION, id(1), new).unwrap();
        let ttl = created.member("ttlMs").unwrap().parse::<u64>().unwrap();
        assert_eq!(ttl, granted, "{requested:?}");
        assert_eq!(table.poll_timeout(), Some(Instant::from_millis(10 + granted)));
        table.handle_timeout(Instant::from_millis(9 + granted));
        assert_eq!(table.len(), 1);
        // A clock that goes backwards stops.
        table.handle_timeout(Instant::ZERO);
        table.handle_timeout(Instant::from_millis(10 + granted));
        assert!(table.is_empty());
        assert_eq!(
            events(&mut table),
            [TaskEvent::Stop { task: id(1) }, TaskEvent::Removed { task: id(1) }]
        );
        assert_eq!(table.fail(at(0), id(1), ErrorObject::internal("")), Err(TaskError::Unknown));
    }
}

// TSK-20
#[test]
fn pages_survive_changes_and_every_task_is_listed_tsk_20() {
    let mut table = table(TaskLimits { page_max: 3, ..TaskLimits::default() });
    for number in 0..10 {
        table.create(at(0), CORE, id(100 - number), NewTask::default()).unwrap();
    }
    let (mut cursor, mut listed) = (None::<String>, Vec::new());
    for round in 0_u32.. {
        let page = table.list(at(0), CORE, cursor.as_deref()).unwrap();
        let tasks = page.member("tasks").unwrap();
        listed.extend(tasks.elements().map(|task| task.member("taskId").unwrap()));
        // The last task of the page is deleted, and there is a new one.
        let last = listed.last().unwrap().to_text().unwrap().into_owned();
        table.cancel(at(0), CORE, &last).unwrap();
        if round < 3 {
            table.create(at(0), CORE, id(200 + round), NewTask::default()).unwrap();
        }
        cursor = page.member("nextCursor").map(|cursor| cursor.to_text().unwrap().into());
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(listed.len(), 13);
    for cursor in ["", "t", "t01", "t+1", "t99", "x1", "t18446744073709551616"] {
        assert_eq!(table.list(at(0), CORE, Some(cursor)).unwrap_err().code, -32602, "{cursor}");
    }
}

#[test]
fn messages_are_cut_off_between_characters() {
    let mut table = table(TaskLimits { message_bytes_max: 4, ..TaskLimits::default() });
    create(&mut table, 1).unwrap();
    table.set_message(at(0), id(1), Some("año…")).unwrap();
    let status = table.get(at(0), EXTENSION, &id(1).to_text()).unwrap();
    assert_eq!(status.member("statusMessage").unwrap().as_str(), "\"año\"");
    assert_eq!(events(&mut table), [TaskEvent::Changed { task: id(1) }]);
}

#[test]
fn restored_tasks_keep_their_order_and_their_time() {
    let mut first = table(TaskLimits { page_max: 1, ..TaskLimits::default() });
    for number in [5, 3, 4] {
        let restart = OnRestart::Run(json("{}"));
        let new = NewTask { requested_ttl_ms: Some(1000), restart, ..NewTask::default() };
        first.create(at(0), CORE, id(number), new).unwrap();
    }
    let page = first.list(at(0), CORE, None).unwrap();
    let cursor = page.member("nextCursor").unwrap().to_text().unwrap().into_owned();
    let records = [3, 4, 5].map(|number| first.record(id(number)).unwrap());

    // The monotonic clock starts again; the wall clock does not.
    let later = TaskTime { now: Instant::ZERO, unix_ms: at(400).unix_ms };
    let mut second = table(TaskLimits::default());
    second.restore(later, records.clone());
    assert_eq!(second.poll_timeout(), Some(Instant::from_millis(600)));
    let page = second.list(later, CORE, Some(&cursor)).unwrap();
    let ids: Vec<Raw> = page.member("tasks").unwrap().elements().collect();
    let ids: Vec<Raw> = ids.iter().map(|task| task.member("taskId").unwrap()).collect();
    assert_eq!(
        ids,
        [json(&alloc::format!("\"{}\"", id(3).to_text())), {
            json(&alloc::format!("\"{}\"", id(4).to_text()))
        }]
    );

    // A wall clock that went backwards does not make tasks live longer.
    let earlier = TaskTime { now: Instant::ZERO, unix_ms: 0 };
    let mut third = table(TaskLimits::default());
    third.restore(earlier, records.clone());
    assert_eq!(third.poll_timeout(), Some(Instant::from_millis(1000)));

    let expired = TaskTime { now: Instant::ZERO, unix_ms: at(1000).unix_ms };
    let mut fourth = table(TaskLimits::default());
    fourth.restore(expired, records);
    assert!(fourth.is_empty());
    assert_eq!(events(&mut fourth).len(), 3);
}

#[test]
fn damaged_records_are_refused() {
    let mut table = table(TaskLimits::default());
    create(&mut table, 1).unwrap();
    table.complete(at(0), id(1), json("{}")).unwrap();
    let text = String::from(table.record(id(1)).unwrap().to_json().as_str());
    assert!(TaskRecord::parse(&json(&text)).is_ok());
    for (from, to) in [
        (r#""version":1"#, r#""version":2"#),
        (r#""id":"0"#, r#""id":"x"#),
        (r#""protocol":"extension""#, r#""protocol":"other""#),
        (r#""status":"completed""#, r#""status":"working""#),
        (r#""status":"completed""#, r#""status":"lost""#),
        (r#""number":1"#, r#""number":-1"#),
        (r#""result":{}"#, r#""result":[]"#),
        (r#""result":{}"#, r#""error":{"code":1}"#),
        (r#""result":{}"#, r#""x":0"#),
    ] {
        let damaged = text.replace(from, to);
        assert_ne!(damaged, text);
        assert!(TaskRecord::parse(&json(&damaged)).is_err(), "{damaged}");
    }
}
