//! Kills a server with a durable store of tasks while they run, again and again, and counts what
//! became of the tasks.
//!
//! `task-kills KILLS [SEED]` starts itself as the server, kills it that often with SIGKILL in each
//! era, and fails if a task is lost, ends twice or runs twice without a restart.

#![allow(clippy::print_stdout, reason = "prints a report")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod journal;
mod model;
mod server;

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fs, thread};

use mcp_adapter::proto::tasks::PollLimits;
use mcp_adapter::proto::{CallError, Misuse, Revision};
use mcp_blocking::{Client, ClientTasks, Connection, Error, TaskHandle};
use serde_json::json;

use crate::journal::Journal;
use crate::model::{Model, Outcome};
use crate::server::Kept;

/// Tasks that are open at a time.
const OPEN: usize = 4;

fn main() {
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        Some("serve") => server::serve(&Kept::new(words.next().expect("a directory"))),
        Some(kills) => {
            let kills = kills.parse().expect("a number of kills");
            let seed = words.next().map_or(1, |seed| seed.parse().expect("a seed"));
            for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
                let model = Killer::new(revision, seed).run(kills);
                println!("{}: {kills} kills, {model}", revision.name());
            }
        }
        None => panic!("usage: task-kills KILLS [SEED]"),
    }
}

/// A client whose server is killed.
struct Killer {
    revision: Revision,
    kept: Kept,
    random: u64,
    /// The tasks that have not ended, as far as the client knows.
    open: Vec<(String, TaskHandle)>,
    model: Model,
    jobs: usize,
}

/// A server, which a thread kills after a while.
struct Victim {
    child: Arc<Mutex<Child>>,
    connection: Option<Connection>,
    killer: Option<thread::JoinHandle<()>>,
}

impl Killer {
    fn new(revision: Revision, seed: u64) -> Self {
        let name = format!("mcp-task-kills-{}-{}", std::process::id(), revision.name());
        let kept = Kept::new(std::env::temp_dir().join(name));
        fs::create_dir(kept.directory()).unwrap();
        let (open, model, jobs) = (Vec::new(), Model::default(), 0);
        Self { revision, kept, random: seed.max(1), open, model, jobs }
    }

    fn run(mut self, kills: usize) -> Model {
        for _ in 0..kills {
            let delay = Duration::from_micros(1_000 + self.draw() % 400_000);
            self.one_life(Some(delay));
        }
        self.one_life(None);
        self.settle();
        self.model.check(&Journal::read(&self.kept), &self.kept);
        fs::remove_dir_all(self.kept.directory()).unwrap();
        self.model
    }

    fn draw(&mut self) -> u64 {
        // xorshift64
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    /// Starts a server, uses it until it is killed after `delay`; or, without one, until all tasks
    /// have ended.
    fn one_life(&mut self, delay: Option<Duration>) {
        let mut victim = self.start(delay);
        if let Some(connection) = victim.connection.take() {
            for (_, task) in &mut self.open {
                task.attach(&connection).unwrap();
            }
            while self.step(&connection, delay.is_some()) {}
            if delay.is_none() {
                self.fetch_again(&connection);
                connection.close().wait().unwrap();
            }
        }
        victim.end();
    }

    fn start(&self, delay: Option<Duration>) -> Victim {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("serve").arg(self.kept.directory());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (reader, writer) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let child = Arc::new(Mutex::new(child));
        let dying = Arc::clone(&child);
        // Counted from the moment at which the server is connected: it is killed in mid-task.
        let connected = Arc::new(AtomicBool::new(false));
        let is_connected = Arc::clone(&connected);
        let killer = delay.map(|delay| {
            thread::spawn(move || {
                while !is_connected.load(Ordering::Acquire) {
                    thread::yield_now();
                }
                thread::sleep(delay);
                dying.lock().unwrap().kill().unwrap();
            })
        });
        let ms = Duration::from_millis(1);
        let limits = PollLimits { interval_min: ms, interval_default: ms, ..PollLimits::default() };
        let client = Client::new("killer", "1").extension(ClientTasks::new().limits(limits));
        let connection = client.revisions(&[self.revision]).connect(reader, writer).wait();
        connected.store(true, Ordering::Release);
        Victim { child, connection: Some(connection.unwrap()), killer }
    }

    /// Creates a task, or waits for one. Returns false when the server is gone, or nothing is left
    /// to do.
    fn step(&mut self, connection: &Connection, creates: bool) -> bool {
        if creates && self.open.len() < OPEN {
            return self.create(connection);
        }
        let Some((job, mut task)) = self.open.pop() else { return false };
        match outcome(&mut task) {
            Some(outcome) => {
                self.model.ended(&job, task.id().unwrap(), outcome, &self.kept);
                true
            }
            None => {
                self.open.push((job, task));
                false
            }
        }
    }

    fn create(&mut self, connection: &Connection) -> bool {
        self.jobs += 1;
        let tool = ["fails", "again"][self.jobs % 2];
        let job = format!("{tool}-{}", self.jobs);
        match connection.call_tool(tool, &json!({"job": job})).task().start().wait() {
            Ok(task) => {
                assert!(task.id().is_some(), "the call is no task");
                self.model.created(&job);
                self.open.insert(0, (job, task));
                true
            }
            // The client does not know whether the task exists.
            Err(
                Error::Call(CallError::Lost | CallError::LostRead)
                | Error::List(_)
                | Error::Misuse(Misuse::Closed),
            ) => {
                self.model.unconfirmed(&job);
                false
            }
            Err(error) => panic!("{job}: {error}"),
        }
    }

    /// Fetches every outcome again: nothing that was kept is lost or has changed.
    fn fetch_again(&self, connection: &Connection) {
        for (job, id, known) in self.model.outcomes() {
            let again = outcome(&mut connection.task(id).unwrap());
            assert_eq!(again.as_ref(), Some(known), "LOST: the outcome of {job}");
        }
    }

    /// Runs servers until the tasks have ended that the client does not know.
    fn settle(&self) {
        for _ in 0..100 {
            if self.kept.all_over() {
                return;
            }
            let mut victim = self.start(None);
            let runs = || Journal::read(&self.kept).has_open_runs();
            for _ in 0..5_000 {
                if !runs() {
                    break;
                }
                thread::sleep(Duration::from_millis(1));
            }
            victim.connection.take().unwrap().close().wait().unwrap();
            victim.end();
        }
        panic!("LOST: a task never ends");
    }
}

impl Victim {
    fn end(&mut self) {
        if let Some(killer) = self.killer.take() {
            killer.join().unwrap();
        }
        self.child.lock().unwrap().wait().unwrap();
    }
}

/// Waits for the outcome of a task; `None` if the server is gone.
fn outcome(task: &mut TaskHandle) -> Option<Outcome> {
    match task.result().wait() {
        Ok(result) => Some(Outcome::Completed(format!("{:?}", result.content))),
        Err(Error::Call(CallError::Refused(error))) => {
            Some(Outcome::Failed(error.message.to_string()))
        }
        Err(Error::Call(CallError::Lost | CallError::LostRead) | Error::Misuse(Misuse::Closed)) => {
            None
        }
        Err(error) => panic!("{error}"),
    }
}
