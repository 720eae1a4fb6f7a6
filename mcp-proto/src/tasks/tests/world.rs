//! [`TaskWorld`]: applies operations to a table and to the model, and compares them.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use super::model::{Model, News, PER_OWNER_MAX, TASKS_MAX, TTL_MS, WAITERS_MAX};
use super::op::TaskOp;
use crate::json::Raw;
use crate::rpc::ErrorObject;
use crate::schema::{ExtraMembers, InputRequest};
use crate::tasks::{
    NewTask, OnRestart, Requestor, TaskError, TaskEvent, TaskId, TaskLimits, TaskListener,
    TaskProtocol, TaskRecord, TaskTable, TaskTime,
};
use crate::time::Instant;
use crate::vocabulary::Principal;

/// A task table with two principals and a durable store, beside a simple model of all of it.
///
/// After each operation, the table must behave like the model: its responses, its events, its
/// lists, its deadline. The store is kept up to date from the events alone.
#[derive(Debug)]
pub(super) struct TaskWorld {
    table: TaskTable,
    model: Model,
    store: BTreeMap<TaskId, Raw>,
    created: u8,
    /// Distinguishes the requests of a connection.
    requests: u64,
}

/// The time of the wall clock when the monotonic clock begins.
const UNIX_MS: u64 = 1_785_196_800_000;

impl TaskWorld {
    /// Creates a world without tasks.
    pub(super) fn new(protocol: TaskProtocol) -> Self {
        let model = Model { protocol, tasks: Vec::new(), now: 0, news: Vec::new() };
        let (store, table) = (BTreeMap::new(), TaskTable::new(limits()));
        Self { table, model, store, created: 0, requests: 0 }
    }

    /// Returns the state of the model, for telling states apart.
    pub(super) fn state(&self) -> String {
        let mut tasks = self.model.tasks.clone();
        for task in &mut tasks {
            task.expires -= self.model.now;
            for waiter in &mut task.waiters {
                waiter.request = 0;
            }
        }
        format!("{} {tasks:?}", self.created)
    }

    /// Applies an operation to the table and to the model.
    ///
    /// # Panics
    /// Panics if they differ.
    pub(super) fn apply(&mut self, op: TaskOp) {
        self.model.expire();
        match op {
            TaskOp::Create { owner } => self.create(owner),
            TaskOp::Get { task } => self.get(task),
            TaskOp::Result { task, connection } => self.result(task, connection),
            TaskOp::Intrude { task } => self.intrude(task),
            TaskOp::Ask { task } => self.ask(task),
            TaskOp::Answer { task } => self.answer(task),
            TaskOp::Checkpoint { task } => self.checkpoint(task),
            TaskOp::Complete { task, is_error } => self.complete(task, is_error),
            TaskOp::Fail { task } => self.fail(task),
            TaskOp::Cancel { task } => self.cancel(task),
            TaskOp::Watch { task } => self.watch(task),
            TaskOp::StopWaiting => self.stop_waiting(),
            TaskOp::Disconnect { connection } => self.disconnect(connection),
            TaskOp::Advance => self.advance(),
            TaskOp::Restart => self.restart(),
        }
        self.compare_events();
        self.compare_tasks();
    }

    fn create(&mut self, owner: u8) {
        let number = self.created;
        let restart = restart_of(number);
        let new = NewTask { restart, ..NewTask::default() };
        let principal = principal(owner);
        let requestor = self.requestor(&principal);
        let created = self.table.create(self.time(), requestor, id(number), new.clone());
        let has_room = self.model.create(number, owner);
        assert_eq!(created.is_ok(), has_room, "{created:?}");
        if has_room {
            self.created += 1;
            self.save(id(number));
            let taken = self.table.create(self.time(), requestor, id(number), new);
            assert_eq!(taken, Err(TaskError::IdTaken));
        }
    }

    fn get(&mut self, task: u8) {
        let (time, text, principal) = (self.time(), id(task).to_text(), self.owner_of(task));
        let requestor = self.requestor(&principal);
        let status = self.table.get(time, requestor, &text);
        let is_core = self.model.is_core();
        let Some(model) = self.model.task(task) else {
            assert_not_found(&status);
            return;
        };
        let Ok(status) = status else { panic!("{status:?}") };
        assert_eq!(member(&status, "status"), format!("\"{}\"", model.status));
        let keys = status.member("inputRequests").map_or(0, |inputs| {
            model.keys.iter().filter(|key| inputs.member(key).is_some()).count()
        });
        assert_eq!(keys, if is_core { 0 } else { model.keys.len() }, "{status:?}");
        let (result, error) = match &model.outcome {
            Some(Ok(result)) if !is_core => (result.as_str(), ""),
            Some(Err(error)) if !is_core => ("", error.as_str()),
            _ => ("", ""),
        };
        assert_eq!(member(&status, "result"), result);
        let got = status.member("error").map(|error| member(&error, "message"));
        assert!(got.unwrap_or_default().contains(error));
        model.is_retrieved |= !is_core && model.is_final();
    }

