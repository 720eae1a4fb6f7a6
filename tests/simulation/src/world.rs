//! Two parties, two links and virtual time: runs the steps that a seed drew, to the end.

use std::time::Duration;

use mcp_harness::{Checked, Pipe, Role, Seed};
use mcp_proto::client::Client;
use mcp_proto::server::Server;
use mcp_proto::stdio::Stdio;
use mcp_proto::{Era, Instant, Revision, Side};

use crate::case::{Case, Feature};
use crate::coverage::Coverage;
use crate::hostile::Hostile;
use crate::model::Model;
use crate::node::Node;
use crate::party::{Party, Shared};
use crate::plan::{Action, Mode, Plan};
use crate::replay;
use crate::run::Runs;

/// The most occurrences in one moment, and moments in one wait: more is an endless loop.
const MOVES_MAX: usize = 100_000;

/// The player of the client or the server.
enum Player {
    Client(Node<Stdio<Client>>),
    Server(Node<Stdio<Server>>),
    Hostile(Hostile),
}

impl Player {
    fn party(&mut self) -> &mut dyn Party {
        match self {
            Self::Client(node) => node,
            Self::Server(node) => node,
            Self::Hostile(hostile) => hostile,
        }
    }
}

/// One world.
pub(crate) struct World {
    case: Case,
    shared: Shared,
    players: [Player; 2],
    /// The outgoing link of each side.
    links: [Pipe; 2],
    is_over: [bool; 2],
    taken: usize,
}

impl World {
    /// Creates the world of a case.
    #[must_use]
    pub(crate) fn new(case: &Case) -> Self {
        let plan = Plan::draw(case);
        let mut coverage = Coverage::default();
        coverage.mark("world streams");
        for feature in &plan.on {
            coverage.mark(&format!("feature {feature:?}"));
        }
        if let [Some(client), Some(server)] = [0, 1].map(|side: usize| plan.revisions[side].last())
            && plan.mode == Mode::Honest
        {
            coverage.mark(&format!("newest {client}/{server}"));
        }
        let players = [
            match plan.mode {
                Mode::HostileClient => Player::Hostile(Hostile::new(Side::Client, case.fork(7))),
                _ => Player::Client(Node::new(client(&plan))),
            },
            match plan.mode {
                Mode::HostileServer => Player::Hostile(Hostile::new(Side::Server, case.fork(7))),
                _ => Player::Server(Node::new(server(&plan))),
            },
        ];
        let links = [8, 9].map(|purpose| plan.link(&mut case.fork(purpose)));
        let shared = Shared {
            plan,
            now: Instant::ZERO,
            model: Model::default(),
            coverage,
            is_broken: false,
        };
        Self { case: case.clone(), shared, players, links, is_over: [false; 2], taken: 0 }
    }

    fn step(&mut self, side: usize, action: Action, random: &mut Seed) -> bool {
        let now = self.shared.now;
        match action {
            Action::Cut => {
                self.shared.is_broken = true;
                self.links[side].cut(now);
                if random.below(2) == 0 {
                    self.links[1 - side].cut(now);
                }
            }
            Action::HalfClose => {
                self.shared.is_broken = true;
                self.links[side].close(now);
            }
            Action::Stall => self.links[side].is_stalled = true,
            Action::Unstall => self.links[side].is_stalled = false,
            other => return self.players[side].party().act(&mut self.shared, other, random),
        }
        true
    }

    /// Does everything possible at this moment.
    fn pump(&mut self) {
        for _ in 0..MOVES_MAX {
            let mut moved = false;
            for side in 0..2 {
                let (party, shared) = (self.players[side].party(), &mut self.shared);
                moved |= party.wake(shared);
                moved |= party.look(shared);
                moved |= party.send(shared, &mut self.links[side]);
                if party.is_done() {
                    self.links[side].close(shared.now);
                }
                let from = &mut self.links[1 - side];
                while party.wants_input()
                    && let Some(piece) = from.receive(shared.now)
                {
                    party.hear(shared, &piece);
                    moved = true;
                }
                if party.wants_input() && from.receive_end(shared.now) {
                    party.hear_end(shared);
                    moved = true;
                }
                moved |= party.look(shared);
            }
            if !moved {
                return;
            }
        }
        panic!("an endless loop: one moment never ends");
    }

    /// Lets time pass, with everything that happens in it.
    fn pass(&mut self, time: Duration) {
        let until = self.shared.now + time;
        for _ in 0..MOVES_MAX {
            let mut next = until;
            for side in 0..2 {
                let party = self.players[side].party();
                let arrival = self.links[1 - side].next_arrival().filter(|_| party.wants_input());
                next =
                    party.next_wake(&self.shared).into_iter().chain(arrival).fold(next, Ord::min);
            }
            self.shared.now = self.shared.now.max(next);
            self.pump();
            if next >= until {
                return;
            }
        }
        panic!("an endless loop: time does not pass");
    }

