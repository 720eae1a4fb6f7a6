//! Clients, a server, a network and virtual time: runs the steps that a seed drew, to the end.

use std::time::Duration;

use mcp_harness::Seed;
use mcp_proto::Instant;

use super::client::Client;
use super::conn::{ConnId, Stage};
use super::model::{Model, Shared};
use super::net::{Net, Packet};
use super::plan::{Action, Plan};
use super::server::Server;
use crate::case::Case;
use crate::coverage::Coverage;
use crate::run::{Runs, caught};

/// The most occurrences in one moment, and moments in one wait: more is an endless loop.
const MOVES_MAX: usize = 20_000;

/// One world.
pub(crate) struct World {
    case: Case,
    shared: Shared,
    net: Net,
    clients: Vec<Client>,
    server: Server,
    taken: usize,
}

impl World {
    /// Creates the world of a case.
    #[must_use]
    pub(crate) fn new(case: &Case) -> Self {
        let plan = Plan::draw(case);
        let mut coverage = Coverage::default();
        coverage.mark("world http");
        for feature in &plan.on {
            coverage.mark(&format!("http.feature {feature:?}"));
        }
        if let [Some(client), Some(server)] = [0, 1].map(|side: usize| plan.revisions[side].last())
        {
            coverage.mark(&format!("http.newest {client}/{server}"));
        }
        let shared =
            Shared { plan, now: Instant::ZERO, model: Model::default(), coverage, timeline: None };
        let clients = (0..shared.plan.clients).map(|index| Client::new(index, &shared)).collect();
        let server = Server::new(&shared);
        Self { case: case.clone(), net: Net::new(case), shared, clients, server, taken: 0 }
    }

    fn step(&mut self, action: Action, random: &mut Seed) -> bool {
        let shared = &mut self.shared;
        let of_both = matches!(action, Action::Answer | Action::Fail | Action::EarlyTick);
        let client = random.below(self.clients.len());
        match action {
            Action::Cut | Action::Stall => {
                let open: Vec<ConnId> = self.net.conns.keys().copied().collect();
                let Some(id) = open.get(random.below(open.len())).copied() else { return false };
                if action == Action::Cut {
                    shared.tell(|| format!("network: cuts {id:?}"));
                    self.net.cut(shared.now, &shared.plan, &mut shared.coverage, id);
                } else if let Some(conn) = self.net.conns.get_mut(&id) {
                    conn.stalled_until = shared.now + Duration::from_millis(random.next() % 5000);
                    shared.coverage.mark("http.reached stalled");
                }
                true
            }
            _ if of_both && random.below(4) != 0 => {
                self.server.act(shared, &mut self.net, action, random)
            }
            Action::Answer
            | Action::Call
            | Action::Cancel
            | Action::Close
            | Action::EarlyTick
            | Action::Fail
            | Action::Listen
            | Action::Notify
            | Action::SetLevel
            | Action::Wake => self.clients[client].act(shared, action, random),
            _ => self.server.act(shared, &mut self.net, action, random),
        }
    }

    /// Does everything possible at this moment.
    fn pump(&mut self) {
        for _ in 0..MOVES_MAX {
            let mut moved = false;
            while let Some(packet) = self.net.arrive(self.shared.now) {
                moved = true;
                match packet {
                    Packet::Request(id) => self.server.hear(&mut self.shared, &mut self.net, id),
                    Packet::Gone(id) => self.server.hear_gone(&mut self.shared, &mut self.net, id),
                    Packet::Down(id, piece) => {
                        if let Some(conn) = self.net.conns.get_mut(&id).filter(|conn| !conn.is_left)
                        {
                            conn.inbox.push_back(piece);
                        }
                    }
                }
            }
            for client in &mut self.clients {
                moved |= client.drive(&mut self.shared, &mut self.net);
            }
            moved |= self.server.drive(&mut self.shared, &mut self.net);
            self.net.sweep();
            if !moved {
                return;
            }
        }
        self.shared.breach("an endless loop: one moment never ends");
    }

