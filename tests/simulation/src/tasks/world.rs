//! [`TasksWorld`]: two clients and a server, with everything that is on its way between them.

use mcp_proto::tasks::{TaskProtocol, TaskTime};
use mcp_proto::{Endpoint as _, Instant, Outbox, Revision};

use super::client::{TasksClient, is_not_found};
use super::op::TaskStep;
use super::server::{TTL_MS, TasksServer, millis};
use super::truth::End;

/// Two clients with their own principals, and a server with a durable store, beside a simple
/// model of all tasks.
#[derive(Debug)]
pub struct TasksWorld {
    revision: Revision,
    now: Instant,
    clients: [TasksClient; 2],
    server: TasksServer,
    /// What is on its way to the server, and to the client.
    up: [Vec<u8>; 2],
    down: [Vec<u8>; 2],
}

/// The wall clock when the world begins.
const UNIX_MS: u64 = 1_785_196_800_000;

impl TasksWorld {
    /// Creates a world whose clients are connected.
    ///
    /// # Panics
    /// Panics if the revision has no tasks.
    #[must_use]
    pub fn new(revision: Revision, starts_again: bool) -> Self {
        let protocol = TaskProtocol::of(revision).unwrap_or_else(|| panic!("no tasks"));
        let client = || TasksClient::new(Instant::ZERO, revision, protocol);
        let mut world = Self {
            revision,
            now: Instant::ZERO,
            clients: [client(), client()],
            server: TasksServer::new(revision, protocol, starts_again),
            up: Default::default(),
            down: Default::default(),
        };
        world.settle_messages();
        world
    }

