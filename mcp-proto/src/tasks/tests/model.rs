//! A simple model of a task table: lists, and no indexes.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::tasks::{TaskListener, TaskProtocol};

/// One task of the model.
#[derive(Clone, Debug)]
pub(super) struct ModelTask {
    /// The position in the order of creation, over all restarts.
    pub(super) number: u8,
    pub(super) owner: u8,
    pub(super) status: &'static str,
    pub(super) expires: u64,
    /// The outstanding input requests.
    pub(super) keys: Vec<String>,
    pub(super) asked: u32,
    /// The result, or the error, as JSON.
    pub(super) outcome: Option<Result<String, String>>,
    pub(super) is_retrieved: bool,
    pub(super) waiters: Vec<TaskListener>,
    pub(super) is_watched: bool,
}

/// What is expected to be reported.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum News {
    Changed(u8),
    Checkpoint(u8),
    Stop(u8),
    Removed(u8),
    Run(u8),
    /// A response: the result with related task, the error, or no such task.
    Response(TaskListener, Result<String, String>),
}

/// The model.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) protocol: TaskProtocol,
    pub(super) tasks: Vec<ModelTask>,
    pub(super) now: u64,
    pub(super) news: Vec<News>,
}

pub(super) const TTL_MS: u64 = 100;
pub(super) const PER_OWNER_MAX: usize = 2;
pub(super) const TASKS_MAX: usize = 3;
pub(super) const WAITERS_MAX: usize = 2;

impl ModelTask {
    pub(super) fn is_final(&self) -> bool {
        !matches!(self.status, "working" | "input_required")
    }

    /// Whether the task runs again after a restart.
    pub(super) const fn runs_again(&self) -> bool {
        self.number % 2 == 1
    }
}

impl Model {
    pub(super) fn task(&mut self, number: u8) -> Option<&mut ModelTask> {
        self.tasks.iter_mut().find(|task| task.number == number)
    }

    pub(super) fn is_core(&self) -> bool {
        self.protocol.serves("tasks/result")
    }

    /// Creates a task. Returns whether there was room.
    pub(super) fn create(&mut self, number: u8, owner: u8) -> bool {
        loop {
            let own = self.tasks.iter().filter(|task| task.owner == owner).count();
            if own < PER_OWNER_MAX && self.tasks.len() < TASKS_MAX {
                break;
            }
            // Two owners, of whom the other one then holds more.
            let spare = |of: u8| {
                self.tasks.iter().find(|task| {
                    let promised = task.status != "cancelled" && !task.is_retrieved;
                    task.owner == of && task.is_final() && !promised
                })
            };
            let other = || if own < PER_OWNER_MAX { spare(1 - owner) } else { None };
            let Some(spare) = spare(owner).or_else(other) else { return false };
            self.delete(spare.number);
        }
        self.tasks.push(ModelTask {
            number,
            owner,
            status: "working",
            expires: self.now + TTL_MS,
            keys: Vec::new(),
            asked: 0,
            outcome: None,
            is_retrieved: false,
            waiters: Vec::new(),
            is_watched: false,
        });
        true
    }

    /// Returns whether the task runs.
    pub(super) fn checkpoint(&mut self, number: u8) -> bool {
        let runs = self.task(number).is_some_and(|task| !task.is_final());
        if runs {
            self.news.push(News::Checkpoint(number));
        }
        runs
    }

    pub(super) fn ask(&mut self, number: u8) -> Option<String> {
        let task = self.task(number).filter(|task| !task.is_final())?;
        task.asked += 1;
        let key = format!("input-{}", task.asked);
        task.keys.push(key.clone());
        task.status = "input_required";
        self.news.push(News::Changed(number));
        Some(key)
    }

    /// Answers the oldest input request. Returns its key.
    pub(super) fn answer(&mut self, number: u8) -> Option<String> {
        let task = self.task(number).filter(|task| !task.keys.is_empty())?;
        let key = task.keys.remove(0);
        if task.keys.is_empty() {
            task.status = "working";
        }
        self.news.push(News::Changed(number));
        Some(key)
    }

    /// Ends a task. Returns whether it ran.
    pub(super) fn end(
        &mut self,
        number: u8,
        status: &'static str,
        outcome: Option<Result<String, String>>,
    ) -> bool {
        let Some(task) = self.task(number).filter(|task| !task.is_final()) else { return false };
        task.status = status;
        task.keys.clear();
        task.outcome = outcome;
        let waiters = core::mem::take(&mut task.waiters);
        task.is_retrieved |= !waiters.is_empty();
        let response = Self::response(task);
        self.news.push(News::Changed(number));
        for waiter in waiters {
            self.news.push(News::Response(waiter, response.clone()));
        }
        true
    }

    /// Returns the response to `tasks/result`.
    pub(super) fn response(task: &ModelTask) -> Result<String, String> {
        match &task.outcome {
            None => Err(String::from("cancelled")),
            Some(outcome) => outcome.clone(),
        }
    }

    pub(super) fn delete(&mut self, number: u8) {
        let Some(at) = self.tasks.iter().position(|task| task.number == number) else { return };
        let task = self.tasks.remove(at);
        for waiter in &task.waiters {
            self.news.push(News::Response(*waiter, Err(String::from("not found"))));
        }
        if !task.is_final() {
            self.news.push(News::Stop(number));
        }
        self.news.push(News::Removed(number));
    }

    pub(super) fn expire(&mut self) {
        let expired: Vec<u8> = self
            .tasks
            .iter()
            .filter(|task| task.expires <= self.now)
            .map(|task| task.number)
            .collect();
        for number in expired {
            self.delete(number);
        }
    }

    pub(super) fn restart(&mut self) {
        for task in &mut self.tasks {
            task.waiters.clear();
            task.is_watched = false;
            task.is_retrieved = false;
            if task.is_final() {
                continue;
            }
            task.keys.clear();
            if task.runs_again() {
                if task.status != "working" {
                    self.news.push(News::Changed(task.number));
                }
                task.status = "working";
                self.news.push(News::Run(task.number));
            } else {
                task.status = "failed";
                task.outcome = Some(Err(String::from("restarted")));
                self.news.push(News::Changed(task.number));
            }
        }
    }
}
