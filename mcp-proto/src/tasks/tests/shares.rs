//! Clients that are not authenticated: what they may hold, and for whom they make room.

use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;

use super::*;
use crate::vocabulary::Principal;

/// A table for 12 tasks, at most 6 of one account.
fn table() -> TaskTable {
    TaskTable::new(TaskLimits {
        tasks_max: 12,
        tasks_per_principal_max: 6,
        bytes_max: 1200,
        bytes_per_principal_max: 600,
        ..TaskLimits::default()
    })
}

fn anonymous(source: u64) -> NewTask {
    NewTask { source: Some(source), ..NewTask::default() }
}

fn named(id: &str) -> Principal {
    Principal::new(id).unwrap()
}

/// Creates a task, which is over immediately if `is_final`.
fn create(
    table: &mut TaskTable,
    (principal, new): (Option<&Principal>, NewTask),
    number: u32,
    is_final: bool,
) -> Result<(), TaskError> {
    let requestor = Requestor { principal, protocol: TaskProtocol::Extension };
    table.create(at(0), requestor, id(number), new)?;
    if is_final {
        table.complete(at(0), id(number), json("{}"))?;
    }
    Ok(())
}

/// Returns which of these tasks exist.
fn existing(table: &TaskTable, numbers: core::ops::Range<u32>) -> Vec<u32> {
    numbers.filter(|number| table.record(id(*number)).is_some()).collect()
}

// SEC-19
#[test]
fn floods_of_one_source_leave_room_for_all_others() {
    for is_final in [true, false] {
        let mut table = table();
        let flood = |table: &mut TaskTable, from: u32| {
            (from..from + 100)
                .filter(|number| create(table, (None, anonymous(1)), *number, is_final).is_ok())
                .count()
        };
        // What is over makes room for the next one; running tasks are limited.
        assert_eq!(flood(&mut table, 0), if is_final { 100 } else { 6 });
        assert_eq!(table.len(), 6);
        for number in 200..206 {
            create(&mut table, (None, anonymous(2)), number, false).unwrap();
        }
        // The table is full of two sources; a third one gets its share.
        for number in 300..303 {
            create(&mut table, (None, anonymous(3)), number, false).unwrap();
        }
        assert_eq!((table.len(), existing(&table, 300..400).len()), (12, 3));
        flood(&mut table, 400);
        assert_eq!(existing(&table, 300..400), [300, 301, 302]);
    }
}

// SEC-19
#[test]
fn sources_make_room_for_principals_even_with_running_tasks() {
    let mut table = table();
    for source in 0..12 {
        create(&mut table, (None, anonymous(source)), source as u32, false).unwrap();
    }
    // All sources hold as much.
    let refused = create(&mut table, (None, anonymous(12)), 12, false);
    assert_eq!(refused, Err(TaskError::TasksFull));
    events(&mut table);
    let (ada, bob) = (named("ada"), named("bob"));
    for number in 20..26 {
        create(&mut table, (Some(&ada), NewTask::default()), number, false).unwrap();
        create(&mut table, (Some(&bob), NewTask::default()), number + 10, false).unwrap();
    }
    assert_eq!(existing(&table, 0..100), (20..26).chain(30..36).collect::<Vec<_>>());
    let stopped = events(&mut table);
    let stopped = stopped.iter().filter(|event| matches!(event, TaskEvent::Stop { .. }));
    assert_eq!(stopped.count(), 12);
    // A source takes nothing of a principal, not even what is over.
    table.complete(at(0), id(20), json("{}")).unwrap();
    let refused = create(&mut table, (None, anonymous(0)), 40, false);
    assert_eq!(refused, Err(TaskError::TasksFull));
    // At its own limit, neither does a principal.
    let refused = create(&mut table, (Some(&ada), NewTask::default()), 41, false);
    assert_eq!(refused, Err(TaskError::PrincipalFull));
}

#[test]
fn many_sources_with_a_result_each_make_room_for_a_new_one() {
    let mut table = table();
    for source in 0..12 {
        create(&mut table, (None, anonymous(source)), source as u32, true).unwrap();
    }
    create(&mut table, (None, anonymous(12)), 12, true).unwrap();
    assert_eq!((table.len(), existing(&table, 0..13).len()), (12, 12));
    assert!(table.record(id(12)).is_some());
    // Its second task takes none of those that hold less.
    create(&mut table, (None, anonymous(12)), 13, false).unwrap();
    assert_eq!(existing(&table, 12..14), [13]);
}

#[test]
fn principals_share_a_full_table() {
    let mut table = table();
    let names: Vec<Principal> = (0..4).map(|n| named(&format!("user-{n}"))).collect();
    let mut next = 0;
    let mut add = |table: &mut TaskTable, user: usize, is_final| {
        next += 1;
        create(table, (Some(&names[user]), NewTask::default()), next, is_final)
    };
    for _ in 0..6 {
        add(&mut table, 0, true).unwrap();
        add(&mut table, 1, false).unwrap();
    }
    // Results of the one that holds most, as long as it holds two more; running tasks never.
    assert_eq!([(); 4].map(|()| add(&mut table, 2, false).is_ok()), [true, true, true, false]);
    assert!(add(&mut table, 3, false).is_ok());
    assert_eq!(table.len(), 12);
}