    /// Lets time pass, with everything that happens in it.
    fn pass(&mut self, time: Duration) {
        let until = self.shared.now + time;
        for _ in 0..MOVES_MAX {
            let clients = self.clients.iter().filter_map(|client| client.next_wake(&self.shared));
            let server = self.server.next_wake(&self.shared, &self.net);
            let next = clients.chain(server).chain(self.net.next_arrival()).fold(until, Ord::min);
            self.shared.now = self.shared.now.max(next);
            self.pump();
            if next >= until {
                return;
            }
        }
        self.shared.breach("an endless loop: time does not pass");
    }

    /// Completes everything in transit, and then ends the world.
    fn settle(&mut self) {
        self.net.is_calm = true;
        self.shared.tell(|| "calm".into());
        let mut waited = 0;
        while waited < 2000 && (waited < 4 || self.clients.iter().any(Client::is_open)) {
            for client in &mut self.clients {
                client.catch_up(&mut self.shared);
            }
            self.server.catch_up(&mut self.shared);
            let step = if waited < 30 { 1 } else { 50 };
            self.pass(Duration::from_secs(step));
            waited += step;
        }
        for client in &self.clients {
            client.check_rest(&self.shared);
        }
        // Late disconnects are noticed now.
        self.pass(Duration::from_secs(60));
        self.check_room_again();
        self.shared.tell(|| "end".into());
        for client in &mut self.clients {
            client.act(&mut self.shared, Action::Close, &mut Seed(0));
        }
        self.server.check_kept(&mut self.shared);
        self.pass(Duration::from_secs(120));
        for client in &mut self.clients {
            client.check_end(&mut self.shared);
        }
        // Some sessions expire.
        if self.case.fork(12).below(2) == 0 {
            self.pass(2 * self.shared.plan.idle_max + Duration::from_secs(60));
            self.server.check_expired(&self.shared);
        }
        self.server.close(&mut self.shared);
        self.pass(Duration::from_secs(120));
        self.server.check_end(&self.shared);
        if let Some((id, conn)) = self.net.conns.iter().find(|(_, conn)| conn.stage != Stage::Done)
        {
            self.shared.breach(format!("{id:?} is left: {conn:?}"));
        }
    }

    /// Checks that an idle world has room for as much as at the start.
    fn check_room_again(&mut self) {
        self.shared.tell(|| "all is quiet".into());
        // In some worlds, subscriptions stay open to the end.
        if self.case.fork(11).below(4) != 0 {
            for client in &mut self.clients {
                client.stop_listening(&mut self.shared);
            }
            self.pump();
            self.pass(Duration::from_secs(60));
        }
        self.server.check_room_again(&mut self.shared);
        for client in &mut self.clients {
            client.check_room_again(&mut self.shared);
        }
        self.pump();
        self.pass(Duration::from_secs(60));
    }
}

impl Runs for World {
    fn run(&mut self) {
        self.pump();
        for index in 0..self.shared.plan.steps {
            self.taken = index + 1;
            if self.case.skip.contains(&index) {
                continue;
            }
            let mut random = self.case.fork(1000 + index as u64);
            if let Some(action) = self.shared.plan.action(&mut random)
                && self.step(action, &mut random)
            {
                self.shared.mark(&format!("http.done {action:?}"));
            }
            self.pump();
            let pause = self.shared.plan.pause(&mut random);
            self.pass(pause);
        }
        self.settle();
    }

    fn coverage(&self) -> &Coverage {
        &self.shared.coverage
    }

    fn taken(&self) -> usize {
        self.taken
    }

    /// The timeline is only recorded in a second, identical run.
    fn timeline(&mut self) -> String {
        let mut again = Self::new(&self.case);
        again.shared.timeline = Some(format!("on: {:?}\n", again.shared.plan.on));
        let _same_end = caught(|| again.run());
        again.shared.timeline.unwrap_or_default()
    }
}
