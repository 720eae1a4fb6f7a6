//! The requestor's side: losses, errors and time.

use alloc::vec::Vec;
use core::time::Duration;

use super::poller::{drain, outcome, poller, status};
use super::*;
use crate::schema::ExtraMembers;
use crate::{ErrorObject, Instant};

fn sent_update(poller: &mut TaskPoller, now: u64) -> Option<ExtraMembers> {
    match poller.poll_request(at(now)) {
        Some(TaskPollRequest::Update(update)) => Some(update.input_responses),
        None => None,
        other => panic!("{other:?}"),
    }
}

/// A poller whose task has asked for input "a", which is answered, at 1 s; it polls every minute.
fn answered() -> TaskPoller {
    let asks = r#","pollIntervalMs":60000,"inputRequests":{"a":{"method":"roots/list"}}"#;
    let asks = status("input_required", asks).as_str().replace("\"ttlMs\":60000", "\"ttlMs\":null");
    let mut poller = poller(TaskProtocol::Extension, &status("working", ""));
    poller.poll_request(at(1000)).unwrap();
    poller.on_result(at(1000), TaskPollRequestKind::Get, &json(&asks));
    drain(&mut poller);
    assert!(poller.answer("a", json("{}")));
    assert!(sent_update(&mut poller, 1000).is_some());
    poller
}

// TSK-32
#[test]
fn a_lost_answer_is_sent_again_ever_later_and_arrives_once_tsk_32() {
    let limits = PollLimits { interval_max: Duration::from_secs(8), ..PollLimits::default() };
    let asks = r#","pollIntervalMs":2000,"inputRequests":{"a":{"method":"roots/list"}}"#;
    let asks = status("input_required", asks);
    let mut poller = TaskPoller::new(at(0), TaskProtocol::Extension, &asks, limits).unwrap();
    // `tasks/get` is in flight all the while.
    poller.poll_request(at(2000)).unwrap();
    poller.on_notification(at(2000), &asks);
    drain(&mut poller);
    assert!(poller.answer("a", json("{}")));
    let (mut now, mut waits) = (2000, Vec::new());
    assert!(sent_update(&mut poller, now).is_some());
    poller.poll_request(at(4000)).unwrap();
    for n in 0..4 {
        match n {
            0 => poller.on_lost(at(now), TaskPollRequestKind::Update),
            // A server in trouble.
            _ => {
                let error = ErrorObject::internal("busy");
                poller.on_error(at(now), TaskPollRequestKind::Update, &error);
            }
        }
        assert_eq!(sent_update(&mut poller, now), None, "not immediately");
        let due = poller.poll_timeout().unwrap().as_nanos() / 1_000_000;
        waits.push(due - now);
        now = due;
        assert_eq!(sent_update(&mut poller, now - 1), None);
        assert!(sent_update(&mut poller, now).is_some());
    }
    assert_eq!(waits, [4000, 8000, 8000, 8000]);
    poller.on_result(at(now), TaskPollRequestKind::Update, &Raw::empty_object());
    assert_eq!((poller.poll_timeout(), sent_update(&mut poller, 99_999)), (None, None));
}

#[test]
fn an_answer_that_the_server_refuses_is_not_sent_again() {
    for refused in [ErrorObject::invalid_params("no task"), ErrorObject::method_not_found("x")] {
        let mut poller = answered();
        poller.on_error(at(1000), TaskPollRequestKind::Update, &refused);
        assert_eq!(poller.poll_timeout(), Some(Instant::from_millis(61_000)));
        assert_eq!(sent_update(&mut poller, 60_999), None);
    }
}

// TSK-13, TSK-14
#[test]
fn only_the_error_of_a_failed_task_is_its_outcome_tsk_13() {
    let nested = |status: &str| {
        json(&alloc::format!(
            r#"{{"taskId":"t","status":"{status}","createdAt":"","lastUpdatedAt":"","ttl":60000}}"#
        ))
    };
    let created = json(&alloc::format!(r#"{{"task":{}}}"#, nested("working").as_str()));
    for (status, ends) in [("input_required", false), ("completed", false), ("failed", true)] {
        let mut poller = poller(TaskProtocol::Core, &created);
        poller.poll_request(at(1000)).unwrap();
        poller.on_result(at(1000), TaskPollRequestKind::Get, &nested(status));
        assert!(matches!(poller.poll_request(at(1000)), Some(TaskPollRequest::Result(_))));
        let error = ErrorObject::internal("broken");
        poller.on_error(at(1000), TaskPollRequestKind::Result, &error);
        if ends {
            assert_eq!(outcome(&mut poller), TaskOutcome::Failed(error));
        } else {
            assert!(!poller.is_over(), "{status}");
            assert_eq!(poller.poll_timeout(), Some(Instant::from_millis(3000)));
            assert!(matches!(poller.poll_request(at(3000)), Some(TaskPollRequest::Get(_))));
        }
    }
}

// TSK-39
#[test]
fn a_restart_does_not_prolong_the_time_of_a_task_tsk_39() {
    let working = status("working", "");
    let fails_at = |mut poller: TaskPoller, mut now: u64| {
        while !poller.is_over() {
            now = poller.poll_timeout().map_or(now, |due| now.max(due.as_nanos() / 1_000_000));
            poller.poll_request(at(now)).unwrap();
            poller.on_result(at(now), TaskPollRequestKind::Get, &working);
        }
        assert_eq!(outcome(&mut poller), TaskOutcome::Expired);
        now
    };
    assert_eq!(fails_at(poller(TaskProtocol::Extension, &working), 0), 60_000);
    // Two restarts; the clock of the process begins at zero each time.
    let first = poller(TaskProtocol::Extension, &working).record(at(20_000));
    let clock = |now: u64, unix: u64| TaskTime { now: Instant::from_millis(now), ..at(unix) };
    let limits = PollLimits::default;
    let second = TaskPoller::restore(clock(5, 30_000), &first, limits()).unwrap();
    let third = second.record(clock(5005, 35_000));
    let third = TaskPoller::restore(clock(0, 40_000), &third, limits()).unwrap();
    assert_eq!(fails_at(third, 0), 20_000);
    // After the time is over: one poll.
    let late = TaskPoller::restore(clock(0, 90_000), &first, limits()).unwrap();
    assert_eq!(fails_at(late, 0), 0);
    // Of the id alone, the age of the task is unknown.
    let resumed = TaskPoller::resume(clock(0, 40_000), TaskProtocol::Extension, "t", limits());
    assert_eq!(resumed.poll_timeout(), Some(Instant::ZERO));
    assert_eq!(fails_at(resumed, 0), 60_000);
}

#[test]
fn the_time_of_a_task_is_bounded_whatever_the_server_grants() {
    let long = status("working", "").as_str().replace("60000", "9223372036854775807");
    let limits = PollLimits { time_max: Duration::from_secs(5), ..PollLimits::default() };
    let mut poller = TaskPoller::new(at(0), TaskProtocol::Extension, &json(&long), limits).unwrap();
    for now in [1000, 5000] {
        assert!(!poller.is_over());
        poller.poll_request(at(now)).unwrap();
        poller.on_result(at(now), TaskPollRequestKind::Get, &json(&long));
    }
    assert_eq!(outcome(&mut poller), TaskOutcome::Expired);
}