    fn result(&mut self, task: u8, connection: u8) {
        let (time, text, principal) = (self.time(), id(task).to_text(), self.owner_of(task));
        self.requests += 1;
        let listener = TaskListener { connection: u64::from(connection), request: self.requests };
        let response = self.table.result(time, self.requestor(&principal), &text, listener);
        if !self.model.is_core() {
            assert_eq!(response.map_err(|error| error.code), Err(-32601));
            return;
        }
        let Some(model) = self.model.task(task) else {
            assert_not_found(&response);
            return;
        };
        if model.is_final() {
            model.is_retrieved = true;
            let expected = Model::response(model);
            let Some(response) = response.transpose() else { panic!("waits for {text}") };
            assert_response(task, &response, &expected);
        } else if model.waiters.len() < WAITERS_MAX {
            assert_eq!(response, Ok(None));
            model.waiters.push(listener);
            model.waiters.sort();
        } else {
            assert_eq!(response.map_err(|error| error.code), Err(-32603));
        }
    }

    fn intrude(&mut self, task: u8) {
        let (time, text) = (self.time(), id(task).to_text());
        let intruder = self.model.task(task).map_or(0, |task| 1 - task.owner);
        let intruder = principal(intruder);
        let requestor = self.requestor(&intruder);
        let other = match requestor.protocol {
            TaskProtocol::Core => TaskProtocol::Extension,
            TaskProtocol::Extension => TaskProtocol::Core,
        };
        let owner = self.owner_of(task);
        let elsewhere = Requestor { principal: owner.as_ref(), protocol: other };
        for requestor in [requestor, elsewhere] {
            assert_not_found(&self.table.cancel(time, requestor, &text));
            assert_not_found(&self.table.get(time, requestor, &text));
            let unrelated = TaskListener { connection: 9, request: 9 };
            assert!(self.table.watch(time, requestor, [&*text], unrelated).is_empty());
        }
    }

    fn ask(&mut self, task: u8) {
        let request = InputRequest::new("elicitation/create");
        let keys = self.table.ask(self.time(), id(task), Vec::from([request]));
        match self.model.ask(task) {
            Some(key) => assert_eq!(keys, Ok(Vec::from([key.into()]))),
            None => self.assert_over(task, keys),
        }
    }

    fn checkpoint(&mut self, task: u8) {
        let set = self.table.set_restart(self.time(), id(task), restart_of(task));
        if self.model.checkpoint(task) {
            assert_eq!(set, Ok(()));
        } else {
            self.assert_over(task, set);
        }
    }