#[test]
fn bytes_of_sources_make_room_for_principals() {
    let mut table = table();
    let result = |bytes: usize| json(&format!(r#"{{"n":"{}"}}"#, "x".repeat(bytes - 8)));
    for number in 0..4 {
        let owner = (None, anonymous(u64::from(number) / 2));
        create(&mut table, owner, number, false).unwrap();
        table.complete(at(0), id(number), result(300)).unwrap();
    }
    assert_eq!(table.bytes(), 1200);
    let ada = named("ada");
    create(&mut table, (Some(&ada), NewTask::default()), 10, false).unwrap();
    table.complete(at(0), id(10), result(500)).unwrap();
    assert_eq!((table.bytes(), existing(&table, 10..11)), (1100, Vec::from([10])));
    // What never fits costs others nothing.
    let (before, new) = (table.len(), NewTask { request_bytes: 2000, ..anonymous(3) });
    assert_eq!(create(&mut table, (None, new), 12, false), Err(TaskError::BytesFull));
    assert_eq!(table.len(), before);
}

#[test]
fn tasks_of_a_connection_end_with_it() {
    for protocol in TaskProtocol::ALL {
        let (mut table, gone, other) = (table(), named("connection-1"), named("connection-2"));
        let of = |owner| Requestor { principal: Some(owner), protocol };
        for number in 1..4 {
            table.create(at(0), of(&gone), id(number), anonymous(1)).unwrap();
        }
        table.create(at(0), of(&other), id(4), anonymous(1)).unwrap();
        table.complete(at(0), id(1), json("{}")).unwrap();
        events(&mut table);
        table.abandon(&gone);
        assert_eq!(events(&mut table), [TaskEvent::Removed { task: id(1) }]);
        // The others continue, and leave nothing.
        table.complete(at(0), id(2), json("{}")).unwrap();
        table.fail(at(0), id(3), crate::ErrorObject::internal("no")).unwrap();
        let removed = events(&mut table);
        assert_eq!(removed, [2, 3].map(|n| TaskEvent::Removed { task: id(n) }));
        assert_eq!((existing(&table, 0..10), table.bytes()), (Vec::from([4]), 0));
        assert_eq!(table.complete(at(0), id(2), json("{}")), Err(TaskError::Unknown));
    }
}

// TSK-11
#[test]
fn tasks_of_sources_are_kept_for_a_shorter_time() {
    let limits = TaskLimits::default();
    let hour = 3_600_000;
    for (source, requested, granted) in [
        (None, None, hour),
        (None, Some(i64::MAX), 24 * hour),
        (Some(1), None, hour),
        (Some(1), Some(i64::MAX), hour),
        (Some(1), Some(7), 7),
    ] {
        let mut table = TaskTable::new(limits.clone());
        let new = NewTask { source, requested_ttl_ms: requested, ..NewTask::default() };
        let created = table.create(at(0), EXTENSION, id(1), new).unwrap();
        let ttl: u64 = created.member("ttlMs").unwrap().parse().unwrap();
        assert_eq!(ttl, granted, "{source:?} {requested:?}");
    }
    let limits = TaskLimits { ttl_max: Duration::from_millis(5), ..limits };
    let created = TaskTable::new(limits).create(at(0), EXTENSION, id(1), anonymous(1)).unwrap();
    assert_eq!(created.member("ttlMs").unwrap().as_str(), "5", "at most `ttl_max`");
}

#[test]
fn restored_tasks_count_for_their_sources() {
    let mut first = table();
    for number in 0..6 {
        create(&mut first, (None, anonymous(7)), number, true).unwrap();
    }
    let records: Vec<TaskRecord> = (0..6)
        .map(|number| TaskRecord::parse(&first.record(id(number)).unwrap().to_json()).unwrap())
        .collect();
    let mut second = table();
    second.restore(at(0), records);
    create(&mut second, (None, anonymous(7)), 9, false).unwrap();
    assert_eq!((second.len(), existing(&second, 0..1)), (6, Vec::new()));
}

// SEC-19
#[test]
fn subscriptions_are_limited_per_source() {
    let limits = TaskLimits { watchers_per_principal_max: 2, ..TaskLimits::default() };
    let mut table = TaskTable::new(limits);
    for number in 0..6 {
        create(&mut table, (None, anonymous(u64::from(number) / 3)), number, false).unwrap();
    }
    let watched = |table: &mut TaskTable, from: u32| {
        let ids: Vec<_> = (from..from + 3).map(|number| id(number).to_text()).collect();
        let listener = TaskListener { connection: u64::from(from), request: 0 };
        table.watch(at(0), EXTENSION, ids.iter().map(|id| &**id), listener).len()
    };
    assert_eq!((watched(&mut table, 0), watched(&mut table, 3)), (2, 2));
}