    /// Completes everything in transit, and then ends the world.
    fn settle(&mut self) {
        for link in &mut self.links {
            link.is_stalled = false;
        }
        for _ in 0..40 {
            let mut moved = false;
            for player in &mut self.players {
                moved |= player.party().catch_up(&mut self.shared);
            }
            self.pass(Duration::from_secs(1));
            if !moved {
                break;
            }
        }
        let mut waited = Duration::ZERO;
        while waited < Duration::from_secs(9000) && self.is_open() {
            // Up to the next timer, or for a long while.
            let step = if waited < Duration::from_secs(30) { 1 } else { 100 };
            self.pass(Duration::from_secs(step));
            waited += Duration::from_secs(step);
            for player in &mut self.players {
                player.party().catch_up(&mut self.shared);
            }
        }
        for player in &mut self.players {
            player.party().check_rest(&mut self.shared);
        }
        self.check_room_again();
        for side in 0..2 {
            self.players[side].party().act(&mut self.shared, Action::Close, &mut Seed(0));
            self.pass(Duration::from_secs(5));
        }
        for player in &mut self.players {
            player.party().check_end(&mut self.shared);
        }
        self.is_over = [true; 2];
    }

    /// Checks that idle sides have room for as much as at the start.
    fn check_room_again(&mut self) {
        // In some worlds, subscriptions stay open to the end.
        let stops = self.case.fork(11).below(4) != 0;
        let is_honest = self.shared.plan.mode == Mode::Honest;
        for player in self.players.iter_mut().filter(|_| stops) {
            player.party().stop_listening(&mut self.shared);
        }
        self.pump();
        self.pass(Duration::from_secs(30));
        for player in &mut self.players {
            player.party().catch_up(&mut self.shared);
        }
        self.pass(Duration::from_secs(30));
        // Input is passed to one side only; the effects of calls settle after a while.
        for side in [1, 0] {
            let party = self.players[side].party();
            party.check_room_again(&mut self.shared, stops && is_honest);
            self.pump();
            self.pass(Duration::from_secs(30));
        }
    }

    fn is_open(&mut self) -> bool {
        self.players.iter_mut().any(|player| player.party().is_open())
    }

    /// Replays the history of each machine in other ways, in some worlds.
    fn replay(&mut self) {
        let plan = &self.shared.plan;
        let is_free = !plan.has(Feature::SmallOutbox) && !plan.has(Feature::TightPipes);
        if !self.case.seed.is_multiple_of(4) || !is_free {
            return;
        }
        let is_backward = plan.has(Feature::BackwardClock);
        for player in &self.players {
            match player {
                Player::Client(node) => {
                    replay::check(
                        || again(new_client(plan)),
                        &node.record,
                        &self.case,
                        is_backward,
                        &mut self.shared.coverage,
                    );
                }
                Player::Server(node) => {
                    replay::check(
                        || again(new_server(plan)),
                        &node.record,
                        &self.case,
                        is_backward,
                        &mut self.shared.coverage,
                    );
                }
                Player::Hostile(_) => {}
            }
        }
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
            let side = random.below(2);
            if let Some(action) = self.shared.plan.action(&mut random)
                && self.step(side, action, &mut random)
            {
                self.shared.coverage.mark(&format!("done {action:?}"));
            }
            self.pump();
            let pause = self.shared.plan.pause(&mut random);
            self.pass(pause);
        }
        self.settle();
        self.replay();
    }

    fn coverage(&self) -> &Coverage {
        &self.shared.coverage
    }

    fn taken(&self) -> usize {
        self.taken
    }

    fn timeline(&mut self) -> String {
        let mut timeline = format!("on: {:?}\n", self.shared.plan.on);
        for player in &mut self.players {
            timeline.push_str(&player.party().timeline());
        }
        timeline
    }
}

fn client(plan: &Plan) -> Checked<Stdio<Client>> {
    watched(plan, new_client(plan))
}

fn server(plan: &Plan) -> Checked<Stdio<Server>> {
    let server = watched(plan, new_server(plan));
    let is_modern = |revision: &Revision| revision.era() == Era::Modern;
    if plan.revisions[1].iter().any(is_modern) { server } else { server.legacy_only() }
}

/// With one id for many things, lines are delivered one by one.
fn watched<R: Role>(plan: &Plan, machine: R) -> Checked<R> {
    let machine = Checked::new(machine);
    if plan.mode == Mode::Honest { machine } else { machine.by_line() }
}

/// Creates an equal machine for input in any pieces: its output is known.
fn again<R: Role>(machine: R) -> Checked<R> {
    Checked::with_hostile_peer(machine)
}

fn new_client(plan: &Plan) -> Stdio<Client> {
    Stdio::new(Client::new(Instant::ZERO, plan.client.clone()))
}

fn new_server(plan: &Plan) -> Stdio<Server> {
    Stdio::new(Server::new(Instant::ZERO, plan.server.clone()))
}