    fn answer(&mut self, task: u8) {
        let (time, text, principal) = (self.time(), id(task).to_text(), self.owner_of(task));
        let requestor = self.requestor(&principal);
        let key = self.model.answer(task);
        if self.model.is_core() {
            let answered = self.table.answer(time, id(task), key.as_deref().unwrap_or("input-1"));
            match answered {
                Ok(answered) => assert_eq!(answered, key.is_some()),
                Err(error) => self.assert_over(task, Err::<(), _>(error)),
            }
            return;
        }
        let mut responses = ExtraMembers::new();
        responses.set("input-0", json("{}"));
        if let Some(key) = &key {
            responses.set(key, json(r#"{"action":"accept"}"#));
        }
        let answers = self.table.update(time, requestor, &text, &responses);
        match answers {
            Ok(answers) => {
                let answered: Vec<String> =
                    answers.iter().map(|answer| answer.key.to_string()).collect();
                assert_eq!(answered, Vec::from_iter(key));
            }
            Err(error) => assert!(self.model.task(task).is_none(), "{error}"),
        }
    }

    fn complete(&mut self, task: u8, is_error: bool) {
        let text = if is_error { r#"{"content":[],"isError":true}"# } else { r#"{"n":1.0}"# };
        let completed = self.table.complete(self.time(), id(task), json(text));
        let status = if is_error && self.model.is_core() { "failed" } else { "completed" };
        if self.model.end(task, status, Some(Ok(text.into()))) {
            assert_eq!(completed, Ok(()));
        } else {
            self.assert_over(task, completed);
        }
    }

    fn fail(&mut self, task: u8) {
        let failed = self.table.fail(self.time(), id(task), ErrorObject::internal("broken"));
        if self.model.end(task, "failed", Some(Err("broken".into()))) {
            assert_eq!(failed, Ok(()));
        } else {
            self.assert_over(task, failed);
        }
    }

    fn cancel(&mut self, task: u8) {
        let (time, text, principal) = (self.time(), id(task).to_text(), self.owner_of(task));
        let response = self.table.cancel(time, self.requestor(&principal), &text);
        let is_core = self.model.is_core();
        let exists = self.model.task(task).is_some();
        if self.model.end(task, "cancelled", None) {
            self.model.news.push(News::Stop(task));
            let Ok(response) = response else { panic!("{response:?}") };
            let status = if is_core { "\"cancelled\"" } else { "" };
            assert_eq!(member(&response, "status"), status);
        } else if exists && !is_core {
            assert_eq!(response, Ok(json(r#"{"resultType":"complete"}"#)));
        } else {
            assert_eq!(response.map_err(|error| error.code), Err(-32602));
        }
    }

    fn watch(&mut self, task: u8) {
        let (time, text, principal) = (self.time(), id(task).to_text(), self.owner_of(task));
        let listener = TaskListener { connection: 1, request: 0 };
        let accepted = self.table.watch(time, self.requestor(&principal), [&*text], listener);
        let model = self.model.task(task);
        assert_eq!(accepted.len(), usize::from(model.is_some()));
        if let Some(model) = model {
            model.is_watched = true;
        }
    }

    fn stop_waiting(&mut self) {
        for task in &mut self.model.tasks {
            for waiter in task.waiters.iter().filter(|waiter| waiter.connection == 0) {
                self.table.stop_waiting(*waiter);
            }
            task.waiters.retain(|waiter| waiter.connection != 0);
        }
    }

    fn disconnect(&mut self, connection: u8) {
        let connection = u64::from(connection);
        self.table.disconnect(connection);
        for task in &mut self.model.tasks {
            task.waiters.retain(|waiter| waiter.connection != connection);
            task.is_watched &= connection != 1;
        }
    }

    fn advance(&mut self) {
        self.model.now += TTL_MS / 2;
        self.model.expire();
        self.table.handle_timeout(self.time().now);
    }

    fn restart(&mut self) {
        let records: Vec<TaskRecord> = self
            .store
            .values()
            .map(|stored| match TaskRecord::parse(stored) {
                Ok(record) => record,
                Err(error) => panic!("{error}: {stored:?}"),
            })
            .collect();
        self.table = TaskTable::new(limits());
        // Twice: a task is restored once.
        self.table.restore(self.time(), records.iter().rev().cloned());
        self.table.restore(self.time(), records);
        self.model.restart();
    }

    fn compare_events(&mut self) {
        let mut news = Vec::new();
        while let Some(event) = self.table.poll_event() {
            news.push(match event {
                TaskEvent::Changed { task } => {
                    self.save(task);
                    News::Changed(number(task))
                }
                TaskEvent::Checkpoint { task } => {
                    self.save(task);
                    News::Checkpoint(number(task))
                }
                TaskEvent::Removed { task } => {
                    self.store.remove(&task);
                    News::Removed(number(task))
                }
                TaskEvent::Stop { task } => News::Stop(number(task)),
                TaskEvent::Run { task, checkpoint } => {
                    assert_eq!(checkpoint, json("[7]"));
                    News::Run(number(task))
                }
                TaskEvent::Response { listener, response } => {
                    let expected = self.model.news.iter().find_map(|news| match news {
                        News::Response(of, expected) if *of == listener => Some(expected.clone()),
                        _ => None,
                    });
                    let Some(expected) = expected else { panic!("{listener:?} {response:?}") };
                    let task = response.as_ref().ok().map_or(0, related_task);
                    assert_response(task, &response, &expected);
                    News::Response(listener, expected)
                }
            });
        }
        news.sort();
        self.model.news.sort();
        self.model.news.dedup();
        assert_eq!(news, core::mem::take(&mut self.model.news));
    }

    fn compare_tasks(&mut self) {
        let time = self.time();
        assert_eq!(self.table.len(), self.model.tasks.len());
        assert_eq!(self.store.len(), self.model.tasks.len());
        let deadline = self.model.tasks.iter().map(|task| Instant::from_millis(task.expires)).min();
        assert_eq!(self.table.poll_timeout(), deadline);
        for task in &self.model.tasks {
            let id = id(task.number);
            let Some(record) = self.table.record(id) else { panic!("{id:?} is missing") };
            let status = member(&record.to_json(), "status");
            assert_eq!(status, format!("\"{}\"", task.status));
            let waiters: Vec<_> = self.table.waiters(id).collect();
            assert_eq!(waiters, task.waiters);
            assert_eq!(self.table.watchers(id).count(), usize::from(task.is_watched));
        }
        for owner in [0, 1].into_iter().filter(|_| self.model.is_core()) {
            let (principal, mut cursor, mut listed) = (principal(owner), None, Vec::new());
            loop {
                let requestor = self.requestor(&principal);
                let page = self.table.list(time, requestor, cursor.as_deref());
                let Ok(page) = page else { panic!("{page:?}") };
                let tasks = page.member("tasks");
                for task in tasks.iter().flat_map(Raw::elements) {
                    listed.push(member(&task, "taskId"));
                }
                cursor = page.member("nextCursor").and_then(|it| it.to_text().map(Into::into));
                let Some(_): &Option<String> = &cursor else { break };
            }
            let own = self.model.tasks.iter().filter(|task| task.owner == owner);
            let own: Vec<String> =
                own.map(|task| format!("\"{}\"", id(task.number).to_text())).collect();
            assert_eq!(listed, own);
        }
    }

    /// Stores the record of a task.
    fn save(&mut self, task: TaskId) {
        if let Some(record) = self.table.record(task) {
            self.store.insert(task, record.to_json());
        }
    }

    fn assert_over<T: core::fmt::Debug>(&mut self, task: u8, refused: Result<T, TaskError>) {
        let is_over = self.model.task(task).is_some();
        let expected = if is_over { TaskError::Final } else { TaskError::Unknown };
        assert_eq!(refused.map(|_| ()), Err(expected));
    }

    fn time(&self) -> TaskTime {
        let now = Instant::from_millis(self.model.now);
        TaskTime { now, unix_ms: UNIX_MS + self.model.now }
    }

    fn requestor<'a>(&self, principal: &'a Option<Principal>) -> Requestor<'a> {
        Requestor { principal: principal.as_ref(), protocol: self.model.protocol }
    }

    fn owner_of(&mut self, task: u8) -> Option<Principal> {
        principal(self.model.task(task).map_or(0, |task| task.owner))
    }
}

fn limits() -> TaskLimits {
    TaskLimits {
        tasks_max: TASKS_MAX,
        tasks_per_principal_max: PER_OWNER_MAX,
        ttl_default: Duration::from_millis(TTL_MS),
        waiters_per_task_max: WAITERS_MAX,
        inputs_max: usize::MAX,
        page_max: 1,
        ..TaskLimits::default()
    }
}

/// Every second task runs again after a restart.
fn restart_of(number: u8) -> OnRestart {
    if number % 2 == 1 { OnRestart::Run(json("[7]")) } else { OnRestart::Fail }
}

/// Principal 0 is not authenticated.
fn principal(owner: u8) -> Option<Principal> {
    Principal::new(if owner == 0 { "" } else { "ada" })
}

fn id(number: u8) -> TaskId {
    // The order of ids is not the order of creation.
    TaskId::from_random([!number; 16])
}

fn number(id: TaskId) -> u8 {
    (0..=u8::MAX).find(|number| self::id(*number) == id).unwrap_or(u8::MAX)
}

fn json(text: &str) -> Raw {
    Raw::from_text(text).unwrap_or_else(|_| Raw::null())
}

/// Returns the text of a member, or nothing.
fn member(object: &Raw, name: &str) -> String {
    object.member(name).map_or_else(String::new, |value| value.as_str().into())
}

fn related_task(result: &Raw) -> u8 {
    let related = result.member("_meta").and_then(|meta| {
        let related = meta.member("io.modelcontextprotocol/related-task")?;
        TaskId::parse(&related.member("taskId")?.to_text()?)
    });
    let Some(related) = related else { panic!("no related task: {result:?}") };
    number(related)
}

fn assert_not_found<T: core::fmt::Debug>(response: &Result<T, ErrorObject>) {
    match response {
        Err(error) => assert_eq!(error.code, -32602),
        Ok(found) => panic!("{found:?}"),
    }
}

fn assert_response(
    task: u8,
    response: &Result<Raw, ErrorObject>,
    expected: &Result<String, String>,
) {
    match (response, expected) {
        (Ok(result), Ok(expected)) => {
            assert_eq!(related_task(result), task);
            // The result itself is unchanged.
            let rest = expected.strip_prefix('{').unwrap_or(expected);
            assert!(result.as_str().ends_with(rest), "{result:?}");
        }
        (Err(error), Err(expected)) => assert!(error.message.contains(&**expected), "{error}"),
        _ => panic!("{response:?}, expected {expected:?}"),
    }
}
