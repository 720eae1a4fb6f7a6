//! The requestor's side: each rule, and a whole task with every sequence of failures.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::*;
use crate::schema::{ExtraMembers, InputRequest};
use crate::{ErrorObject, Instant, Progress};

pub(super) fn poller(protocol: TaskProtocol, created: &Raw) -> TaskPoller {
    TaskPoller::new(at(0), protocol, created, PollLimits::default()).unwrap()
}

pub(super) fn status(status: &str, more: &str) -> Raw {
    json(&alloc::format!(
        r#"{{"taskId":"t","status":"{status}","createdAt":"","lastUpdatedAt":"","ttlMs":60000{more}}}"#
    ))
}

pub(super) fn drain(poller: &mut TaskPoller) -> Vec<TaskPollEvent> {
    core::iter::from_fn(|| poller.poll_event()).collect()
}

pub(super) fn outcome(poller: &mut TaskPoller) -> TaskOutcome {
    match drain(poller).pop() {
        Some(TaskPollEvent::Over(outcome)) => outcome,
        other => panic!("{other:?}"),
    }
}

// PRG-12, PRG-16
#[test]
fn progress_increases_until_the_task_is_over_prg_12_prg_16() {
    let nested = |status: &str| {
        let task = format!(
            r#"{{"taskId":"t","status":"{status}","createdAt":"","lastUpdatedAt":"","ttl":60000}}"#
        );
        json(&task)
    };
    let created = json(&format!(r#"{{"task":{}}}"#, nested("working").as_str()));
    let mut poller = poller(TaskProtocol::Core, &created);
    drain(&mut poller);
    for value in [1.0, 3.0, 2.0] {
        poller.on_progress(Progress::new(value));
    }
    // The latest one replaces those that were not polled.
    assert_eq!(drain(&mut poller), [TaskPollEvent::Progress(Progress::new(3.0))]);
    poller.on_progress(Progress::new(3.0));
    assert_eq!(drain(&mut poller), []);
    assert!(matches!(poller.poll_request(at(1000)), Some(TaskPollRequest::Get(_))));
    poller.on_result(at(1000), TaskPollRequestKind::Get, &nested("completed"));
    drain(&mut poller);
    poller.on_progress(Progress::new(4.0));
    assert_eq!(drain(&mut poller), []);
}

// TSK-39
#[test]
fn the_interval_of_the_server_is_respected_within_bounds_tsk_39() {
    for (interval, ms) in [("", 1000), ("5", 100), ("7000", 7000), ("999999", 60_000), ("-1", 1000)]
    {
        let more = |interval: &str| match interval {
            "" => String::new(),
            interval => alloc::format!(r#","pollIntervalMs":{interval}"#),
        };
        let working = |interval: &str| {
            let status = status("working", &more(interval));
            json(&status.as_str().replace("60000,", "600000,").replace("60000}", "600000}"))
        };
        let mut poller = poller(TaskProtocol::Extension, &working(interval));
        assert_eq!(poller.poll_timeout(), Some(Instant::from_millis(ms)), "{interval}");
        assert_eq!(poller.poll_request(at(ms - 1)), None);
        assert!(matches!(poller.poll_request(at(ms)), Some(TaskPollRequest::Get(_))));
        assert_eq!((poller.poll_timeout(), poller.poll_request(at(ms))), (None, None));
        // The interval may change.
        poller.on_result(at(ms), TaskPollRequestKind::Get, &working("2000"));
        assert_eq!(poller.poll_timeout(), Some(Instant::from_millis(ms + 2000)));
    }
}

#[test]
fn lost_polls_are_repeated_ever_later_until_the_time_is_over() {
    let mut poller = poller(TaskProtocol::Extension, &status("working", ""));
    let mut waits = Vec::new();
    let mut now = 0;
    while let Some(due) = poller.poll_timeout() {
        let ms = due.as_nanos() / 1_000_000;
        waits.push((ms - now) / 1000);
        now = ms;
        poller.poll_request(at(now)).unwrap();
        poller.on_lost(at(now), TaskPollRequestKind::Get);
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32]);
    assert_eq!(outcome(&mut poller), TaskOutcome::Expired);
}

// TSK-31, TSK-32
#[test]
fn each_input_request_is_reported_and_answered_once_tsk_32() {
    let asks = r#","inputRequests":{"a":{"method":"roots/list"}}"#;
    let both = r#","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"roots/list"}}"#;
    let mut poller = poller(TaskProtocol::Extension, &status("working", ""));
    let mut now = 0;
    let mut get = |poller: &mut TaskPoller, more: &str| {
        now += 1000;
        assert!(matches!(poller.poll_request(at(now)), Some(TaskPollRequest::Get(_))));
        poller.on_result(at(now), TaskPollRequestKind::Get, &status("input_required", more));
        let is_input = |event: &TaskPollEvent| matches!(event, TaskPollEvent::Input { .. });
        drain(poller).into_iter().filter(is_input).count()
    };
    assert_eq!(get(&mut poller, asks), 1);
    assert_eq!(get(&mut poller, asks), 0);
    assert!(poller.answer("a", json("{}")));
    assert!(!poller.answer("a", json("{}")) && !poller.answer("x", json("{}")));
    let mut responses = ExtraMembers::new();
    responses.set("a", json("{}"));
    let update = |poller: &mut TaskPoller| match poller.poll_request(at(0)) {
        Some(TaskPollRequest::Update(update)) => Some(update.input_responses),
        None => None,
        other => panic!("{other:?}"),
    };
    assert_eq!(update(&mut poller), Some(responses));
    assert_eq!(update(&mut poller), None);
    poller.on_result(at(0), TaskPollRequestKind::Update, &Raw::empty_object());
    assert_eq!(update(&mut poller), None);
    assert_eq!(get(&mut poller, both), 1);

    // After a restart, only what was not answered is reported.
    let record = poller.record(at(0));
    let mut poller = TaskPoller::restore(at(0), &record, PollLimits::default()).unwrap();
    assert_eq!(poller.task_id(), "t");
    assert_eq!(get(&mut poller, both), 1);
    assert!(poller.answer("b", json("{}")) && !poller.answer("a", json("{}")));
    assert!(TaskPoller::restore(at(0), &json("{}"), PollLimits::default()).is_none());
}

#[test]
fn too_many_inputs_cancel_the_task() {
    let limits = PollLimits { inputs_max: 1, ..PollLimits::default() };
    let working = status("working", "");
    let mut poller = TaskPoller::new(at(0), TaskProtocol::Extension, &working, limits).unwrap();
    poller.poll_request(at(1000)).unwrap();
    let both = r#","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"roots/list"}}"#;
    poller.on_result(at(1000), TaskPollRequestKind::Get, &status("input_required", both));
    assert!(matches!(poller.poll_request(at(1000)), Some(TaskPollRequest::Cancel(_))));
    poller.on_result(at(1000), TaskPollRequestKind::Cancel, &Raw::empty_object());
    assert_eq!(outcome(&mut poller), TaskOutcome::TooManyInputs);
}

// TSK-17
#[test]
fn a_notification_ends_the_wait_tsk_17() {
    let mut poller = poller(TaskProtocol::Extension, &status("working", ""));
    let foreign = status("completed", r#","result":{}"#).as_str().replace("\"t\"", "\"u\"");
    assert!(!poller.on_notification(at(1), &json(&foreign)));
    assert!(poller.on_notification(at(1), &status("completed", r#","result":{"n":1.0}"#)));
    assert_eq!(outcome(&mut poller), TaskOutcome::Completed(json(r#"{"n":1.0}"#)));
    assert!(poller.is_over() && poller.poll_timeout().is_none());
    assert_eq!(poller.poll_request(at(99_999)), None);
}

/// What happens to a request.
#[derive(Clone, Copy, Debug)]
enum Fault {
    None,
    RequestLost,
    ResponseLost,
    /// The requestor is restarted, and the response is lost.
    Restart,
    /// The server is restarted, and the request is lost.
    ServerRestart,
}

const FAULTS: [Fault; 5] =
    [Fault::None, Fault::RequestLost, Fault::ResponseLost, Fault::Restart, Fault::ServerRestart];

/// How the task goes.
#[derive(Clone, Copy, Debug)]
enum Script {
    Complete,
    Fail,
    /// Asks once, and completes with the answer.
    Ask,
    /// The requestor cancels after the first request.
    Cancel,
}

struct Play {
    table: TaskTable,
    poller: TaskPoller,
    requestor: Requestor<'static>,
    now: u64,
    /// Answers that arrived, by key.
    answers: BTreeMap<String, usize>,
    polls: Vec<u64>,
    over: Vec<TaskOutcome>,
}

const WAITER: TaskListener = TaskListener { connection: 0, request: 0 };

impl Play {
    fn new(requestor: Requestor<'static>) -> Self {
        let mut table = TaskTable::new(TaskLimits::default());
        let new = NewTask { restart: OnRestart::Run(Raw::empty_object()), ..NewTask::default() };
        let created = table.create(at(0), requestor, id(1), new).unwrap();
        let poller = poller(requestor.protocol, &created);
        let (answers, polls, over) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { table, poller, requestor, now: 0, answers, polls, over }
    }

    fn run(mut self, script: Script, faults: &[Fault]) -> TaskOutcome {
        let mut count = 0;
        for _ in 0..200 {
            while let Some(request) = self.poller.poll_request(at(self.now)) {
                let fault = faults.get(count).copied().unwrap_or(Fault::None);
                count += 1;
                self.send(request, fault);
                match script {
                    Script::Cancel => self.poller.cancel(),
                    Script::Ask if self.is_working() && self.answers.is_empty() => {
                        let requests = Vec::from([InputRequest::new("roots/list")]);
                        self.table.ask(at(self.now), id(1), requests).unwrap();
                    }
                    _ => {}
                }
                self.collect();
            }
            if self.poller.is_over() {
                break;
            }
            self.serve(script, count);
            let due = self.poller.poll_timeout().map_or(0, |due| due.as_nanos() / 1_000_000);
            self.now = self.now.max(due);
        }
        self.collect();
        assert_eq!(self.over.len(), 1, "{script:?} {faults:?}");
        assert!(self.answers.values().all(|count| *count == 1));
        assert!(self.polls.windows(2).all(|polls| polls[1] >= polls[0] + 1000));
        self.over.remove(0)
    }

    fn is_working(&self) -> bool {
        self.table.record(id(1)).is_some_and(|record| {
            record.to_json().member("status").unwrap().as_str() == "\"working\""
        })
    }

    /// Lets the handler work, after some requests.
    fn serve(&mut self, script: Script, count: usize) {
        let time = at(self.now);
        match script {
            Script::Complete if count > 1 => {
                let _late = self.table.complete(time, id(1), json(r#"{"n":1.0}"#));
            }
            Script::Ask if self.is_working() && !self.answers.is_empty() => {
                let _late = self.table.complete(time, id(1), json(r#"{"n":1.0}"#));
            }
            Script::Fail if count > 1 => {
                let _late = self.table.fail(time, id(1), ErrorObject::internal("broken"));
            }
            _ => {}
        }
    }

    fn send(&mut self, request: TaskPollRequest, fault: Fault) {
        let (time, text) = (at(self.now), id(1).to_text());
        let kind = match &request {
            TaskPollRequest::Get(_) => TaskPollRequestKind::Get,
            TaskPollRequest::Result(_) => TaskPollRequestKind::Result,
            TaskPollRequest::Update(_) => TaskPollRequestKind::Update,
            TaskPollRequest::Cancel(_) => TaskPollRequestKind::Cancel,
        };
        if kind == TaskPollRequestKind::Get {
            self.polls.push(self.now);
        }
        match fault {
            Fault::RequestLost => return self.poller.on_lost(time, kind),
            Fault::ServerRestart => {
                let record = self.table.record(id(1)).unwrap();
                self.table = TaskTable::new(TaskLimits::default());
                self.table.restore(time, [record]);
                return self.poller.on_lost(time, kind);
            }
            _ => {}
        }
        let response = match request {
            TaskPollRequest::Get(_) => self.table.get(time, self.requestor, &text),
            TaskPollRequest::Cancel(_) => self.table.cancel(time, self.requestor, &text),
            TaskPollRequest::Update(update) => {
                let responses = &update.input_responses;
                let answers = self.table.update(time, self.requestor, &text, responses).unwrap();
                for answer in answers {
                    *self.answers.entry(answer.key.into()).or_default() += 1;
                }
                Ok(Raw::empty_object())
            }
            TaskPollRequest::Result(_) => {
                match self.table.result(time, self.requestor, &text, WAITER).transpose() {
                    Some(response) => response,
                    // The request times out. The server's own request brings the answer.
                    None => {
                        self.table.stop_waiting(WAITER);
                        for key in (1..9).map(|number| alloc::format!("input-{number}")) {
                            if self.table.answer(time, id(1), &key) == Ok(true) {
                                *self.answers.entry(key).or_default() += 1;
                            }
                        }
                        return self.poller.on_lost(time, kind);
                    }
                }
            }
        };
        match (fault, response) {
            (Fault::ResponseLost, _) => self.poller.on_lost(time, kind),
            (Fault::Restart, _) => {
                self.collect();
                let record = self.poller.record(time);
                let limits = PollLimits::default();
                self.poller = TaskPoller::restore(time, &record, limits).unwrap();
                // Polls immediately.
                self.polls.clear();
            }
            (_, Ok(result)) => self.poller.on_result(time, kind, &result),
            (_, Err(error)) => self.poller.on_error(time, kind, &error),
        }
    }

    fn collect(&mut self) {
        for event in drain(&mut self.poller) {
            match event {
                TaskPollEvent::Input { key, .. } => assert!(self.poller.answer(&key, json("{}"))),
                TaskPollEvent::Over(outcome) => self.over.push(outcome),
                TaskPollEvent::Progress(_) | TaskPollEvent::Status { .. } => {}
            }
        }
    }
}

// TSK-14, TSK-32, TSK-39
#[test]
fn a_task_ends_as_it_should_whatever_is_lost_tsk_14_tsk_32_tsk_39() {
    let mut count = 0;
    for requestor in [CORE, EXTENSION] {
        for script in [Script::Complete, Script::Fail, Script::Ask, Script::Cancel] {
            for n in 0..FAULTS.len().pow(5) {
                let faults: Vec<Fault> =
                    (0..5).map(|at| FAULTS[n / FAULTS.len().pow(at) % FAULTS.len()]).collect();
                let outcome = Play::new(requestor).run(script, &faults);
                let text = alloc::format!("{requestor:?} {script:?} {faults:?}: {outcome:?}");
                match (script, outcome) {
                    (Script::Complete | Script::Ask, TaskOutcome::Completed(result)) => {
                        assert!(result.as_str().ends_with(r#""n":1.0}"#), "{text}");
                    }
                    (Script::Fail, TaskOutcome::Failed(error)) => {
                        assert_eq!(&*error.message, "broken", "{text}");
                    }
                    (Script::Cancel, TaskOutcome::Cancelled) => {}
                    _ => panic!("{text}"),
                }
                count += 1;
            }
        }
    }
    assert_eq!(count, 8 * 3125);
}

#[test]
fn unlimited_tasks_end_too() {
    let created = status("working", "").as_str().replace("60000", "null");
    let limits = PollLimits { time_max: Duration::from_secs(5), ..PollLimits::default() };
    let mut poller =
        TaskPoller::new(at(0), TaskProtocol::Extension, &json(&created), limits).unwrap();
    for now in [1000, 2000, 3000, 4000, 5000] {
        poller.poll_request(at(now)).unwrap();
        poller.on_result(at(now), TaskPollRequestKind::Get, &json(&created));
    }
    assert_eq!(outcome(&mut poller), TaskOutcome::Expired);
}

// TSK-22: the official Python SDK leaves out a `ttl` of `null`, and keeps no result of a failed
// task.
#[test]
fn a_failed_task_without_a_result_has_its_message_as_the_error_tsk_22() {
    let task = |status: &str| {
        alloc::format!(
            r#""taskId":"t","status":"{status}","createdAt":"","lastUpdatedAt":"","statusMessage":"no luck""#
        )
    };
    let created = json(&alloc::format!(r#"{{"task":{{{}}}}}"#, task("working")));
    let failed = json(&alloc::format!("{{{}}}", task("failed")));
    for (result, is_kept) in
        [(r#"{"_meta":{}}"#, false), (r#"{"content":[],"isError":true}"#, true)]
    {
        let mut poller = poller(TaskProtocol::Core, &created);
        assert!(matches!(poller.poll_request(at(1000)), Some(TaskPollRequest::Get(_))));
        poller.on_result(at(1000), TaskPollRequestKind::Get, &failed);
        assert!(matches!(poller.poll_request(at(1000)), Some(TaskPollRequest::Result(_))));
        poller.on_result(at(1000), TaskPollRequestKind::Result, &json(result));
        let expected = match is_kept {
            true => TaskOutcome::Completed(json(result)),
            false => TaskOutcome::Failed(ErrorObject::internal("no luck")),
        };
        assert_eq!(outcome(&mut poller), expected);
    }
}