    /// Returns the number of tasks that were created.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.server.truths.len()
    }

    /// Returns how the tasks ended, as words.
    pub fn ends(&self) -> impl Iterator<Item = String> + '_ {
        self.server.truths.iter().map(|truth| match &truth.end {
            Some(end) => format!("{end:?}"),
            None => "open".to_owned(),
        })
    }

    /// Takes a step. Returns false if it is not possible now; nothing has changed then.
    ///
    /// # Panics
    /// Panics if a promise is broken.
    pub fn take(&mut self, step: TaskStep) -> bool {
        let time = self.time();
        let is_possible = match step {
            TaskStep::Call(client) => {
                self.clients[client].call_tool(self.now);
                true
            }
            TaskStep::Up(client) => self.deliver_up(client),
            TaskStep::Down(client) => self.deliver_down(client),
            TaskStep::Poll => self.poll(),
            TaskStep::Ask(task) => self.server.ask(time, task),
            TaskStep::Answer(task) => self.with_task(task, TasksClient::answer),
            TaskStep::Complete(task) => self.server.finish(time, task, true),
            TaskStep::Fail(task) => self.server.finish(time, task, false),
            TaskStep::Cancel(task) => self.with_task(task, TasksClient::cancel),
            TaskStep::Expire => {
                self.advance(self.now + std::time::Duration::from_millis(TTL_MS));
                true
            }
            TaskStep::Disconnect(client) => {
                self.disconnect(client);
                true
            }
            TaskStep::Restart => {
                self.server.restart(time);
                self.disconnect(0);
                self.disconnect(1);
                true
            }
        };
        if is_possible {
            self.server.act(self.time());
            self.collect();
            self.server.check_store();
        }
        is_possible
    }

    /// Lets everything come to its end, and checks what both sides know then.
    ///
    /// # Panics
    /// Panics if a promise is broken.
    pub fn finish(&mut self) {
        for _ in 0..500 {
            self.settle_messages();
            for task in 0..self.tasks() {
                // Handlers with a question wait for its answer.
                self.take(TaskStep::Answer(task));
                self.settle_messages();
                self.take(TaskStep::Complete(task));
            }
            self.settle_messages();
            if !self.take(TaskStep::Poll) {
                break;
            }
        }
        self.check();
    }

    fn check(&mut self) {
        let now = millis(self.now);
        let truths = self.server.truths.clone();
        for (index, truth) in truths.iter().enumerate() {
            assert!(truth.end.is_some(), "task {index} is lost: {truth:?}");
            let id = truth.id.to_text();
            if let Some(handle) = self.clients[truth.client].handle(&id) {
                let learned = handle.learned.as_ref();
                let learned =
                    learned.unwrap_or_else(|| panic!("task {index} is lost for its client"));
                truth.check(learned, handle.has_cancelled, now);
            }
            // Neither the id nor the list gives the task of another principal away.
            for client in [0, 1] {
                assert!(client == truth.client || self.clients[client].handle(&id).is_none());
                self.clients[client].responses.clear();
                let params = format!(r#"{{"taskId":"{id}"}}"#);
                self.clients[client].call(self.now, "tasks/get", &params);
                self.settle_messages();
                let response = self.clients[client].responses.pop();
                let response = response.unwrap_or_else(|| panic!("no response"));
                let is_gone = now >= truth.expires || truth.end == Some(End::Expired);
                let is_hidden = client != truth.client || is_gone;
                assert_eq!(is_not_found(&response), is_hidden, "client {client}: {response:?}");
            }
        }
        for client in [0, 1] {
            self.clients[client].responses.clear();
            if self.clients[client].call(self.now, "tasks/list", "{}").is_some() {
                self.settle_messages();
                let Some(Ok(list)) = self.clients[client].responses.pop() else { continue };
                let listed = list.member("tasks").map_or(0, |tasks| tasks.elements().count());
                let own = |it: &&super::truth::Truth| it.client == client && now < it.expires;
                assert_eq!(listed, truths.iter().filter(own).count(), "{list:?}");
            }
        }
    }

    fn with_task(
        &mut self,
        task: usize,
        act: impl FnOnce(&mut TasksClient, TaskTime, &str) -> bool,
    ) -> bool {
        let time = self.time();
        let Some(truth) = self.server.truths.get(task) else { return false };
        let (client, id) = (truth.client, truth.id.to_text());
        act(&mut self.clients[client], time, &id)
    }

    fn poll(&mut self) -> bool {
        let due = self.clients.iter().filter_map(TasksClient::due).min();
        let Some(due) = due else { return false };
        self.advance(due.max(self.now));
        true
    }

    fn advance(&mut self, to: Instant) {
        self.now = to;
        let time = self.time();
        for client in [0, 1] {
            self.server.connections[client].0.handle_timeout(to);
            self.clients[client].machine.handle_timeout(to);
        }
        self.server.act(time);
        for client in &mut self.clients {
            client.act(time);
        }
    }

    fn disconnect(&mut self, client: usize) {
        let time = self.time();
        self.up[client].clear();
        self.down[client].clear();
        self.server.disconnect(time, client);
        self.clients[client].reconnect(time, self.revision);
        self.settle_client(client);
    }

    fn deliver_up(&mut self, client: usize) -> bool {
        let bytes = std::mem::take(&mut self.up[client]);
        self.server.connections[client].0.handle_input(self.now, &bytes);
        self.server.act(self.time());
        self.collect();
        !bytes.is_empty()
    }

    fn deliver_down(&mut self, client: usize) -> bool {
        let bytes = std::mem::take(&mut self.down[client]);
        self.clients[client].machine.handle_input(self.now, &bytes);
        self.clients[client].act(self.time());
        self.collect();
        !bytes.is_empty()
    }

    fn settle_messages(&mut self) {
        self.settle_client(0);
        self.settle_client(1);
    }

    fn settle_client(&mut self, client: usize) {
        self.collect();
        while self.deliver_up(client) | self.deliver_down(client) {}
    }

    /// Puts what machines have written on its way.
    fn collect(&mut self) {
        let take = |outbox: &mut Outbox, bytes: &mut Vec<u8>| {
            while let Some(message) = outbox.poll_message() {
                bytes.extend_from_slice(&message);
                bytes.push(b'\n');
            }
        };
        for client in [0, 1] {
            take(self.clients[client].machine.outbox(), &mut self.up[client]);
            take(self.server.connections[client].0.outbox(), &mut self.down[client]);
        }
    }

    fn time(&self) -> TaskTime {
        TaskTime { now: self.now, unix_ms: UNIX_MS + millis(self.now) }
    }
}
